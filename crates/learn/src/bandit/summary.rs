//! Arm summaries for reports.

use super::best_arm_probability::ScoreDensity;
use super::definition::RouterRule;
use super::eligibility::expected_cost;
use super::state::{COST_SCALE, RouterState};

#[derive(Clone, Debug, PartialEq)]
pub struct ArmSummary {
    pub id: String,
    pub enabled: bool,
    pub choices: u64,
    pub observations: u64,
    /// Total weight of the observations after decay.
    pub weight: f64,
    /// Posterior mean reward.
    pub mean: f64,
    /// 95% credible interval of the mean.
    pub interval: [f64; 2],
    /// Share of all choices, 0 to 1.
    pub share: f64,
    pub cost: f64,
    /// Expected cost of the next call; `None` when unknown.
    pub expected_cost: Option<f64>,
}

impl RouterState {
    pub fn summarise_arms(&self, rule: &RouterRule) -> Vec<ArmSummary> {
        let all: u64 = self.arms.iter().map(|arm| arm.choices).sum();
        let summary = |index: usize| {
            let definition = &rule.arms()[index];
            let arm = self.find_arm(rule, index)?;
            let left = self.arm_remaining(rule, arm);
            let (good, bad) =
                arm.sums.decayed_counts(left).beta_posterior(definition.prior_quality, 1.0);
            let mean = good / (good + bad);
            let interval =
                ScoreDensity::from_beta(good, bad).map(|score| score.credible_interval());
            Some(ArmSummary {
                id: definition.id.clone(),
                enabled: definition.enabled,
                choices: arm.choices,
                observations: arm.observations,
                weight: arm.sums.weight() * left,
                mean,
                interval: interval.unwrap_or([0.0, 1.0]),
                share: if all > 0 { arm.choices as f64 / all as f64 } else { 0.0 },
                cost: arm.cost as f64 / COST_SCALE,
                expected_cost: expected_cost(self, rule, index),
            })
        };
        (0..rule.arms().len()).filter_map(summary).collect()
    }
}
