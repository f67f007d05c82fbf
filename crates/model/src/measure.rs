//! How an experiment's units are measured: by which metrics, and the sums that are kept of each.

mod metric;
mod moments;
mod sum;

use serde::Deserialize;
use serde_json::Value;

pub use metric::{Direction, Metric, MetricBy};
pub use moments::{Moments, UnitTotals};
pub use sum::PartSum;

/// A metric whose sums over units are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Which.
    pub metric: Metric,
    /// What its mean is taken over.
    pub by: MetricBy,
}

/// What a definition says of them; the rest of it is nobody's business here.
#[derive(Deserialize)]
struct Asked {
    metric: Metric,
    #[serde(default)]
    by: MetricBy,
    #[serde(default)]
    guardrails: Vec<Guarded>,
}

#[derive(Deserialize)]
struct Guarded {
    metric: Metric,
}

impl Measure {
    /// The experiment's own metric and then its guardrails', which are always by turn. None when the
    /// definition makes no sense.
    pub fn all_of(definition: &Value) -> Vec<Self> {
        let Ok(asked) = Asked::deserialize(definition) else { return Vec::new() };
        let own = Self { metric: asked.metric, by: asked.by };
        let guarded = asked.guardrails.into_iter();
        let guarded = guarded.map(|one| Self { metric: one.metric, by: MetricBy::Turn });
        std::iter::once(own).chain(guarded).collect()
    }
}
