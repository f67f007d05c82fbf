//! Results in a new order, by their scores times what is known about them.

use super::multiplier::{CoecRule, Estimator, Known, Multiplier, multiplier};
use super::examination::Examination;

/// A result in its new place.
#[derive(Clone, Debug, PartialEq)]
pub struct Reranked {
    /// Its place in what came in.
    pub index: usize,
    /// The score that came in.
    pub original_score: f64,
    /// The score by which it now stands.
    pub score: f64,
    /// What made the one into the other.
    pub multiplier: Multiplier,
}

/// The best first; equal ones keep their order, and a score that is not a number goes last.
///
/// `known` says what is known of the result at a place. A score below zero is divided instead of
/// multiplied, so that a good item rises there too.
pub fn rerank(
    estimator: Estimator,
    rule: &CoecRule,
    examination: &Examination,
    scores: &[f64],
    known: impl Fn(usize) -> Known,
) -> Vec<Reranked> {
    let mut results: Vec<Reranked> = scores
        .iter()
        .enumerate()
        .map(|(index, &original_score)| {
            let multiplier = multiplier(estimator, rule, examination, &known(index));
            let score = adjusted(original_score, multiplier.value);
            Reranked { index, original_score, score, multiplier }
        })
        .collect();
    results.sort_by(|a, b| {
        let key = |r: &Reranked| if r.score.is_nan() { f64::NEG_INFINITY } else { r.score };
        a.score.is_nan().cmp(&b.score.is_nan()).then_with(|| key(b).total_cmp(&key(a)))
    });
    results
}

fn adjusted(score: f64, multiplier: f64) -> f64 {
    let adjusted = if score < 0.0 { score / multiplier } else { score * multiplier };
    // A number stays a number: what would leave the scale stands at its end.
    if score.is_finite() { adjusted.clamp(-f64::MAX, f64::MAX) } else { adjusted }
}
