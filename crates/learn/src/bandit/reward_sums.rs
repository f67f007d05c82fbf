//! An arm's plain sums, in whole parts, so that the order of adding does not matter.

use crate::reward::Observation;

/// Parts of one.
const PARTS: f64 = (1u64 << 32) as f64;
/// How much a prior that somebody gave counts, in observations of weight one.
const GIVEN: f64 = 4.0;
/// The same for the one that nobody gave.
const ASSUMED: f64 = 2.0;
/// The reward to expect when nobody said anything.
const ASSUMED_QUALITY: f64 = 0.5;

/// Weighted rewards and weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) good: i128,
    pub(super) all: i128,
}

fn parts(value: f64) -> i128 {
    (value * PARTS).round() as i128
}

fn whole(parts: i128) -> f64 {
    // The same number either way; the short one is several times as quick.
    i64::try_from(parts).map_or(parts as f64, |parts| parts as f64) / PARTS
}

impl Sums {
    /// What one observation adds when so much of it is left.
    pub(super) fn of(observation: Observation, left: f64) -> Self {
        let weight = observation.weight() * left;
        Self { good: parts(weight * observation.reward()), all: parts(weight) }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.good += other.good;
        self.all += other.all;
    }

    pub(super) fn take(&mut self, other: Self) {
        self.good -= other.good;
        self.all -= other.all;
    }

    /// Fading rounds, so what is taken out later may be a part more than what is left.
    pub(super) fn fade(&mut self, left: f64) {
        if left < 1.0 {
            self.good = parts(whole(self.good) * left);
            self.all = parts(whole(self.all) * left);
        }
    }

    /// Not below zero by more than rounding explains.
    pub(super) fn are_sound(self) -> bool {
        const SLACK: i128 = 1 << 22;
        self.good >= -SLACK && self.all - self.good >= -SLACK
    }

    pub(super) fn weight(self) -> f64 {
        whole(self.all).max(0.0)
    }

    /// Good and bad, as far as they have not faded.
    pub(super) fn counts(self, left: f64) -> Counts {
        let good = whole(self.good).max(0.0) * left;
        Counts { good, bad: whole(self.all - self.good).max(0.0) * left }
    }
}

/// Weighted counts of good and bad.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    good: f64,
    bad: f64,
}

impl Counts {
    /// Those of a Beta posterior: the prior, and the observations so many times.
    pub(super) fn posterior(self, prior: Option<f64>, times: f64) -> (f64, f64) {
        let strength = if prior.is_some() { GIVEN } else { ASSUMED };
        // A prior of exactly 0 or 1 would forbid ever learning otherwise.
        let expected = prior.unwrap_or(ASSUMED_QUALITY).clamp(0.02, 0.98);
        let (good, bad) = (self.good * times, self.bad * times);
        (strength * expected + good, strength * (1.0 - expected) + bad)
    }
}
