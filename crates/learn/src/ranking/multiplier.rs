//! From counters to a multiplier: `seed`, `legacy` and `coec`.

use serde::{Deserialize, Serialize};

use super::examination::Examination;
use super::item_tally::Counts;

/// Signals that must be there before the seed's formula says anything.
const ENOUGH: f64 = 5.0;
/// Explicit opinions of a kind beyond this many change nothing.
const MOST_OPINIONS: f64 = 3.0;
const PER_POSITIVE: f64 = 0.1;
const PER_NEGATIVE: f64 = 0.15;
const SEED_RANGE: (f64, f64) = (0.3, 1.7);
/// Standard deviations on each side of an interval.
const WIDTH: f64 = 1.96;

/// How counters become a multiplier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// One half plus the use rate, and something for opinions.
    #[default]
    Seed,
    /// The same, but opinions count as returns, so that praise lowers the rate. Kept for comparison.
    Legacy,
    /// Clicks over expected clicks: what was used against what would have been at these ranks, for
    /// the item and for the item under this sort of question.
    Coec,
}

/// The constants of `coec`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CoecRule {
    /// Looks that the average is worth against those of an entity.
    pub entity_weight: f64,
    /// The same for an entity under one cluster of queries.
    pub pair_weight: f64,
    /// How much an entity's rate moves it under questions never seen. With the chances of being looked
    /// at estimated, 0.5 lost on held-out queries what 0.25 gains (`bench/relevance`).
    pub entity_pull: f64,
    /// Bounds of the entity's factor.
    pub entity_range: (f64, f64),
    /// Bounds of the pair's factor.
    pub pair_range: (f64, f64),
    /// Looks that an explicit opinion is worth.
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

/// What is known of an item: for all queries, and for the cluster of the query at hand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// Over all queries.
    pub entity: Option<Counts>,
    /// Under this cluster of queries.
    pub pair: Option<Counts>,
}

/// What an item's score is multiplied by, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Multiplier {
    /// Above 0; 1 leaves the score alone.
    pub value: f64,
    /// Where it lies with 95% certainty; only `coec` says.
    pub interval: Option<(f64, f64)>,
    /// For people: "used 4 of 5".
    pub reason: String,
}

impl Multiplier {
    fn plain(value: f64, reason: String) -> Self {
        Self { value, interval: None, reason }
    }
}

/// The multiplier of an item. One about which nothing is known gets exactly 1.
pub fn multiplier(
    estimator: Estimator,
    rule: &CoecRule,
    examination: &Examination,
    known: &Known,
) -> Multiplier {
    let entity = known.entity.or(known.pair).filter(|c| signals(c) > 0.0);
    let Some(entity) = entity else {
        return Multiplier::plain(1.0, "nothing known".to_owned());
    };
    match estimator {
        Estimator::Seed => seed(&entity, entity.total_returns()),
        Estimator::Legacy => seed(&entity, signals(&entity)),
        Estimator::Coec => coec(rule, examination, &entity, known.pair.as_ref()),
    }
}

fn signals(counts: &Counts) -> f64 {
    counts.total_returns() + counts.positive + counts.negative
}

/// The seed's formula; `returns` is what the use rate is taken of.
fn seed(counts: &Counts, returns: f64) -> Multiplier {
    let told = told(counts);
    if signals(counts) < ENOUGH {
        return Multiplier::plain(1.0, format!("{told}: too little to go by"));
    }
    let rate = if returns > 0.0 { counts.used / returns } else { 0.5 };
    let praise = PER_POSITIVE * counts.positive.min(MOST_OPINIONS);
    let blame = PER_NEGATIVE * counts.negative.min(MOST_OPINIONS);
    let value = (0.5 + rate + praise - blame).clamp(SEED_RANGE.0, SEED_RANGE.1);
    // People read these, and compare them: 1.7, not 1.7000000000000002.
    Multiplier::plain((value * 1e12).round() / 1e12, told)
}

/// A rate of use with its uncertainty.
struct Rate {
    mean: f64,
    deviation: f64,
}

/// The rate of use per look, drawn towards the average as if that had been seen `weight` times.
fn rate(rule: &CoecRule, seen: &Examination, counts: &Counts, weight: f64) -> Rate {
    let looks = seen.expected(&counts.returned)
        + rule.opinion_weight * (counts.positive + counts.negative)
        + weight;
    let uses = counts.used + rule.opinion_weight * counts.positive + weight * seen.overall_rate();
    // Uses come like rare events: their number varies by its root.
    Rate { mean: uses / looks, deviation: uses.sqrt() / looks }
}

fn coec(rule: &CoecRule, seen: &Examination, entity: &Counts, pair: Option<&Counts>) -> Multiplier {
    let average = seen.overall_rate();
    let of_entity = rate(rule, seen, entity, rule.entity_weight);
    let clip = |value: f64, (low, high): (f64, f64)| value.clamp(low, high);
    let entity_factor = |u: f64| clip(1.0 + rule.entity_pull * (u - average), rule.entity_range);
    let pair = pair.filter(|counts| signals(counts) > 0.0);
    let of_pair = pair.map(|counts| rate(rule, seen, counts, rule.pair_weight));
    let at = |deviations: f64| {
        let shifted = |r: &Rate| (r.mean + deviations * r.deviation).max(0.0);
        let pair_factor =
            of_pair.as_ref().map_or(1.0, |r| clip(shifted(r) / average, rule.pair_range));
        entity_factor(shifted(&of_entity)) * pair_factor
    };
    let expected = seen.expected(&entity.returned) * average;
    let mut reason = format!("{}, {expected:.1} expected", told(entity));
    if let Some(counts) = pair {
        reason.push_str(&format!("; for this question {}", told(counts)));
    }
    Multiplier { value: at(0.0), interval: Some((at(-WIDTH), at(WIDTH))), reason }
}

/// "used 4 of 5, helpful 2, unhelpful 1".
fn told(counts: &Counts) -> String {
    let whole = |n: f64| n.round();
    let mut told = format!("used {} of {}", whole(counts.used), whole(counts.total_returns()));
    if counts.positive > 0.0 {
        told.push_str(&format!(", helpful {}", whole(counts.positive)));
    }
    if counts.negative > 0.0 {
        told.push_str(&format!(", unhelpful {}", whole(counts.negative)));
    }
    told
}
