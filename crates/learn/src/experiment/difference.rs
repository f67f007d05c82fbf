//! The difference between a treatment and the control, over all strata.
//!
//! Within a stratum the shares do not change, so both arms saw the same days and the same people.
//! Strata are joined by weights that depend on numbers of units alone. A plain difference of means
//! over a whole rollout would instead compare Monday's control with Friday's treatment.

use model::Metric;

use super::cuped::Before;
use super::mean::Mean;
use super::confidence_sequence::{Sequence, TUNED_FOR};
use super::tally::Tally;

/// Treatment minus control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// The difference.
    pub estimate: f64,
    /// Its variance.
    pub variance: f64,
    /// The N of its confidence sequence.
    pub clock: f64,
    /// Units of the control, in strata with both.
    pub control_units: u64,
    /// Units of the treatment, in strata with both.
    pub treatment_units: u64,
}

/// One stratum with both arms.
struct Pair {
    weight: f64,
    estimate: f64,
    variance: f64,
    before: Before,
}

impl Compared {
    /// Pairs are (control, treatment), one for each stratum. `None` when no stratum has both.
    pub fn plain<'a>(
        strata: impl Iterator<Item = (&'a Tally, &'a Tally)>,
        metric: Metric,
    ) -> Option<Self> {
        Some(Self::both(strata, metric)?.0)
    }

    /// The plain difference, and the one that is corrected by the time before exposure; the latter
    /// only when enough units of both arms have one.
    pub fn both<'a>(
        strata: impl Iterator<Item = (&'a Tally, &'a Tally)>,
        metric: Metric,
    ) -> Option<(Self, Option<Self>)> {
        let (mut pairs, mut units, mut known) = (Vec::new(), [0, 0], [0, 0]);
        for (control, treatment) in strata {
            let Some(pair) = pair(control, treatment, metric) else { continue };
            pairs.push(pair);
            for (place, tally) in [control, treatment].into_iter().enumerate() {
                units[place] += tally.units();
                known[place] += tally.known_units();
            }
        }
        let enough = known.into_iter().all(|known| known >= super::LEAST_UNITS);
        let plain = join(&pairs, units, 0.0)?;
        let corrected = theta(&pairs).filter(|_| enough).and_then(|t| join(&pairs, units, t));
        Some((plain, corrected))
    }

    /// The interval of a sequence, and the smallest chance of error that excludes zero.
    pub fn interval(&self, sequence: &Sequence) -> ([f64; 2], f64) {
        let deviation = self.variance.sqrt();
        let reach = deviation * sequence.reach(self.clock);
        let interval = [self.estimate - reach, self.estimate + reach];
        let p = if deviation > 0.0 {
            sequence.p(self.estimate / deviation, self.clock)
        } else {
            // All units of each arm alike: no spread to measure the difference by.
            f64::from(u8::from(self.estimate == 0.0))
        };
        (interval, p)
    }
}

fn pair(control: &Tally, treatment: &Tally, metric: Metric) -> Option<Pair> {
    let (a, b) = (Mean::of(control, metric)?, Mean::of(treatment, metric)?);
    Some(Pair {
        weight: 2.0 * a.units * b.units / (a.units + b.units),
        estimate: b.mean - a.mean,
        variance: a.variance + b.variance,
        before: Before::of((control, &a), (treatment, &b)),
    })
}

/// Which part of a difference before exposure to expect in the metric; `None` when there is none.
fn theta(pairs: &[Pair]) -> Option<f64> {
    let squared = |pair: &Pair| pair.weight * pair.weight;
    let covariance: f64 = pairs.iter().map(|pair| squared(pair) * pair.before.covariance).sum();
    let variance: f64 = pairs.iter().map(|pair| squared(pair) * pair.before.variance).sum();
    (variance > 0.0).then(|| covariance / variance).filter(|theta| theta.is_finite())
}

fn join(pairs: &[Pair], units: [u64; 2], theta: f64) -> Option<Compared> {
    let clock: f64 = pairs.iter().map(|pair| pair.weight).sum();
    if clock <= 0.0 {
        return None;
    }
    let (mut estimate, mut variance) = (0.0, 0.0);
    for Pair { weight, estimate: plain, variance: spread, before } in pairs {
        let part = weight / clock;
        let explained = theta * (2.0 * before.covariance - theta * before.variance);
        estimate += part * (plain - theta * before.difference);
        variance += part * part * (spread - explained).max(0.0);
    }
    let [control_units, treatment_units] = units;
    Some(Compared { estimate, variance, clock, control_units, treatment_units })
}

/// The difference of two means where shares followed the outcomes: an interval for each arm at half
/// the error, which holds under any way of sharing out, and both added up.
pub(super) fn arms_apart(control: &Mean, treatment: &Mean, alpha: f64) -> ([f64; 2], f64) {
    let estimate = treatment.mean - control.mean;
    let sequence = Sequence::new(0.5 * alpha, TUNED_FOR);
    let reach_at = |error: f64| {
        let each = sequence.at(0.5 * error);
        let reach = |arm: &Mean| arm.deviation() * each.reach(arm.units);
        reach(control) + reach(treatment)
    };
    let reach = reach_at(alpha);
    let p = smallest_error(|error| estimate.abs() > reach_at(error));
    ([estimate - reach, estimate + reach], p)
}

/// By halving on the scale of logarithms: what is excluded at an error is so at any larger one.
fn smallest_error(excludes: impl Fn(f64) -> bool) -> f64 {
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
