//! Figures of quality on the wire.

use std::collections::BTreeMap;

use engine::{QualityBucket, StoredAlert, Targets};
use model::{Tenant, Timestamp};
use report::{Figure, Reading, Target};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A share of something, with what it is made of.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct RateBody {
    /// Null when there is nothing to divide by.
    value: Option<f64>,
    numerator: Option<f64>,
    denominator: u64,
    /// Where it lies with 95% certainty.
    interval: Option<[f64; 2]>,
}

impl From<Reading> for RateBody {
    fn from(found: Reading) -> Self {
        Self {
            value: found.value(),
            numerator: found.numerator(),
            denominator: found.denominator(),
            interval: found.interval().map(|(low, high)| [low, high]),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MetricBody {
    #[serde(flatten)]
    rate: RateBody,
    #[schema(value_type = Option<Object>)]
    target: Option<Value>,
    /// Whether the value is where it should be; null without a target or a value.
    met: Option<bool>,
    series: Vec<PointBody>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PointBody {
    start: String,
    value: Option<f64>,
    numerator: Option<f64>,
    denominator: u64,
}

/// How good the answers are.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QualityBody {
    pub(crate) tenant: String,
    pub(crate) project: Option<String>,
    pub(crate) start: String,
    pub(crate) end: String,
    pub(crate) bucket: &'static str,
    pub(crate) turns: i64,
    pub(crate) metrics: BTreeMap<&'static str, MetricBody>,
}

/// Every figure, altogether and stretch by stretch.
pub(crate) fn metrics(
    buckets: &[QualityBucket],
    target: impl Fn(Figure) -> Option<Target>,
) -> BTreeMap<&'static str, MetricBody> {
    let all = report::sum_buckets(buckets);
    let body = |figure: &Figure| {
        let found = figure.compute(&all);
        let target = target(*figure);
        let point = |bucket: &QualityBucket| {
            let found = figure.compute(bucket);
            PointBody {
                start: moment(bucket.hour),
                value: found.value(),
                numerator: found.numerator(),
                denominator: found.denominator(),
            }
        };
        let body = MetricBody {
            rate: found.into(),
            target: target.map(target_json),
            met: target.zip(found.value()).map(|(target, value)| target.is_met(value)),
            series: buckets.iter().map(point).collect(),
        };
        (figure.as_word(), body)
    };
    Figure::ALL.iter().map(body).collect()
}

/// The moment an hour begins.
fn moment(hour: i64) -> String {
    Timestamp::from_micros(hour * 3_600_000_000).to_string()
}

/// As it is set.
pub(crate) fn target_json(target: Target) -> Value {
    match target {
        Target::Min(least) => json!({"min": least}),
        Target::Max(most) => json!({"max": most}),
    }
}

/// `PUT /api/v1/tenants/{tenant}/targets`: besides these, any figure of quality by its name, with `min` or
/// `max`, or null for none.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the shape is for the reference; the engine reads the settings")]
pub(crate) struct TargetsRequest {
    /// Good reactions of all.
    #[schema(value_type = Option<Object>)]
    satisfaction: Option<Value>,
    /// How far back is counted; 24 when absent.
    window_hours: Option<u32>,
    /// Of how many a figure must be made to raise an alert; 5 when absent.
    min_count: Option<u64>,
    webhook: Option<WebhookBody>,
}

/// Who is told.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookBody {
    url: String,
    /// Signs what is sent: X-Uptake-Signature has t, a second, and v1, the SHA-256 HMAC of "t.body".
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

/// Where figures should be.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TargetsBody {
    tenant: String,
    #[schema(value_type = Object)]
    targets: BTreeMap<&'static str, Value>,
    window_hours: u32,
    min_count: u64,
    webhook: Option<WebhookBody>,
}

impl TargetsBody {
    pub(crate) fn of(tenant: &Tenant, targets: &Targets, secret: impl FnOnce() -> String) -> Self {
        let one =
            |figure: &Figure| Some((figure.as_word(), target_json(targets.target_for(*figure)?)));
        Self {
            tenant: tenant.to_string(),
            targets: Figure::ALL.iter().filter_map(one).collect(),
            window_hours: targets.window_hours,
            min_count: targets.min_count,
            webhook: targets.webhook.clone().map(|url| WebhookBody { url, secret: Some(secret()) }),
        }
    }
}

/// The parameters of `GET /api/v1/alerts`.
#[derive(Debug, Deserialize)]
pub(crate) struct AlertsQuery {
    pub(crate) project: Option<String>,
    pub(crate) limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AlertsBody {
    pub(crate) alerts: Vec<AlertBody>,
}

/// A figure that is or was on the wrong side.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AlertBody {
    project: String,
    metric: String,
    /// raised or cleared.
    status: &'static str,
    raised_at: Option<String>,
    cleared_at: Option<String>,
    /// What it was when it was raised.
    value: Option<f64>,
    denominator: Option<u64>,
    interval: Option<[f64; 2]>,
    #[schema(value_type = Object)]
    target: Value,
    window_hours: Option<u64>,
    /// The event that says so.
    event_id: Option<String>,
    /// How telling the webhook went.
    #[schema(value_type = Option<Object>)]
    webhook: Option<Value>,
}

impl AlertBody {
    pub(crate) fn of(alert: &StoredAlert) -> Self {
        let raised = alert.raised.as_ref();
        let field = |name: &str| raised.and_then(|stored| stored.event.data.get(name));
        let target = ["min", "max"]
            .into_iter()
            .find_map(|side| field(side).map(|bound| json!({ side: bound })));
        let told = alert.told.as_ref().map(|told| {
            json!({
                "delivered": told.error.is_none(),
                "attempts": told.attempts,
                "error": told.error,
                "next_try_at": told.next_at.map(|at| at.to_string()),
            })
        });
        Self {
            project: alert.scope.project.to_string(),
            metric: alert.metric.clone(),
            status: if alert.cleared.is_some() { "cleared" } else { "raised" },
            raised_at: raised.map(|stored| stored.event.ts.to_string()),
            cleared_at: alert.cleared.as_ref().map(|stored| stored.event.ts.to_string()),
            value: field("value").and_then(Value::as_f64),
            denominator: field("denominator").and_then(Value::as_u64),
            interval: field("interval")
                .and_then(|pair| Some([pair.get(0)?.as_f64()?, pair.get(1)?.as_f64()?])),
            target: target.unwrap_or_default(),
            window_hours: field("window_hours").and_then(Value::as_u64),
            event_id: raised.map(|stored| stored.event.id.to_string()),
            webhook: told,
        }
    }
}
