//! Off-policy evaluation: the expected reward of another policy, estimated from logged choices.
//!
//! Requires the logged propensity of every choice. Estimators: inverse propensity scoring (IPS),
//! self-normalised IPS (SNIPS), the direct method (DM) and doubly robust (DR).

mod outcome_model;

use model::BadData;
use serde::Serialize;

use crate::bad_data;

pub use outcome_model::{LoggedChoice, fit_outcome_model};

/// Standard errors on each side of a 95% interval.
const Z_95: f64 = 1.959_963_984_540_054;

/// A logged choice weighted for the target policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoggedReward {
    reward: f64,
    importance: f64,
    expected: Option<ModelledReward>,
}

/// Rewards that the outcome model predicts for one choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelledReward {
    /// Predicted reward of the chosen arm.
    pub of_chosen: f64,
    /// Predicted reward of the target policy, averaged over its propensities.
    pub of_target: f64,
}

impl LoggedReward {
    /// `propensity` is the logged probability, `target` the target policy's.
    pub fn new(
        reward: f64,
        propensity: f64,
        target: f64,
        expected: Option<ModelledReward>,
    ) -> Result<Self, BadData> {
        if !reward.is_finite() {
            return Err(bad_data("reward", &reward, "a number"));
        }
        if !(propensity > 0.0 && propensity <= 1.0) {
            return Err(bad_data("propensity", &propensity, "above 0, at most 1"));
        }
        if !(0.0..=1.0).contains(&target) {
            return Err(bad_data("target", &target, "a number from 0 to 1"));
        }
        if let Some(ModelledReward { of_chosen, of_target }) = expected
            && !(of_chosen.is_finite() && of_target.is_finite())
        {
            return Err(bad_data("expected", &(of_chosen + of_target), "a number"));
        }
        Ok(Self { reward, importance: target / propensity, expected })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PolicyEstimate {
    pub estimate: f64,
    /// 95% confidence interval.
    pub interval: [f64; 2],
}

/// Estimated mean reward of the target policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PolicyEvaluation {
    pub ips: PolicyEstimate,
    /// `None` when the policy shares no choice with the log.
    pub snips: Option<PolicyEstimate>,
    /// The interval excludes the model's own error.
    pub dm: Option<PolicyEstimate>,
    pub dr: Option<PolicyEstimate>,
    pub n: usize,
    pub effective_n: f64,
}

/// Evaluates a policy; `None` without choices. DM and DR need a prediction for every choice.
pub fn evaluate_policy(choices: &[LoggedReward]) -> Option<PolicyEvaluation> {
    if choices.is_empty() {
        return None;
    }
    let weights: f64 = choices.iter().map(|choice| choice.importance).sum();
    let squares: f64 = choices.iter().map(|choice| choice.importance.powi(2)).sum();
    let modelled: Option<Vec<(&LoggedReward, ModelledReward)>> =
        choices.iter().map(|choice| Some((choice, choice.expected?))).collect();
    let corrected = |(choice, expected): &(&LoggedReward, ModelledReward)| {
        choice.importance * (choice.reward - expected.of_chosen) + expected.of_target
    };
    Some(PolicyEvaluation {
        ips: estimate_mean(choices.iter().map(|choice| choice.importance * choice.reward)),
        snips: (weights > 0.0).then(|| estimate_self_normalised(choices, weights)),
        dm: modelled.as_ref().map(|all| estimate_mean(all.iter().map(|(_, e)| e.of_target))),
        dr: modelled.as_ref().map(|all| estimate_mean(all.iter().map(corrected))),
        n: choices.len(),
        effective_n: if squares > 0.0 { weights * weights / squares } else { 0.0 },
    })
}

/// Mean with a normal-approximation interval.
fn estimate_mean(values: impl Iterator<Item = f64> + Clone) -> PolicyEstimate {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let spread: f64 = values.map(|value| (value - mean).powi(2)).sum();
    build_estimate(mean, (spread / (count - 1.0).max(1.0) / count).sqrt())
}

/// Ratio estimate with a delta-method interval.
fn estimate_self_normalised(choices: &[LoggedReward], weights: f64) -> PolicyEstimate {
    let earned: f64 = choices.iter().map(|choice| choice.importance * choice.reward).sum();
    let estimate = earned / weights;
    let squared_error =
        |choice: &LoggedReward| (choice.importance * (choice.reward - estimate)).powi(2);
    build_estimate(estimate, choices.iter().map(squared_error).sum::<f64>().sqrt() / weights)
}

fn build_estimate(estimate: f64, deviation: f64) -> PolicyEstimate {
    let reach = Z_95 * deviation;
    PolicyEstimate { estimate, interval: [estimate - reach, estimate + reach] }
}

#[cfg(test)]
mod tests;
