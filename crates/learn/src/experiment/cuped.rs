//! CUPED variance reduction: behaviour before exposure explains part of the metric.
//!
//! The difference is corrected by θ times the arms' pre-exposure difference, whose expectation is
//! zero. Units without pre-exposure data take the mean of the others and have no effect. θ
//! minimises the variance over all strata.

use super::mean::MeanEstimate;
use super::tally::MetricTally;

/// Pre-exposure moments of one pair of arms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PreExposure {
    pub(super) difference: f64,
    pub(super) variance: f64,
    /// Covariance with the difference of the metric.
    pub(super) covariance: f64,
}

impl PreExposure {
    /// All zero without pre-exposure data.
    pub(super) fn from_arms(
        control: (&MetricTally, &MeanEstimate),
        treatment: (&MetricTally, &MeanEstimate),
    ) -> Self {
        let known = control.0.known_units() + treatment.0.known_units();
        if known == 0 {
            return Self::default();
        }
        let centre = (control.0.before_sum() + treatment.0.before_sum()) / known as f64;
        let (control, treatment) = (arm_moments(control, centre), arm_moments(treatment, centre));
        Self {
            difference: treatment.difference - control.difference,
            variance: treatment.variance + control.variance,
            covariance: treatment.covariance + control.covariance,
        }
    }
}

/// Moments of one arm relative to `centre`.
fn arm_moments((tally, mean): (&MetricTally, &MeanEstimate), centre: f64) -> PreExposure {
    let units = mean.units;
    let off = (tally.before_sum() - centre * tally.known_units() as f64) / units;
    let scatter = (tally.before_squares(centre) - units * off * off).max(0.0);
    let crossed = tally.before_cross_sum(mean.mean, centre) / tally.counts_per_unit();
    let scale = (units - 1.0) * units;
    PreExposure { difference: off, variance: scatter / scale, covariance: crossed / scale }
}
