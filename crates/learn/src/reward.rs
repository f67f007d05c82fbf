//! Rewards: all signals about a turn combine into one observation, a reward with a weight.
//!
//! Weights control how much an observation counts. They never change the reward itself.

mod override_condition;
mod definition;
mod turn_evidence;
mod implicit_reward;

pub use definition::{RewardDefinition, RewardRule};
pub use implicit_reward::ImplicitReward;
pub use turn_evidence::{AnswerOutcome, MessageVerdict, TurnEvidence, TurnSignal};

/// No reward definition yields a larger weight.
const MAX_WEIGHT: f64 = 2.0;

/// The reward of one turn and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    reward: f64,
    weight: f64,
}

impl Observation {
    /// Returns `None` for a reward outside 0..=1 or a weight outside (0, 2].
    pub fn new(reward: f64, weight: f64) -> Option<Self> {
        let fits = (0.0..=1.0).contains(&reward) && weight > 0.0 && weight <= MAX_WEIGHT;
        fits.then_some(Self { reward, weight })
    }

    /// Reward, 0 to 1.
    pub fn reward(self) -> f64 {
        self.reward
    }

    /// Weight, above 0.
    pub fn weight(self) -> f64 {
        self.weight
    }
}

/// Combines explicit and implicit reward into a reward and a weight.
pub(crate) fn combine_rewards(
    rule: &RewardRule,
    explicit: Option<f64>,
    implicit: Option<ImplicitReward>,
) -> Option<(f64, f64)> {
    // A zero-confidence reward counts as absent, so that it cannot dilute the explicit one.
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
