//! Off-policy evaluation: the expected reward of another policy, estimated from logged choices.
//!
//! Requires the logged propensity of every choice. Estimators: inverse propensity scoring (IPS),
//! self-normalised IPS (SNIPS), the direct method (DM) and doubly robust (DR).

use model::BadData;
use serde::Serialize;

use crate::bandit::{FeatureVector, MAX_FEATURES, RidgeRegression};
use crate::check_field;
use crate::confidence_sequence::Z_95;

/// A logged choice weighted for the target policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoggedReward {
    reward: f64,
    importance: f64,
    expected: Option<ModelledReward>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelledReward {
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
        check_field(reward.is_finite(), "reward", &reward, "a number")?;
        let possible = propensity > 0.0 && propensity <= 1.0;
        check_field(possible, "propensity", &propensity, "above 0, at most 1")?;
        let is_share = (0.0..=1.0).contains(&target);
        check_field(is_share, "target", &target, "a number from 0 to 1")?;
        if let Some(ModelledReward { of_chosen, of_target }) = expected {
            let finite = of_chosen.is_finite() && of_target.is_finite();
            check_field(finite, "expected", &(of_chosen + of_target), "a number")?;
        }
        Ok(Self { reward, importance: target / propensity, expected })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PolicyEstimate {
    pub estimate: f64,
    /// 95% confidence interval; `None` where none would be honest.
    pub interval: Option<[f64; 2]>,
    /// True when the interval was cut at the range of the rewards.
    pub clipped: bool,
}

/// Estimated mean reward of the target policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PolicyEvaluation {
    pub ips: PolicyEstimate,
    /// `None` when the policy shares no choice with the log.
    pub snips: Option<PolicyEstimate>,
    /// Without an interval: the spread of predictions says nothing about the model's error.
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
    let range = reward_range(choices);
    let mean = |values: &[f64]| estimate_mean(values).clip(range);
    let earned: Vec<f64> = choices.iter().map(|choice| choice.importance * choice.reward).collect();
    let predicted = |all: &Vec<(&LoggedReward, ModelledReward)>| {
        let sum: f64 = all.iter().map(|(_, expected)| expected.of_target).sum();
        PolicyEstimate { estimate: sum / all.len() as f64, interval: None, clipped: false }
    };
    Some(PolicyEvaluation {
        ips: mean(&earned),
        snips: (weights > 0.0).then(|| estimate_self_normalised(choices, weights).clip(range)),
        dm: modelled.as_ref().map(predicted),
        dr: modelled.as_ref().map(|all| mean(&all.iter().map(corrected).collect::<Vec<f64>>())),
        n: choices.len(),
        effective_n: if squares > 0.0 { weights * weights / squares } else { 0.0 },
    })
}

/// 0 to 1, wider where a logged reward is outside.
fn reward_range(choices: &[LoggedReward]) -> (f64, f64) {
    choices.iter().fold((0.0, 1.0), |(low, high), choice| {
        (f64::min(low, choice.reward), f64::max(high, choice.reward))
    })
}

impl PolicyEstimate {
    /// Cuts the interval at the range of the rewards. The estimate stays as the formula gives it.
    fn clip(self, (low, high): (f64, f64)) -> Self {
        let cut = self.interval.map(|interval| interval.map(|bound| bound.clamp(low, high)));
        Self { interval: cut, clipped: cut != self.interval, ..self }
    }
}

/// Mean with a normal-approximation interval.
fn estimate_mean(values: &[f64]) -> PolicyEstimate {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
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
    let interval = Some([estimate - reach, estimate + reach]);
    PolicyEstimate { estimate, interval, clipped: false }
}

const FOLDS: usize = 5;

/// A logged choice and the target policy's propensities.
#[derive(Clone, Copy, Debug)]
pub struct LoggedChoice<'a> {
    pub arm: usize,
    pub reward: f64,
    /// Logged probability of the chosen arm.
    pub propensity: f64,
    /// Target policy's probability of every arm.
    pub target: &'a [f64],
    /// Empty for all choices or for none.
    pub features: &'a [f64],
}

/// Fits one regression per arm, without the fold it predicts, and attaches the predictions. The
/// error names the row and field.
pub fn fit_outcome_model(choices: &[LoggedChoice<'_>]) -> Result<Vec<LoggedReward>, BadData> {
    let Some(first) = choices.first() else { return Ok(Vec::new()) };
    let (arms, features) = (first.target.len(), first.features.len());
    let mut points = Vec::with_capacity(choices.len());
    for (row, choice) in choices.iter().enumerate() {
        points.push(choice.check(arms, features).map_err(|field| BadData {
            field: format!("choices[{row}].{field}"),
            got: "an invalid value".to_owned(),
            expected: format!(
                "one of {arms} arms, probabilities that add up to 1, and {features} features \
                 (at most {MAX_FEATURES})"
            ),
        })?);
    }
    let earned: f64 = choices.iter().map(|choice| choice.reward).sum();
    let prior = earned / choices.len() as f64;
    let bounds = choices.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), choice| {
        (low.min(choice.reward), high.max(choice.reward))
    });
    let mut logged = vec![None; choices.len()];
    for fold in 0..FOLDS {
        let mut models = vec![RidgeRegression::new(features, 0); arms];
        for row in (0..choices.len()).filter(|row| row % FOLDS != fold) {
            models[choices[row].arm].apply_turn(&points[row], 1.0, choices[row].reward, prior);
        }
        for row in (fold..choices.len()).step_by(FOLDS) {
            let predicted = predict_choice(&choices[row], &points[row], &models, prior, bounds);
            logged[row] = Some(predicted?);
        }
    }
    Ok(logged.into_iter().flatten().collect())
}

impl LoggedChoice<'_> {
    /// Returns the feature vector, or the name of an invalid field.
    fn check(&self, arms: usize, features: usize) -> Result<FeatureVector, &'static str> {
        if self.arm >= arms {
            return Err("arm");
        }
        if !self.reward.is_finite() {
            return Err("reward");
        }
        let sum: f64 = self.target.iter().sum();
        if self.target.len() != arms || (sum - 1.0).abs() > 1e-6 {
            return Err("target");
        }
        FeatureVector::new(self.features, features).ok_or("features")
    }
}

fn predict_choice(
    choice: &LoggedChoice<'_>,
    point: &FeatureVector,
    models: &[RidgeRegression],
    prior: f64,
    (low, high): (f64, f64),
) -> Result<LoggedReward, BadData> {
    // Linear predictions can leave the observed range, so clamp them to it.
    let predict = |model: &RidgeRegression| {
        model.predict(point, prior).map_or(prior, |found| found.mean.clamp(low, high))
    };
    let of_chosen = predict(&models[choice.arm]);
    let of_target = models.iter().zip(choice.target).map(|(model, chance)| chance * predict(model));
    let expected = ModelledReward { of_chosen, of_target: of_target.sum::<f64>() };
    let target = choice.target[choice.arm].clamp(0.0, 1.0);
    LoggedReward::new(choice.reward, choice.propensity, target, Some(expected))
}

#[cfg(test)]
mod tests;
