//! What the units of one variant add up to.
//!
//! Numbers are rounded once, to parts of 2⁻³² (2·10⁻¹⁰), when they come in; from there everything
//! is whole-number arithmetic. What a unit gave is taken out exactly when its totals change, so
//! ten million changes leave no more error than one, and any order gives the same bits.

use serde::{Deserialize, Serialize};

use super::sum::{Sum, parts};

/// What one unit has given so far. A row that the store keeps.
///
/// Numbers beyond a million (2²⁰) are cut there; those that are not finite count as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnitTotals {
    /// Sum of the metric over the turns that have one.
    pub value: f64,
    /// How many turns that were.
    pub count: f64,
    /// The metric's mean over the unit's turns before its exposure. Never changes afterwards.
    pub before: Option<f64>,
}

/// Sums over the units of one variant that have given anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    units: i64,
    value: Sum,
    count: Sum,
    value_value: Sum,
    value_count: Sum,
    count_count: Sum,
    known: Known,
}

/// The same over the units whose time before is known, with that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    units: i64,
    value: Sum,
    count: Sum,
    before: Sum,
    before_before: Sum,
    value_before: Sum,
    count_before: Sum,
}

impl Tally {
    /// One unit alone. Nothing when it has no turn that counts.
    pub fn of(totals: UnitTotals) -> Self {
        let (value, count) = (parts(totals.value), parts(totals.count));
        if count <= 0 {
            return Self::default();
        }
        let before = totals.before.filter(|before| before.is_finite()).map(parts);
        Self {
            units: 1,
            value: Sum::of(value),
            count: Sum::of(count),
            value_value: Sum::of(value * value),
            value_count: Sum::of(value * count),
            count_count: Sum::of(count * count),
            known: before.map(|before| Known::of(value, count, before)).unwrap_or_default(),
        }
    }

    /// Puts a unit's new totals in the place of its old ones.
    pub fn replace(&mut self, old: Option<UnitTotals>, new: Option<UnitTotals>) {
        if let Some(old) = old {
            self.take(&Self::of(old));
        }
        if let Some(new) = new {
            self.add(&Self::of(new));
        }
    }

    /// Adds other units.
    pub fn add(&mut self, other: &Self) {
        self.units = self.units.saturating_add(other.units);
        self.value.add(other.value);
        self.count.add(other.count);
        self.value_value.add(other.value_value);
        self.value_count.add(other.value_count);
        self.count_count.add(other.count_count);
        self.known.add(&other.known);
    }

    /// Takes out units that were added.
    pub fn take(&mut self, other: &Self) {
        self.units = self.units.saturating_sub(other.units);
        self.value.take(other.value);
        self.count.take(other.count);
        self.value_value.take(other.value_value);
        self.value_count.take(other.value_count);
        self.count_count.take(other.count_count);
        self.known.take(&other.known);
    }

    /// Units that have given anything.
    pub fn units(&self) -> u64 {
        u64::try_from(self.units).unwrap_or(0)
    }

    /// Those of them whose time before is known.
    pub fn known_units(&self) -> u64 {
        u64::try_from(self.known.units).unwrap_or(0)
    }

    /// Sum of values over sum of counts.
    pub(super) fn ratio(&self) -> Option<f64> {
        let count = self.count.single();
        (self.units > 0 && count > 0.0).then(|| self.value.single() / count)
    }

    /// Counts per unit.
    pub(super) fn count_each(&self) -> f64 {
        self.count.single() / self.units as f64
    }

    /// Σ(value − ratio·count)². Loses digits only where units differ by less than a millionth part.
    pub(super) fn scatter(&self, ratio: f64) -> f64 {
        let crossed = 2.0 * ratio * self.value_count.product();
        let squares = self.value_value.product() + ratio * ratio * self.count_count.product();
        (squares - crossed).max(0.0)
    }

    /// Sum of the time before, over the units where it is known.
    pub(super) fn before(&self) -> f64 {
        self.known.before.single()
    }

    /// Σ(before − centre)², a unit without a time before standing at the centre.
    pub(super) fn before_scatter(&self, centre: f64) -> f64 {
        let known = &self.known;
        let crossed = 2.0 * centre * known.before.single();
        let squares = known.before_before.product() + centre * centre * known.units as f64;
        (squares - crossed).max(0.0)
    }

    /// Σ(value − ratio·count)·(before − centre), likewise.
    pub(super) fn crossed(&self, ratio: f64, centre: f64) -> f64 {
        let known = &self.known;
        let with = known.value_before.product() - ratio * known.count_before.product();
        with - centre * (known.value.single() - ratio * known.count.single())
    }
}

impl Known {
    fn of(value: i128, count: i128, before: i128) -> Self {
        Self {
            units: 1,
            value: Sum::of(value),
            count: Sum::of(count),
            before: Sum::of(before),
            before_before: Sum::of(before * before),
            value_before: Sum::of(value * before),
            count_before: Sum::of(count * before),
        }
    }

    fn add(&mut self, other: &Self) {
        self.units = self.units.saturating_add(other.units);
        self.value.add(other.value);
        self.count.add(other.count);
        self.before.add(other.before);
        self.before_before.add(other.before_before);
        self.value_before.add(other.value_before);
        self.count_before.add(other.count_before);
    }

    fn take(&mut self, other: &Self) {
        self.units = self.units.saturating_sub(other.units);
        self.value.take(other.value);
        self.count.take(other.count);
        self.before.take(other.before);
        self.before_before.take(other.before_before);
        self.value_before.take(other.value_before);
        self.count_before.take(other.count_before);
    }
}
