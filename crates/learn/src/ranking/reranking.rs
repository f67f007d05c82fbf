//! Reranking: results sorted by score times relevance multiplier.

use super::examination::Examination;
use super::multiplier::{CoecRule, Estimator, ItemEvidence, ScoreMultiplier, compute_multiplier};

#[derive(Clone, Debug, PartialEq)]
pub struct RerankedResult {
    pub index: usize,
    pub original_score: f64,
    pub score: f64,
    pub multiplier: ScoreMultiplier,
}

/// Sorts by adjusted score, best first. Ties keep their order and NaN goes last.
///
/// `known` returns the evidence for the result at a position. Negative scores are divided instead
/// of multiplied, so that a good item rises there too.
pub fn rerank(
    estimator: Estimator,
    rule: &CoecRule,
    examination: &Examination,
    scores: &[f64],
    known: impl Fn(usize) -> ItemEvidence,
) -> Vec<RerankedResult> {
    let mut results: Vec<RerankedResult> = scores
        .iter()
        .enumerate()
        .map(|(index, &original_score)| {
            let multiplier = compute_multiplier(estimator, rule, examination, &known(index));
            let score = adjust_score(original_score, multiplier.value);
            RerankedResult { index, original_score, score, multiplier }
        })
        .collect();
    results.sort_by(|a, b| {
        let key = |r: &RerankedResult| if r.score.is_nan() { f64::NEG_INFINITY } else { r.score };
        a.score.is_nan().cmp(&b.score.is_nan()).then_with(|| key(b).total_cmp(&key(a)))
    });
    results
}

fn adjust_score(score: f64, multiplier: f64) -> f64 {
    let adjusted = if score < 0.0 { score / multiplier } else { score * multiplier };
    // Finite scores stay finite: an overflow saturates.
    if score.is_finite() { adjusted.clamp(-f64::MAX, f64::MAX) } else { adjusted }
}
