//! Counters of an entity, or of an entity for one cluster of queries.

use model::{BANDS, Delta, RankBand};
use serde::{Deserialize, Serialize};

/// Counters, exact: what the store adds up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Queries whose answer used it.
    pub used: u64,
    /// Queries whose answer did not.
    pub ignored: u64,
    /// Queries for which it was found helpful.
    pub positive: u64,
    /// Queries for which it was found unhelpful.
    pub negative: u64,
    /// Returns by the band of the rank at which it stood; they add up to `used + ignored`.
    pub returned: [u64; BANDS],
}

impl Tally {
    /// Adds a change; the item stood in `band` for that query. A counter never falls below zero.
    pub fn add(&mut self, delta: Delta, band: RankBand) {
        let add = |counter: &mut u64, change: i64| *counter = counter.saturating_add_signed(change);
        add(&mut self.used, delta.used);
        add(&mut self.ignored, delta.ignored);
        add(&mut self.positive, delta.positive);
        add(&mut self.negative, delta.negative);
        let (place, change) = delta.in_band(band);
        add(&mut self.returned[place], change);
    }

    /// Distinct queries that returned it with a known outcome.
    pub fn total_returns(&self) -> u64 {
        self.used.saturating_add(self.ignored)
    }

    /// The same counters as the estimators read them.
    pub fn counts(&self) -> Counts {
        Counts {
            used: self.used as f64,
            ignored: self.ignored as f64,
            positive: self.positive as f64,
            negative: self.negative as f64,
            returned: self.returned.map(|n| n as f64),
        }
    }
}

/// Counters as the estimators read them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Queries whose answer used it.
    pub used: f64,
    /// Queries whose answer did not.
    pub ignored: f64,
    /// Queries for which it was found helpful.
    pub positive: f64,
    /// Queries for which it was found unhelpful.
    pub negative: f64,
    /// Returns by the band of the rank.
    pub returned: [f64; BANDS],
}

impl Counts {
    /// Queries that returned it with a known outcome.
    pub fn total_returns(&self) -> f64 {
        self.used + self.ignored
    }
}
