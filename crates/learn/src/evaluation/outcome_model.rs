//! Cross-fitted outcome model: one regression per arm, fitted without the fold it predicts.

use model::BadData;

use super::{LoggedReward, ModelledReward};
use crate::bandit::{FeatureVector, MAX_FEATURES, RidgeRegression};

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

/// Fits the outcome model and attaches its predictions. The error names the row and field.
pub fn fit_outcome_model(choices: &[LoggedChoice<'_>]) -> Result<Vec<LoggedReward>, BadData> {
    let Some(first) = choices.first() else { return Ok(Vec::new()) };
    let (arms, features) = (first.target.len(), first.features.len());
    let mut points = Vec::with_capacity(choices.len());
    for (row, choice) in choices.iter().enumerate() {
        points.push(check_choice(choice, arms, features).map_err(|field| BadData {
            field: format!("choices[{row}].{field}"),
            got: "an invalid value".to_owned(),
            expected: format!(
                "one of {arms} arms, chances that add up to 1, and {features} features \
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

fn check_choice(
    choice: &LoggedChoice<'_>,
    arms: usize,
    features: usize,
) -> Result<FeatureVector, &'static str> {
    if choice.arm >= arms {
        return Err("arm");
    }
    if !choice.reward.is_finite() {
        return Err("reward");
    }
    let sum: f64 = choice.target.iter().sum();
    if choice.target.len() != arms || (sum - 1.0).abs() > 1e-6 {
        return Err("target");
    }
    FeatureVector::new(choice.features, features).ok_or("features")
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
