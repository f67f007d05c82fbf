//! Shadow evaluation: a doubly robust estimate of the contextual candidate's advantage over
//! Thompson, from the choices actually made.

use serde::{Deserialize, Serialize};

use crate::confidence_sequence::ConfidenceSequence;
use crate::reward::Observation;

/// Effective turns before the candidate may take over.
const MIN_EFFECTIVE_TURNS: f64 = 100.0;
/// Probability that a candidate without an advantage ever takes over.
const MAX_ERROR_RATE: f64 = 0.05;
/// Effective turns at which the confidence sequence is narrowest.
const TUNED_FOR_TURNS: f64 = 1_000.0;
/// Less likely choices are left out: their importance weight is too large.
const MIN_PROPENSITY: f64 = 1e-3;

/// One choice's contribution to the estimate, as a linear function of its future reward. Computed
/// when the choice is made and stored with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShadowEstimate {
    /// Contribution at reward 0.
    pub offset: f64,
    /// Contribution per unit of reward.
    pub slope: f64,
}

impl ShadowEstimate {
    /// `candidate` and `present` are the propensities of the two policies, `expected` the mean
    /// reward of each arm. Any `expected` gives an unbiased estimate. The arms' plain means keep it
    /// independent of the regression under test.
    pub(super) fn from_policies(
        chosen: usize,
        propensity: f64,
        candidate: &[f64],
        present: &[f64],
        expected: &[f64],
    ) -> Option<Self> {
        if propensity < MIN_PROPENSITY {
            return None;
        }
        let slope = (candidate[chosen] - present[chosen]) / propensity;
        let chances = candidate.iter().zip(present).zip(expected);
        let direct: f64 = chances.map(|((new, old), reward)| (new - old) * reward).sum();
        let offset = direct - slope * expected[chosen];
        (slope.is_finite() && offset.is_finite()).then_some(Self { offset, slope })
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CandidateLead {
    pub estimate: f64,
    /// Confidence interval, valid at every look.
    pub interval: [f64; 2],
    pub turns: f64,
    pub serving: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ShadowComparison {
    /// Sums of w, w², w·d, w²·d and w²·d², for weights w and differences d.
    pub(super) sums: [f64; 5],
    pub(super) serving: bool,
}

impl ShadowComparison {
    /// Removes the turn's old observation, adds the new one and updates the serving policy.
    pub(super) fn replace_turn(
        &mut self,
        shadow: ShadowEstimate,
        old: Option<Observation>,
        now: Option<Observation>,
    ) {
        for (observation, sign) in [(old, -1.0), (now, 1.0)] {
            if let Some(observation) = observation {
                self.add_turn(shadow, observation, sign);
            }
        }
        self.update_serving();
    }

    fn add_turn(&mut self, shadow: ShadowEstimate, observation: Observation, sign: f64) {
        let difference = shadow.offset + shadow.slope * observation.reward();
        let weight = observation.weight();
        let square = weight * weight;
        let by_square = square * difference;
        let terms = [weight, square, weight * difference, by_square, by_square * difference];
        for (sum, term) in self.sums.iter_mut().zip(terms) {
            *sum += sign * term;
        }
    }

    /// Switches only on a significant difference in either direction.
    fn update_serving(&mut self) {
        let lead = self.estimate_lead();
        if lead.turns < MIN_EFFECTIVE_TURNS {
            return;
        }
        if lead.interval[0] > 0.0 {
            self.serving = true;
        } else if lead.interval[1] < 0.0 {
            self.serving = false;
        }
    }

    pub(super) fn estimate_lead(&self) -> CandidateLead {
        let [weight, square, by, square_by, square_by_square] = self.sums;
        if !(weight > 0.0 && square > 0.0) {
            let interval = [f64::NEG_INFINITY, f64::INFINITY];
            return CandidateLead { estimate: 0.0, interval, turns: 0.0, serving: self.serving };
        }
        let estimate = by / weight;
        let spread = square_by_square - 2.0 * estimate * square_by + estimate * estimate * square;
        let turns = weight * weight / square;
        let sequence = ConfidenceSequence::new(MAX_ERROR_RATE, TUNED_FOR_TURNS);
        let reach = sequence.half_width(turns) * spread.max(0.0).sqrt() / weight;
        let interval = [estimate - reach, estimate + reach];
        CandidateLead { estimate, interval, turns, serving: self.serving }
    }
}
