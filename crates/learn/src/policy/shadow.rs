//! Whether the contextual candidate would do better than Thompson: a doubly robust estimate of the
//! difference, over the choices that were really made.

use serde::{Deserialize, Serialize};

/// Turns, by effective number, before anything is concluded.
const ENOUGH: f64 = 100.0;
/// Deviations between the estimate and its bounds. Wide, because it is looked at after every turn.
const SURE: f64 = 2.576;
/// A choice that was less likely than this says too much about too little.
const LEAST_PROPENSITY: f64 = 1e-3;

/// What one choice says about the difference, as a function of the reward it will earn. Travels
/// with the choice; made when it is made, out of what was known then.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shadow {
    /// The difference if the reward is 0.
    pub offset: f64,
    /// How much the reward adds.
    pub slope: f64,
}

impl Shadow {
    /// `candidate` and `present` are the two policies' chances, `expected` the rewards that the
    /// regression expects, all by arm.
    pub(super) fn of(
        chosen: usize,
        propensity: f64,
        candidate: &[f64],
        present: &[f64],
        expected: &[f64],
    ) -> Option<Self> {
        if propensity < LEAST_PROPENSITY {
            return None;
        }
        let slope = (candidate[chosen] - present[chosen]) / propensity;
        let chances = candidate.iter().zip(present).zip(expected);
        let direct: f64 = chances.map(|((new, old), reward)| (new - old) * reward).sum();
        let offset = direct - slope * expected[chosen];
        (slope.is_finite() && offset.is_finite()).then_some(Self { offset, slope })
    }
}

/// How far the candidate is ahead of Thompson, and within which bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lead {
    /// The estimate.
    pub estimate: f64,
    /// Its bounds.
    pub interval: [f64; 2],
    /// Turns it rests on, by effective number.
    pub turns: f64,
    /// The candidate serves.
    pub serving: bool,
}

/// Sums over turns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Comparison {
    /// Weights; squared weights; weights by difference; squared weights by difference, and by
    /// squared difference.
    pub(super) sums: [f64; 5],
    pub(super) serving: bool,
}

impl Comparison {
    /// Puts a turn in, or takes it out with `sign` −1.
    pub(super) fn add(&mut self, shadow: Shadow, reward: f64, weight: f64, sign: f64) {
        let difference = shadow.offset + shadow.slope * reward;
        let square = weight * weight;
        let terms = [
            weight,
            square,
            weight * difference,
            square * difference,
            square * difference * difference,
        ];
        for (sum, term) in self.sums.iter_mut().zip(terms) {
            *sum += sign * term;
        }
    }

    /// The candidate takes over when it is surely better, and goes when it is surely worse.
    pub(super) fn decide(&mut self) {
        let lead = self.lead();
        if lead.turns < ENOUGH {
            return;
        }
        if lead.interval[0] > 0.0 {
            self.serving = true;
        } else if lead.interval[1] < 0.0 {
            self.serving = false;
        }
    }

    pub(super) fn lead(&self) -> Lead {
        let [weight, square, by, square_by, square_by_square] = self.sums;
        if !(weight > 0.0 && square > 0.0) {
            let interval = [f64::NEG_INFINITY, f64::INFINITY];
            return Lead { estimate: 0.0, interval, turns: 0.0, serving: self.serving };
        }
        let estimate = by / weight;
        let spread = square_by_square - 2.0 * estimate * square_by + estimate * estimate * square;
        let reach = SURE * spread.max(0.0).sqrt() / weight;
        let interval = [estimate - reach, estimate + reach];
        Lead { estimate, interval, turns: weight * weight / square, serving: self.serving }
    }
}
