//! Mean of a metric with its standard error.

use model::Metric;

use super::tally::MetricTally;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanEstimate {
    /// Sum of values over sum of counts.
    pub mean: f64,
    /// Variance across units by the delta method, because turns of one unit are not independent.
    pub variance: f64,
    /// Observed units.
    pub units: f64,
}

impl MeanEstimate {
    /// Returns `None` with fewer than two units.
    ///
    /// For proportions the variance (never the mean) includes two pseudo-units, one at 0 and one at
    /// 1. Otherwise a hundred turns without an error would have zero variance, and the interval
    /// would exclude any error.
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
