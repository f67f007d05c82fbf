//! What the units of one variant say together, out of their sums.

use model::{Moments, UnitTotals};
use serde::{Deserialize, Serialize};

/// Sums over the units of one variant that have given anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tally {
    sums: Moments,
}

impl From<Moments> for Tally {
    fn from(sums: Moments) -> Self {
        Self { sums }
    }
}

impl Tally {
    /// Puts a unit's new totals in the place of its old ones.
    pub fn replace(&mut self, old: Option<UnitTotals>, new: Option<UnitTotals>) {
        if let Some(old) = old {
            self.sums = self.sums.minus(&Moments::from_totals(old));
        }
        if let Some(new) = new {
            self.sums = self.sums.plus(&Moments::from_totals(new));
        }
    }

    /// Adds other units.
    pub fn add(&mut self, other: &Self) {
        self.sums = self.sums.plus(&other.sums);
    }

    /// Units that have given anything.
    pub fn units(&self) -> u64 {
        u64::try_from(self.sums.units.parts()).unwrap_or(0)
    }

    /// Those of them whose time before is known.
    pub fn known_units(&self) -> u64 {
        u64::try_from(self.sums.known_units.parts()).unwrap_or(0)
    }

    /// Sum of values over sum of counts.
    pub(super) fn ratio(&self) -> Option<f64> {
        let count = self.sums.count.single();
        (self.units() > 0 && count > 0.0).then(|| self.sums.value.single() / count)
    }

    /// Counts per unit.
    pub(super) fn count_each(&self) -> f64 {
        self.sums.count.single() / self.units() as f64
    }

    /// Σ(value − ratio·count)². Loses digits only where units differ by less than a millionth part.
    pub(super) fn scatter(&self, ratio: f64) -> f64 {
        let sums = &self.sums;
        let crossed = 2.0 * ratio * sums.value_count.product();
        let squares = sums.value_value.product() + ratio * ratio * sums.count_count.product();
        (squares - crossed).max(0.0)
    }

    /// Sum of the time before, over the units where it is known.
    pub(super) fn before(&self) -> f64 {
        self.sums.before.single()
    }

    /// Σ(before − centre)², a unit without a time before standing at the centre.
    pub(super) fn before_scatter(&self, centre: f64) -> f64 {
        let crossed = 2.0 * centre * self.before();
        let known = self.known_units() as f64;
        let squares = self.sums.before_before.product() + centre * centre * known;
        (squares - crossed).max(0.0)
    }

    /// Σ(value − ratio·count)·(before − centre), likewise.
    pub(super) fn crossed(&self, ratio: f64, centre: f64) -> f64 {
        let sums = &self.sums;
        let with = sums.value_before.product() - ratio * sums.count_before.product();
        with - centre * (sums.known_value.single() - ratio * sums.known_count.single())
    }
}
