//! What a turn was worth: every signal about it becomes one observation, a reward and its weight.
//!
//! Weights say how much an observation counts. They never change the reward itself.

mod override_condition;
mod definition;
mod turn_evidence;
mod implicit_reward;

pub use definition::{RewardDefinition, RewardRule};
pub use turn_evidence::{Answered, Judged, Signal, TurnEvidence};
pub use implicit_reward::Implicit;

/// Observations heavier than this do not come out of any reward definition.
const MOST_WEIGHT: f64 = 2.0;

/// What one turn teaches: a reward from 0 to 1, and how much it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    reward: f64,
    weight: f64,
}

impl Observation {
    /// Returns `None` for a reward outside 0..=1, and for a weight that is not above 0 and at
    /// most 2: what counts for nothing is no observation.
    pub fn new(reward: f64, weight: f64) -> Option<Self> {
        let fits = (0.0..=1.0).contains(&reward) && weight > 0.0 && weight <= MOST_WEIGHT;
        fits.then_some(Self { reward, weight })
    }

    /// From 0 to 1.
    pub fn reward(self) -> f64 {
        self.reward
    }

    /// Above 0.
    pub fn weight(self) -> f64 {
        self.weight
    }
}

/// One observation out of what people said and what they did.
pub(crate) fn combine(
    rule: &RewardRule,
    explicit: Option<f64>,
    implicit: Option<Implicit>,
) -> Option<(f64, f64)> {
    // What is not believed at all is not there: it must not turn "explicit only" into "both".
    let implicit = implicit.filter(|implicit| implicit.confidence > 0.0);
    let (of_said, of_done) = (rule.explicit_weight(), rule.implicit_weight());
    let explicit = explicit.filter(|_| of_said > 0.0);
    let implicit = implicit.filter(|_| of_done > 0.0);
    match (explicit, implicit) {
        (None, None) => None,
        (Some(said), None) => Some((said, of_said)),
        (None, Some(done)) => Some((done.reward, of_done * done.confidence)),
        (Some(said), Some(done)) => {
            let weight = of_said + of_done;
            Some(((of_said * said + of_done * done.reward) / weight, weight))
        }
    }
}

#[cfg(test)]
mod tests;
