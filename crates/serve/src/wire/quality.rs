//! Figures of quality on the wire.

use event::Timestamp;
use flow::QualityBucket;
use report::{Figure, Reading, Target};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
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
    let all = report::total(buckets);
    let body = |figure: &Figure| {
        let found = figure.read(&all);
        let target = target(*figure);
        let point = |bucket: &QualityBucket| {
            let found = figure.read(bucket);
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
