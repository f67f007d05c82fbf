//! Metric sums over the units of one variant, and the mean with its standard error.

use model::{Metric, Moments};
use serde::{Deserialize, Serialize};

/// Sums over the observed units of one variant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MetricTally {
    pub(super) sums: Moments,
}

impl MetricTally {
    pub(super) fn add_moments(&mut self, moments: &Moments) {
        self.sums = self.sums.plus(moments);
    }

    pub fn units(&self) -> u64 {
        u64::try_from(self.sums.units.parts()).unwrap_or(0)
    }

    /// Observed units with pre-exposure data.
    pub fn known_units(&self) -> u64 {
        u64::try_from(self.sums.known_units.parts()).unwrap_or(0)
    }

    /// Sum of values over sum of counts.
    pub(super) fn mean_ratio(&self) -> Option<f64> {
        let count = self.sums.count.single();
        (self.units() > 0 && count > 0.0).then(|| self.sums.value.single() / count)
    }

    pub(super) fn counts_per_unit(&self) -> f64 {
        self.sums.count.single() / self.units() as f64
    }

    /// Σ(value − ratio·count)². Loses precision only when units differ by less than 1e-6.
    pub(super) fn residual_squares(&self, ratio: f64) -> f64 {
        let sums = &self.sums;
        let crossed = 2.0 * ratio * sums.value_count.product();
        let squares = sums.value_value.product() + ratio * ratio * sums.count_count.product();
        (squares - crossed).max(0.0)
    }

    /// Pre-exposure sum over the units that have it.
    pub(super) fn before_sum(&self) -> f64 {
        self.sums.before.single()
    }

    /// Σ(before − centre)²; units without pre-exposure data contribute zero.
    pub(super) fn before_squares(&self, centre: f64) -> f64 {
        let crossed = 2.0 * centre * self.before_sum();
        let known = self.known_units() as f64;
        let squares = self.sums.before_before.product() + centre * centre * known;
        (squares - crossed).max(0.0)
    }

    /// Σ(value − ratio·count)·(before − centre), over the same units.
    pub(super) fn before_cross_sum(&self, ratio: f64, centre: f64) -> f64 {
        let sums = &self.sums;
        let with = sums.value_before.product() - ratio * sums.count_before.product();
        with - centre * (sums.known_value.single() - ratio * sums.known_count.single())
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanEstimate {
    /// Sum of values over sum of counts.
    pub mean: f64,
    /// Variance across units by the delta method, because turns of one unit are not independent.
    pub variance: f64,
    pub units: f64,
}

impl MeanEstimate {
    /// Returns `None` with fewer than two units.
    ///
    /// For proportions the variance (never the mean) includes two pseudo-units, at 0 and at 1.
    /// Without them a hundred turns without an error would have zero variance.
    pub fn from_tally(tally: &MetricTally, metric: Metric) -> Option<Self> {
        let mean = tally.mean_ratio()?;
        let units = tally.units() as f64;
        if units < 2.0 {
            return None;
        }
        let each = tally.counts_per_unit();
        let assumed = if metric.is_share() { mean.powi(2) + (1.0 - mean).powi(2) } else { 0.0 };
        let spread = (tally.residual_squares(mean) + assumed) / (each * each);
        Some(Self { mean, variance: spread / (units - 1.0) / units, units })
    }

    pub fn standard_error(&self) -> f64 {
        self.variance.sqrt()
    }
}
