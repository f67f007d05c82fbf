//! Score multipliers from relevance counters: `seed`, `legacy` and `coec`.

use serde::{Deserialize, Serialize};

use super::examination::Examination;
use super::item_tally::ItemCounts;

/// Signals required before the `seed` formula applies.
const SEED_MIN_SIGNALS: f64 = 5.0;
/// Explicit opinions of one kind beyond this number have no effect.
const MAX_COUNTED_OPINIONS: f64 = 3.0;
const POSITIVE_OPINION_BONUS: f64 = 0.1;
const NEGATIVE_OPINION_PENALTY: f64 = 0.15;
const SEED_MULTIPLIER_RANGE: (f64, f64) = (0.3, 1.7);
/// Standard errors on each side of a 95% interval.
const Z_95: f64 = 1.96;

/// Formula that turns counters into a multiplier.
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
    pub entity: Option<ItemCounts>,
    pub pair: Option<ItemCounts>,
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
    let entity = known.entity.or(known.pair).filter(|c| total_signals(c) > 0.0);
    let Some(entity) = entity else {
        return ScoreMultiplier::without_interval(1.0, "nothing known".to_owned());
    };
    match estimator {
        Estimator::Seed => seed_multiplier(&entity, entity.total_returns()),
        Estimator::Legacy => seed_multiplier(&entity, total_signals(&entity)),
        Estimator::Coec => coec_multiplier(rule, examination, &entity, known.pair.as_ref()),
    }
}

fn total_signals(counts: &ItemCounts) -> f64 {
    counts.total_returns() + counts.positive + counts.negative
}

/// The `seed` formula; `returns` is the denominator of the use rate.
fn seed_multiplier(counts: &ItemCounts, returns: f64) -> ScoreMultiplier {
    let text = describe_counts(counts);
    if total_signals(counts) < SEED_MIN_SIGNALS {
        return ScoreMultiplier::without_interval(1.0, format!("{text}: too little to go by"));
    }
    let rate = if returns > 0.0 { counts.used / returns } else { 0.5 };
    let praise = POSITIVE_OPINION_BONUS * counts.positive.min(MAX_COUNTED_OPINIONS);
    let blame = NEGATIVE_OPINION_PENALTY * counts.negative.min(MAX_COUNTED_OPINIONS);
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
fn use_rate(rule: &CoecRule, seen: &Examination, counts: &ItemCounts, weight: f64) -> UseRate {
    let looks = seen.expected_looks(&counts.returned)
        + rule.opinion_weight * (counts.positive + counts.negative)
        + weight;
    let uses = counts.used + rule.opinion_weight * counts.positive + weight * seen.overall_rate();
    // Uses are Poisson-like: their standard deviation is the square root.
    UseRate { mean: uses / looks, deviation: uses.sqrt() / looks }
}

fn coec_multiplier(
    rule: &CoecRule,
    seen: &Examination,
    entity: &ItemCounts,
    pair: Option<&ItemCounts>,
) -> ScoreMultiplier {
    let average = seen.overall_rate();
    let of_entity = use_rate(rule, seen, entity, rule.entity_weight);
    let clip = |value: f64, (low, high): (f64, f64)| value.clamp(low, high);
    let entity_factor = |u: f64| clip(1.0 + rule.entity_pull * (u - average), rule.entity_range);
    let pair = pair.filter(|counts| total_signals(counts) > 0.0);
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
fn describe_counts(counts: &ItemCounts) -> String {
    let whole = |n: f64| n.round();
    let mut text = format!("used {} of {}", whole(counts.used), whole(counts.total_returns()));
    if counts.positive > 0.0 {
        text.push_str(&format!(", helpful {}", whole(counts.positive)));
    }
    if counts.negative > 0.0 {
        text.push_str(&format!(", unhelpful {}", whole(counts.negative)));
    }
    text
}
