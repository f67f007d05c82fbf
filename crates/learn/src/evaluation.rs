//! What another policy would have earned, from the choices that were really made.
//!
//! Needs the chance that every choice had when it was made. Four estimates: by importance (IPS),
//! by importance relative to its sum (SNIPS), by a model of the rewards (DM), and by the model with
//! its errors corrected by importance (DR).

mod outcome_model;

use model::BadData;
use serde::Serialize;

pub use outcome_model::{LoggedChoice, with_model};

/// Deviations to both sides of an estimate that make an interval of 95%.
const SIDES: f64 = 1.959_963_984_540_054;

/// One choice that was made, and what the policy in question has to do with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Logged {
    reward: f64,
    importance: f64,
    expected: Option<Expected>,
}

/// What a model of the rewards says about one choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// The reward of the arm that was chosen.
    pub of_chosen: f64,
    /// The reward of the policy in question: over all arms, by its chances.
    pub of_target: f64,
}

impl Logged {
    /// `propensity` is the chance the choice had, `target` the one that the policy in question
    /// would have given it. The error names the number that does not fit.
    pub fn new(
        reward: f64,
        propensity: f64,
        target: f64,
        expected: Option<Expected>,
    ) -> Result<Self, BadData> {
        if !reward.is_finite() {
            return Err(bad("reward", reward, "a number"));
        }
        if !(propensity > 0.0 && propensity <= 1.0) {
            return Err(bad("propensity", propensity, "above 0, at most 1"));
        }
        if !(0.0..=1.0).contains(&target) {
            return Err(bad("target", target, "a number from 0 to 1"));
        }
        if let Some(Expected { of_chosen, of_target }) = expected
            && !(of_chosen.is_finite() && of_target.is_finite())
        {
            return Err(bad("expected", of_chosen + of_target, "a number"));
        }
        Ok(Self { reward, importance: target / propensity, expected })
    }
}

fn bad(field: &str, got: f64, expected: &str) -> BadData {
    BadData { field: field.to_owned(), got: got.to_string(), expected: expected.to_owned() }
}

/// A number and where it lies with a probability of 95%.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The number.
    pub estimate: f64,
    /// Its bounds.
    pub interval: [f64; 2],
}

/// What the policy in question would have earned on average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// By importance.
    pub ips: Estimate,
    /// By importance relative to its sum; `None` when the policy shares no choice with the log.
    pub snips: Option<Estimate>,
    /// By the model alone; the interval leaves out the model's own errors.
    pub dm: Option<Estimate>,
    /// By the model, corrected by importance.
    pub dr: Option<Estimate>,
    /// How many choices.
    pub n: usize,
    /// How many choices of the policy itself would say as much.
    pub effective_n: f64,
}

/// Evaluates a policy; `None` without any choice. Models count when every choice has one.
pub fn evaluate(choices: &[Logged]) -> Option<Evaluation> {
    if choices.is_empty() {
        return None;
    }
    let weights: f64 = choices.iter().map(|choice| choice.importance).sum();
    let squares: f64 = choices.iter().map(|choice| choice.importance.powi(2)).sum();
    let modelled: Option<Vec<(&Logged, Expected)>> =
        choices.iter().map(|choice| Some((choice, choice.expected?))).collect();
    let corrected = |(choice, expected): &(&Logged, Expected)| {
        choice.importance * (choice.reward - expected.of_chosen) + expected.of_target
    };
    Some(Evaluation {
        ips: mean(choices.iter().map(|choice| choice.importance * choice.reward)),
        snips: (weights > 0.0).then(|| self_normalised(choices, weights)),
        dm: modelled.as_ref().map(|all| mean(all.iter().map(|(_, expected)| expected.of_target))),
        dr: modelled.as_ref().map(|all| mean(all.iter().map(corrected))),
        n: choices.len(),
        effective_n: if squares > 0.0 { weights * weights / squares } else { 0.0 },
    })
}

/// A mean with the interval of its normal approximation.
fn mean(values: impl Iterator<Item = f64> + Clone) -> Estimate {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let spread: f64 = values.map(|value| (value - mean).powi(2)).sum();
    around(mean, (spread / (count - 1.0).max(1.0) / count).sqrt())
}

/// A ratio of two sums, with the interval of its first-order approximation.
fn self_normalised(choices: &[Logged], weights: f64) -> Estimate {
    let earned: f64 = choices.iter().map(|choice| choice.importance * choice.reward).sum();
    let estimate = earned / weights;
    let off = |choice: &Logged| (choice.importance * (choice.reward - estimate)).powi(2);
    around(estimate, choices.iter().map(off).sum::<f64>().sqrt() / weights)
}

fn around(estimate: f64, deviation: f64) -> Estimate {
    let reach = SIDES * deviation;
    Estimate { estimate, interval: [estimate - reach, estimate + reach] }
}

#[cfg(test)]
mod tests;
