//! Quality metrics, targets and alerts.

use std::collections::BTreeMap;

use engine::report::{Figure, Reading, Target};
use engine::{QualityBucket, StoredAlert, Targets};
use model::{Body, Finding, Tenant, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A rate with its numerator and denominator.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct RateBody {
    /// Null when the denominator is 0.
    value: Option<f64>,
    numerator: Option<f64>,
    denominator: u64,
    /// 95% confidence interval.
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
    /// True when the value meets its target; null without a target or a value.
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

/// Quality metrics of a period.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QualityBody {
    pub(crate) tenant: String,
    pub(crate) project: Option<String>,
    pub(crate) start: String,
    pub(crate) end: String,
    pub(crate) bucket: &'static str,
    /// The time by which satisfaction counts a reaction: `turn` or `reaction`.
    pub(crate) by: &'static str,
    pub(crate) turns: i64,
    pub(crate) metrics: BTreeMap<&'static str, MetricBody>,
}

/// Every metric, in total and per bucket.
pub(crate) fn metrics_by_name(
    buckets: &[QualityBucket],
    target: impl Fn(Figure) -> Option<Target>,
) -> BTreeMap<&'static str, MetricBody> {
    let all = engine::report::sum_buckets(buckets);
    let body = |figure: &Figure| {
        let found = figure.compute(&all);
        let target = target(*figure);
        let point = |bucket: &QualityBucket| {
            let found = figure.compute(bucket);
            PointBody {
                start: format_hour(bucket.hour),
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
    Figure::ALL_FIGURES.iter().map(body).collect()
}

/// Formats an hour since the epoch as a timestamp.
fn format_hour(hour: i64) -> String {
    Timestamp::from_micros(hour * 3_600_000_000).to_string()
}

pub(crate) fn target_json(target: Target) -> Value {
    match target {
        Target::Min(min) => json!({ "min": min }),
        Target::Max(max) => json!({ "max": max }),
    }
}

/// Body of `PUT /api/v1/tenants/{tenant}/targets`. Besides these fields, it takes any quality metric
/// by its name, with `min` or `max`, or null for no target.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only for the OpenAPI schema; the engine parses the settings")]
pub(crate) struct TargetsRequest {
    /// Share of positive reactions.
    #[schema(value_type = Option<Object>)]
    satisfaction: Option<Value>,
    /// Length of the evaluated window in hours, default 24.
    window_hours: Option<u32>,
    /// Minimum denominator of a metric to raise an alert, default 5.
    min_count: Option<u64>,
    webhook: Option<WebhookBody>,
}

/// Webhook that receives alerts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookBody {
    url: String,
    /// Signing secret. The X-Uptake-Signature header has `t`, the time in seconds, and `v1`, the
    /// HMAC-SHA256 of "t.body".
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

/// Targets of a tenant.
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
    pub(crate) fn new(tenant: &Tenant, targets: &Targets, secret: impl FnOnce() -> String) -> Self {
        let one =
            |figure: &Figure| Some((figure.as_word(), target_json(targets.target_for(*figure)?)));
        Self {
            tenant: tenant.to_string(),
            targets: Figure::ALL_FIGURES.iter().filter_map(one).collect(),
            window_hours: targets.window_hours,
            min_count: targets.min_count,
            webhook: targets.webhook.clone().map(|url| WebhookBody { url, secret: Some(secret()) }),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct AlertsQuery {
    pub(crate) project: Option<String>,
    pub(crate) limit: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AlertsBody {
    pub(crate) alerts: Vec<AlertBody>,
}

/// A metric that misses or missed its target.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AlertBody {
    project: String,
    metric: String,
    /// `raised` or `cleared`.
    status: &'static str,
    raised_at: Option<String>,
    cleared_at: Option<String>,
    /// Value when the alert was raised.
    value: Option<f64>,
    denominator: Option<u64>,
    interval: Option<[f64; 2]>,
    #[schema(value_type = Object)]
    target: Value,
    window_hours: Option<u64>,
    /// Event that raised the alert.
    event_id: Option<String>,
    /// Delivery status of the webhook.
    #[schema(value_type = Option<Object>)]
    webhook: Option<Value>,
}

impl AlertBody {
    pub(crate) fn new(alert: &StoredAlert) -> Self {
        let raised = alert.raised.as_ref();
        let found = raised.and_then(|stored| {
            let Body::Finding(Finding::Alert(found)) = &stored.event.body else { return None };
            Some(found)
        });
        let target = found.and_then(|found| match (found.min, found.max) {
            (Some(min), _) => Some(json!({"min": min})),
            (None, Some(max)) => Some(json!({"max": max})),
            (None, None) => None,
        });
        let delivery = alert.told.as_ref().map(|told| {
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
            value: found.and_then(|found| found.value),
            denominator: found.map(|found| found.denominator),
            interval: found.and_then(|found| found.interval).map(|(low, high)| [low, high]),
            target: target.unwrap_or_default(),
            window_hours: found.map(|found| u64::from(found.window_hours)),
            event_id: raised.map(|stored| stored.event.id.to_string()),
            webhook: delivery,
        }
    }
}
