//! Score multipliers from relevance counters (`seed`, `legacy` and `coec`), and results sorted by
//! score times multiplier.

use serde::{Deserialize, Serialize};

use super::examination::{Examination, ItemTally};

/// Signals required before the `seed` formula applies.
const SEED_MIN_SIGNALS: u64 = 5;
/// Explicit opinions of one kind beyond this number have no effect.
const MAX_COUNTED_OPINIONS: u64 = 3;
const POSITIVE_OPINION_BONUS: f64 = 0.1;
const NEGATIVE_OPINION_PENALTY: f64 = 0.15;
const SEED_MULTIPLIER_RANGE: (f64, f64) = (0.3, 1.7);
/// Standard errors on each side of a 95% interval.
const Z_95: f64 = 1.96;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// 0.5 plus the use rate, adjusted by explicit opinions.
    #[default]
    Seed,
    /// Like `seed`, but opinions count as returns, so praise lowers the rate. For comparison only.
    Legacy,
    /// Clicks over expected clicks: uses relative to the expectation at the item's ranks, overall
    /// and within the query cluster.
    Coec,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CoecRule {
    /// Prior weight of the average against an entity's examinations.
    pub entity_weight: f64,
    /// The same for an entity within one query cluster.
    pub pair_weight: f64,
    /// Effect of an entity's overall rate on new clusters. Tuned in `bench/relevance`.
    pub entity_pull: f64,
    pub entity_range: (f64, f64),
    pub pair_range: (f64, f64),
    /// Examinations that one explicit opinion counts as.
    pub opinion_weight: f64,
}

impl Default for CoecRule {
    fn default() -> Self {
        Self {
            entity_weight: 10.0,
            pair_weight: 2.5,
            entity_pull: 0.25,
            entity_range: (0.8, 1.2),
            pair_range: (0.1, 5.0),
            opinion_weight: 2.0,
        }
    }
}

/// Counters of an item, overall and for the cluster of the current query.
#[derive(Clone, Copy, Debug, Default)]
pub struct ItemEvidence {
    pub entity: Option<ItemTally>,
    pub pair: Option<ItemTally>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScoreMultiplier {
    /// Above 0; 1 leaves the score unchanged.
    pub value: f64,
    /// 95% interval; `coec` only.
    pub interval: Option<(f64, f64)>,
    /// Explanation for display, such as "used 4 of 5".
    pub reason: String,
}

impl ScoreMultiplier {
    fn without_interval(value: f64, reason: String) -> Self {
        Self { value, interval: None, reason }
    }
}

/// Returns exactly 1 for an item without signals.
pub fn compute_multiplier(
    estimator: Estimator,
    rule: &CoecRule,
    examination: &Examination,
    known: &ItemEvidence,
) -> ScoreMultiplier {
    let entity = known.entity.or(known.pair).filter(|tally| total_signals(tally) > 0);
    let Some(entity) = entity else {
        return ScoreMultiplier::without_interval(1.0, "nothing known".to_owned());
    };
    match estimator {
        Estimator::Seed => seed_multiplier(&entity, entity.total_returns()),
        Estimator::Legacy => seed_multiplier(&entity, total_signals(&entity)),
        Estimator::Coec => coec_multiplier(rule, examination, &entity, known.pair.as_ref()),
    }
}

fn total_signals(tally: &ItemTally) -> u64 {
    tally.total_returns().saturating_add(tally.positive).saturating_add(tally.negative)
}

/// The `seed` formula; `returns` is the denominator of the use rate.
fn seed_multiplier(counts: &ItemTally, returns: u64) -> ScoreMultiplier {
    let text = describe_counts(counts);
    if total_signals(counts) < SEED_MIN_SIGNALS {
        return ScoreMultiplier::without_interval(1.0, format!("{text}: too few signals"));
    }
    let rate = if returns > 0 { counts.used as f64 / returns as f64 } else { 0.5 };
    let praise = POSITIVE_OPINION_BONUS * counts.positive.min(MAX_COUNTED_OPINIONS) as f64;
    let blame = NEGATIVE_OPINION_PENALTY * counts.negative.min(MAX_COUNTED_OPINIONS) as f64;
    let value =
        (0.5 + rate + praise - blame).clamp(SEED_MULTIPLIER_RANGE.0, SEED_MULTIPLIER_RANGE.1);
    // Rounded for display: 1.7, not 1.7000000000000002.
    ScoreMultiplier::without_interval((value * 1e12).round() / 1e12, text)
}

struct UseRate {
    mean: f64,
    deviation: f64,
}

/// Uses per examination, shrunk towards the average with the given prior weight.
fn use_rate(rule: &CoecRule, seen: &Examination, counts: &ItemTally, weight: f64) -> UseRate {
    let (used, positive) = (counts.used as f64, counts.positive as f64);
    let looks = seen.expected_looks(&counts.returned)
        + rule.opinion_weight * (positive + counts.negative as f64)
        + weight;
    let uses = used + rule.opinion_weight * positive + weight * seen.overall_rate();
    // Uses are Poisson-like: their standard deviation is the square root.
    UseRate { mean: uses / looks, deviation: uses.sqrt() / looks }
}

fn coec_multiplier(
    rule: &CoecRule,
    seen: &Examination,
    entity: &ItemTally,
    pair: Option<&ItemTally>,
) -> ScoreMultiplier {
    let average = seen.overall_rate();
    let of_entity = use_rate(rule, seen, entity, rule.entity_weight);
    let clip = |value: f64, (low, high): (f64, f64)| value.clamp(low, high);
    let entity_factor = |u: f64| clip(1.0 + rule.entity_pull * (u - average), rule.entity_range);
    let pair = pair.filter(|counts| total_signals(counts) > 0);
    let of_pair = pair.map(|counts| use_rate(rule, seen, counts, rule.pair_weight));
    let multiplier_at = |deviations: f64| {
        let shifted = |r: &UseRate| (r.mean + deviations * r.deviation).max(0.0);
        let pair_factor =
            of_pair.as_ref().map_or(1.0, |r| clip(shifted(r) / average, rule.pair_range));
        entity_factor(shifted(&of_entity)) * pair_factor
    };
    let expected = seen.expected_looks(&entity.returned) * average;
    let mut reason = format!("{}, {expected:.1} expected", describe_counts(entity));
    if let Some(counts) = pair {
        reason.push_str(&format!("; for this question {}", describe_counts(counts)));
    }
    let interval = Some((multiplier_at(-Z_95), multiplier_at(Z_95)));
    ScoreMultiplier { value: multiplier_at(0.0), interval, reason }
}

/// Formats counters as "used 4 of 5, helpful 2, unhelpful 1".
fn describe_counts(counts: &ItemTally) -> String {
    let mut text = format!("used {} of {}", counts.used, counts.total_returns());
    if counts.positive > 0 {
        text.push_str(&format!(", helpful {}", counts.positive));
    }
    if counts.negative > 0 {
        text.push_str(&format!(", unhelpful {}", counts.negative));
    }
    text
}

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
