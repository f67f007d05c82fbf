//! Stratified difference between a treatment and the control.
//!
//! Shares are constant within a stratum, so both arms cover the same days and users. Strata are
//! pooled with weights that depend on unit counts only. A plain difference of means over a rollout
//! would compare Monday's control with Friday's treatment.
//!
//! CUPED variance reduction: the difference is corrected by θ times the arms' pre-exposure
//! difference, whose expectation is zero. Units without pre-exposure data take the mean of the
//! others and have no effect. θ minimises the variance over all strata.

use model::Metric;

use super::tally::{MeanEstimate, MetricTally};
use crate::confidence_sequence::{ConfidenceSequence, TUNED_FOR_UNITS};

/// Treatment minus control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmDifference {
    pub estimate: f64,
    pub variance: f64,
    /// N of the confidence sequence.
    pub clock: f64,
    /// Counts only strata with both arms.
    pub control_units: u64,
    pub treatment_units: u64,
}

struct StratumPair {
    weight: f64,
    estimate: f64,
    variance: f64,
    before: PreExposure,
}

impl ArmDifference {
    /// The plain difference, and the CUPED-corrected one given enough pre-exposure data. Takes
    /// (control, treatment) pairs per stratum; `None` when no stratum has both.
    pub fn compute_both<'a>(
        strata: impl Iterator<Item = (&'a MetricTally, &'a MetricTally)>,
        metric: Metric,
    ) -> Option<(Self, Option<Self>)> {
        let (mut pairs, mut units, mut known) = (Vec::new(), [0, 0], [0, 0]);
        for (control, treatment) in strata {
            let Some(pair) = compare_stratum(control, treatment, metric) else { continue };
            pairs.push(pair);
            for (place, tally) in [control, treatment].into_iter().enumerate() {
                units[place] += tally.units();
                known[place] += tally.known_units();
            }
        }
        let enough = known.into_iter().all(|known| known >= super::MIN_UNITS);
        let plain = pool_strata(&pairs, units, 0.0)?;
        let corrected =
            cuped_theta(&pairs).filter(|_| enough).and_then(|t| pool_strata(&pairs, units, t));
        Some((plain, corrected))
    }

    /// The confidence interval and the smallest alpha that excludes zero.
    pub fn confidence_interval(&self, sequence: &ConfidenceSequence) -> ([f64; 2], f64) {
        let deviation = self.variance.sqrt();
        let reach = deviation * sequence.half_width(self.clock);
        let interval = [self.estimate - reach, self.estimate + reach];
        let p = if deviation > 0.0 {
            sequence.p_value(self.estimate / deviation, self.clock)
        } else {
            // No variance within the arms: the p-value is 0 or 1.
            f64::from(u8::from(self.estimate == 0.0))
        };
        (interval, p)
    }
}

fn compare_stratum(
    control: &MetricTally,
    treatment: &MetricTally,
    metric: Metric,
) -> Option<StratumPair> {
    let a = MeanEstimate::from_tally(control, metric)?;
    let b = MeanEstimate::from_tally(treatment, metric)?;
    Some(StratumPair {
        weight: 2.0 * a.units * b.units / (a.units + b.units),
        estimate: b.mean - a.mean,
        variance: a.variance + b.variance,
        before: PreExposure::from_arms((control, &a), (treatment, &b)),
    })
}

/// Pre-exposure moments of one pair of arms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct PreExposure {
    difference: f64,
    variance: f64,
    /// Covariance with the difference of the metric.
    covariance: f64,
}

impl PreExposure {
    /// All zero without pre-exposure data.
    fn from_arms(
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

fn arm_moments((tally, mean): (&MetricTally, &MeanEstimate), centre: f64) -> PreExposure {
    let units = mean.units;
    let off = (tally.before_sum() - centre * tally.known_units() as f64) / units;
    let scatter = (tally.before_squares(centre) - units * off * off).max(0.0);
    let crossed = tally.before_cross_sum(mean.mean, centre) / tally.counts_per_unit();
    let scale = (units - 1.0) * units;
    PreExposure { difference: off, variance: scatter / scale, covariance: crossed / scale }
}

/// The variance-minimising CUPED coefficient; `None` without pre-exposure variance.
fn cuped_theta(pairs: &[StratumPair]) -> Option<f64> {
    let squared = |pair: &StratumPair| pair.weight * pair.weight;
    let covariance: f64 = pairs.iter().map(|pair| squared(pair) * pair.before.covariance).sum();
    let variance: f64 = pairs.iter().map(|pair| squared(pair) * pair.before.variance).sum();
    (variance > 0.0).then(|| covariance / variance).filter(|theta| theta.is_finite())
}

fn pool_strata(pairs: &[StratumPair], units: [u64; 2], theta: f64) -> Option<ArmDifference> {
    let clock: f64 = pairs.iter().map(|pair| pair.weight).sum();
    if clock <= 0.0 {
        return None;
    }
    let (mut estimate, mut variance) = (0.0, 0.0);
    for StratumPair { weight, estimate: plain, variance: spread, before } in pairs {
        let part = weight / clock;
        let explained = theta * (2.0 * before.covariance - theta * before.variance);
        estimate += part * (plain - theta * before.difference);
        variance += part * part * (spread - explained).max(0.0);
    }
    let [control_units, treatment_units] = units;
    Some(ArmDifference { estimate, variance, clock, control_units, treatment_units })
}

/// Sum of one interval per arm at half of alpha. Valid under any allocation.
pub(super) fn separate_arm_interval(
    control: &MeanEstimate,
    treatment: &MeanEstimate,
    alpha: f64,
) -> ([f64; 2], f64) {
    let estimate = treatment.mean - control.mean;
    let sequence = ConfidenceSequence::new(0.5 * alpha, TUNED_FOR_UNITS);
    let reach_at = |error: f64| {
        let each = sequence.with_alpha(0.5 * error);
        let reach = |arm: &MeanEstimate| arm.standard_error() * each.half_width(arm.units);
        reach(control) + reach(treatment)
    };
    let reach = reach_at(alpha);
    let p = find_smallest_alpha(|error| estimate.abs() > reach_at(error));
    ([estimate - reach, estimate + reach], p)
}

/// Bisection on a log scale; exclusion is monotone in alpha.
fn find_smallest_alpha(excludes: impl Fn(f64) -> bool) -> f64 {
    let (mut kept, mut excluded) = (-700.0_f64, 0.0_f64);
    if !excludes(1.0) {
        return 1.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (kept + excluded);
        if excludes(middle.exp()) {
            excluded = middle;
        } else {
            kept = middle;
        }
    }
    excluded.exp()
}
