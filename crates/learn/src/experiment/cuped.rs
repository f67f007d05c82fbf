//! Variance reduction: what a unit did before its exposure explains a part of what it does after.
//!
//! The difference is corrected by θ times the difference of the arms' means before exposure, which is
//! zero but for chance. Units without a time before take the mean of those that have one, so they
//! neither help nor harm. θ is the one that leaves the least variance, over all strata.

use super::mean::Mean;
use super::tally::Tally;

/// What the time before says about one pair of arms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Before {
    /// Difference of the means before exposure.
    pub(super) difference: f64,
    /// Its variance.
    pub(super) variance: f64,
    /// Its covariance with the difference of the metric.
    pub(super) covariance: f64,
}

impl Before {
    /// Nothing when nobody's time before is known.
    pub(super) fn of(control: (&Tally, &Mean), treatment: (&Tally, &Mean)) -> Self {
        let known = control.0.known_units() + treatment.0.known_units();
        if known == 0 {
            return Self::default();
        }
        let centre = (control.0.before() + treatment.0.before()) / known as f64;
        let (control, treatment) = (arm(control, centre), arm(treatment, centre));
        Self {
            difference: treatment.difference - control.difference,
            variance: treatment.variance + control.variance,
            covariance: treatment.covariance + control.covariance,
        }
    }
}

/// Of one arm: the mean before from the centre, its variance, its covariance with the metric's mean.
fn arm((tally, mean): (&Tally, &Mean), centre: f64) -> Before {
    let units = mean.units;
    let off = (tally.before() - centre * tally.known_units() as f64) / units;
    let scatter = (tally.before_scatter(centre) - units * off * off).max(0.0);
    let crossed = tally.crossed(mean.mean, centre) / tally.count_each();
    let scale = (units - 1.0) * units;
    Before { difference: off, variance: scatter / scale, covariance: crossed / scale }
}
