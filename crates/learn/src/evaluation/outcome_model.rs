//! A model of the rewards out of the log itself: one regression per arm, fitted without the part
//! of the log that it then speaks about.

use model::BadData;

use super::{Expected, Logged};
use crate::bandit::{Linear, MOST_FEATURES, Point};

/// Parts of the log that are left out in turn.
const FOLDS: usize = 5;

/// One choice that was made, and all chances of the policy in question.
#[derive(Clone, Copy, Debug)]
pub struct LoggedChoice<'a> {
    /// The arm that was chosen.
    pub arm: usize,
    /// What it earned.
    pub reward: f64,
    /// The chance it had.
    pub propensity: f64,
    /// The chance that the policy in question gives every arm.
    pub target: &'a [f64],
    /// The features of the choice; may be empty, but not for some choices only.
    pub features: &'a [f64],
}

/// Adds what a model of the rewards expects to every choice. The error names the field of the
/// choice that does not fit.
pub fn with_model(choices: &[LoggedChoice<'_>]) -> Result<Vec<Logged>, BadData> {
    let Some(first) = choices.first() else { return Ok(Vec::new()) };
    let (arms, features) = (first.target.len(), first.features.len());
    let mut points = Vec::with_capacity(choices.len());
    for (row, choice) in choices.iter().enumerate() {
        points.push(check(choice, arms, features).map_err(|field| BadData {
            field: format!("choices[{row}].{field}"),
            got: "something else".to_owned(),
            expected: format!(
                "one of {arms} arms, chances that add up to 1, and {features} features \
                 (at most {MOST_FEATURES})"
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
        let mut models: Vec<Linear> = (0..arms).map(|_| Linear::new(features, 0)).collect();
        for row in (0..choices.len()).filter(|row| row % FOLDS != fold) {
            models[choices[row].arm].update(&points[row], 1.0, choices[row].reward, prior);
        }
        for row in (fold..choices.len()).step_by(FOLDS) {
            logged[row] = Some(expect(&choices[row], &points[row], &models, prior, bounds)?);
        }
    }
    Ok(logged.into_iter().flatten().collect())
}

/// The choice as a point, or the field that does not fit.
fn check(choice: &LoggedChoice<'_>, arms: usize, features: usize) -> Result<Point, &'static str> {
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
    Point::new(choice.features, features).ok_or("features")
}

fn expect(
    choice: &LoggedChoice<'_>,
    point: &Point,
    models: &[Linear],
    prior: f64,
    (low, high): (f64, f64),
) -> Result<Logged, BadData> {
    // A line goes beyond what rewards can be; nothing that was ever earned lies there.
    let of = |model: &Linear| {
        model.guess(point, prior).map_or(prior, |guess| guess.mean.clamp(low, high))
    };
    let of_target = models.iter().zip(choice.target).map(|(model, chance)| chance * of(model));
    let expected =
        Expected { of_chosen: of(&models[choice.arm]), of_target: of_target.sum::<f64>() };
    let target = choice.target[choice.arm].clamp(0.0, 1.0);
    Logged::new(choice.reward, choice.propensity, target, Some(expected))
}
