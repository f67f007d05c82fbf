//! Relevance counters of an entity, overall or within a query cluster.

use model::{BANDS, Delta, RankBand};
use serde::{Deserialize, Serialize};

/// Exact counters, as the store adds them up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemTally {
    /// Queries whose answer used the item.
    pub used: u64,
    /// Queries whose answer ignored the item.
    pub ignored: u64,
    /// Queries with helpful marks.
    pub positive: u64,
    /// Queries with unhelpful marks.
    pub negative: u64,
    /// Returns per rank band; they sum to `used + ignored`.
    pub returned: [u64; BANDS],
}

impl ItemTally {
    /// Adds a change for a query that returned the item in `band`. Counters saturate at zero.
    pub fn add_delta(&mut self, delta: Delta, band: RankBand) {
        let add = |counter: &mut u64, change: i64| *counter = counter.saturating_add_signed(change);
        add(&mut self.used, delta.used);
        add(&mut self.ignored, delta.ignored);
        add(&mut self.positive, delta.positive);
        add(&mut self.negative, delta.negative);
        let (place, change) = delta.in_band(band);
        add(&mut self.returned[place], change);
    }

    /// Distinct queries that returned the item with a known outcome.
    pub fn total_returns(&self) -> u64 {
        self.used.saturating_add(self.ignored)
    }

    pub fn to_counts(&self) -> ItemCounts {
        ItemCounts {
            used: self.used as f64,
            ignored: self.ignored as f64,
            positive: self.positive as f64,
            negative: self.negative as f64,
            returned: self.returned.map(|n| n as f64),
        }
    }
}

/// Counters as input of the estimators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ItemCounts {
    pub used: f64,
    pub ignored: f64,
    pub positive: f64,
    pub negative: f64,
    pub returned: [f64; BANDS],
}

impl ItemCounts {
    pub fn total_returns(&self) -> f64 {
        self.used + self.ignored
    }
}
