//! What a router has learnt, for people to read.

use super::eligibility::expected_cost;
use super::best_arm_probability::Score;
use super::definition::RouterRule;
use super::state::{COST_PARTS, RouterState};

/// How one arm stands.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmSummary {
    /// The model.
    pub id: String,
    /// Whether it may be chosen.
    pub enabled: bool,
    /// How often it was chosen.
    pub choices: u64,
    /// How many of its turns taught something.
    pub observations: u64,
    /// How much these count together, by now.
    pub weight: f64,
    /// The reward to expect.
    pub mean: f64,
    /// Between these it lies with a probability of 95%.
    pub interval: [f64; 2],
    /// Its part of all choices.
    pub share: f64,
    /// What its calls cost together.
    pub cost: f64,
    /// What one more call would cost, if that is known.
    pub expected_cost: Option<f64>,
}

impl RouterState {
    /// How every arm of the rule stands, in the rule's order.
    pub fn summary(&self, rule: &RouterRule) -> Vec<ArmSummary> {
        let all: u64 = self.arms.iter().map(|arm| arm.choices).sum();
        let summary = |index: usize| {
            let definition = &rule.arms()[index];
            let arm = self.arm_at(rule, index)?;
            let left = self.left(rule, arm);
            let (good, bad) = arm.sums.counts(left).posterior(definition.prior_quality, 1.0);
            let mean = good / (good + bad);
            let interval = Score::beta(good, bad).map(|score| score.interval());
            Some(ArmSummary {
                id: definition.id.clone(),
                enabled: definition.enabled,
                choices: arm.choices,
                observations: arm.observations,
                weight: arm.sums.weight() * left,
                mean,
                interval: interval.unwrap_or([0.0, 1.0]),
                share: if all > 0 { arm.choices as f64 / all as f64 } else { 0.0 },
                cost: arm.cost as f64 / COST_PARTS,
                expected_cost: expected_cost(self, rule, index),
            })
        };
        (0..rule.arms().len()).filter_map(summary).collect()
    }
}
