//! Whether the contextual candidate would do better than Thompson: a doubly robust estimate of the
//! difference, over the choices that were really made.

use serde::{Deserialize, Serialize};

/// Turns, by effective number, before anything is concluded.
const ENOUGH: f64 = 100.0;
/// How often a candidate that is no better may take over, however often one looks.
const ERROR: f64 = 0.05;
/// The number of turns for which the bounds are narrowest.
const TYPICAL: f64 = 1_000.0;
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
    /// `candidate` and `present` are the two policies' chances, `expected` what each arm earns on
    /// average, all by arm. Any expectation gives a right estimate; the arms' plain means give a
    /// sober one. The regression's own would promise what it has yet to show.
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
        let turns = weight * weight / square;
        let reach = sequence(turns) * spread.max(0.0).sqrt() / weight;
        let interval = [estimate - reach, estimate + reach];
        Lead { estimate, interval, turns, serving: self.serving }
    }
}

/// Deviations between an estimate and its bounds that hold at every look at once (an asymptotic
/// confidence sequence).
fn sequence(turns: f64) -> f64 {
    let doubt = -2.0 * ERROR.ln();
    let rate = (doubt + (doubt + 1.0).ln()) / TYPICAL;
    let grown = turns * rate + 1.0;
    (2.0 * grown / (turns * rate) * (grown.sqrt() / ERROR).ln()).sqrt()
}
