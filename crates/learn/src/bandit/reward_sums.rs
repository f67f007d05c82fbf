//! Fixed-point reward sums of an arm. Integer addition makes their order irrelevant.

use crate::reward::Observation;

const PARTS_PER_ONE: f64 = (1u64 << 32) as f64;
/// Weight of a configured prior, in observations of weight one.
const GIVEN_PRIOR_WEIGHT: f64 = 4.0;
/// Weight of the default prior, in observations of weight one.
const DEFAULT_PRIOR_WEIGHT: f64 = 2.0;
const DEFAULT_PRIOR_QUALITY: f64 = 0.5;

/// Sums of weighted rewards (`good`) and of weights (`all`), in fixed-point parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RewardSums {
    pub(super) good: i128,
    pub(super) all: i128,
}

pub(super) fn to_parts(value: f64) -> i128 {
    (value * PARTS_PER_ONE).round() as i128
}

pub(super) fn from_parts(parts: i128) -> f64 {
    // Both conversions give the same number; the `i64` one is several times faster.
    i64::try_from(parts).map_or(parts as f64, |parts| parts as f64) / PARTS_PER_ONE
}

impl RewardSums {
    /// The contribution of one observation of which `left` remains.
    pub(super) fn from_observation(observation: Observation, left: f64) -> Self {
        let weight = observation.weight() * left;
        Self { good: to_parts(weight * observation.reward()), all: to_parts(weight) }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.good += other.good;
        self.all += other.all;
    }

    pub(super) fn subtract(&mut self, other: Self) {
        self.good -= other.good;
        self.all -= other.all;
    }

    /// Decay rounds, so a later subtraction may exceed the remainder by one part.
    pub(super) fn apply_decay(&mut self, left: f64) {
        if left < 1.0 {
            self.good = to_parts(from_parts(self.good) * left);
            self.all = to_parts(from_parts(self.all) * left);
        }
    }

    /// True when no sum is below zero by more than rounding explains.
    pub(super) fn is_consistent(self) -> bool {
        const ROUNDING_SLACK_PARTS: i128 = 1 << 22;
        self.good >= -ROUNDING_SLACK_PARTS && self.all - self.good >= -ROUNDING_SLACK_PARTS
    }

    pub(super) fn weight(self) -> f64 {
        from_parts(self.all).max(0.0)
    }

    pub(super) fn decayed_counts(self, left: f64) -> BetaCounts {
        let good = from_parts(self.good).max(0.0) * left;
        BetaCounts { good, bad: from_parts(self.all - self.good).max(0.0) * left }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct BetaCounts {
    good: f64,
    bad: f64,
}

impl BetaCounts {
    /// Counts of the Beta posterior, with every observation counted `times` times.
    pub(super) fn beta_posterior(self, prior: Option<f64>, times: f64) -> (f64, f64) {
        let strength = if prior.is_some() { GIVEN_PRIOR_WEIGHT } else { DEFAULT_PRIOR_WEIGHT };
        // A prior of exactly 0 or 1 could never be overcome.
        let expected = prior.unwrap_or(DEFAULT_PRIOR_QUALITY).clamp(0.02, 0.98);
        let (good, bad) = (self.good * times, self.bad * times);
        (strength * expected + good, strength * (1.0 - expected) + bad)
    }
}
