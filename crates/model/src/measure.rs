//! Metrics of experiments and the sums stored for each.

mod metric;
mod moments;
mod sum;

use serde::Deserialize;
use serde_json::Value;

pub use metric::{Direction, Metric, MetricBy};
pub use moments::{Moments, UnitTotals};
pub use sum::PartSum;

/// A metric with stored sums over units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    pub metric: Metric,
    /// The denominator of its mean.
    pub by: MetricBy,
}

/// The metric fields of a definition.
#[derive(Deserialize)]
struct MetricFields {
    metric: Metric,
    #[serde(default)]
    by: MetricBy,
    #[serde(default)]
    guardrails: Vec<GuardrailFields>,
}

#[derive(Deserialize)]
struct GuardrailFields {
    metric: Metric,
}

impl Measure {
    /// The experiment's metric followed by its guardrails, which are always per turn. Empty for an
    /// invalid definition.
    pub fn parse_all(definition: &Value) -> Vec<Self> {
        let Ok(asked) = MetricFields::deserialize(definition) else { return Vec::new() };
        let own = Self { metric: asked.metric, by: asked.by };
        let guarded = asked.guardrails.into_iter();
        let guarded = guarded.map(|one| Self { metric: one.metric, by: MetricBy::Turn });
        std::iter::once(own).chain(guarded).collect()
    }
}
