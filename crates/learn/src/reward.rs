//! Rewards: all signals about a turn combine into one observation, a reward with a weight.
//!
//! Weights control how much an observation counts. They never change the reward itself.

mod definition;
mod turn_evidence;

pub use definition::{RewardDefinition, RewardRule};
pub(crate) use turn_evidence::ANONYMOUS_USER;
pub use turn_evidence::{AnswerOutcome, ImplicitReward, MessageVerdict, TurnEvidence, TurnSignal};

/// No reward definition yields a larger weight.
const MAX_WEIGHT: f64 = 2.0;

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

    pub fn reward(self) -> f64 {
        self.reward
    }

    /// Weight, above 0.
    pub fn weight(self) -> f64 {
        self.weight
    }
}

/// A turn's reward as shown and exported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TurnReward {
    /// 0 to 1; 0.7 without signals.
    pub value: f64,
    /// Weight of the signals for routers; 0 without signals.
    pub weight: f64,
}

impl Default for TurnReward {
    fn default() -> Self {
        TurnEvidence::default().turn_reward(&RewardRule::default())
    }
}

#[cfg(test)]
mod tests;
