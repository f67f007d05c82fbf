//! Failure patterns with their trend, lifts and contrasts.

use std::collections::BTreeMap;

use super::signed_terms::extract_signed_terms;
use super::turn::{AnsweredTotals, FailedTurn, LiftDimension};
use crate::confidence_sequence::Z_95;
use crate::text::truncate_chars;

pub(super) const MAX_QUOTE_CHARS: usize = 300;
/// Also limits a topic, an error type and one side of a contrast.
pub(super) const MAX_LABEL_CHARS: usize = 120;

#[derive(Clone, Debug, PartialEq)]
pub struct FailurePattern {
    /// Stable id, built from the distinctive terms or the error type.
    pub id: String,
    pub label: String,
    /// The subject of the questions, for use inside a sentence; may be empty.
    pub topic: String,
    /// Turns in the current window.
    pub count: u32,
    /// Share of all failed turns in the current window, 0 to 1.
    pub share: f64,
    pub trend: FailureTrend,
    /// Most typical first, without repeated questions.
    pub examples: Vec<FailureExample>,
    /// Over-represented models, prompts and strategies, strongest first.
    pub lifts: Vec<Lift>,
    /// Most frequent first.
    pub contrasts: Vec<CountedContrast>,
    /// Set when the pattern is a group of errors.
    pub error_type: Option<String>,
    /// Turn ids in the current window, most typical first.
    pub turns: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureTrend {
    pub now: u32,
    pub before: u32,
    pub difference: i64,
    pub direction: FailureDirection,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureDirection {
    Rising,
    Falling,
    /// No significant change, or no previous window.
    Steady,
}

impl FailureDirection {
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Rising => "rising",
            Self::Falling => "falling",
            Self::Steady => "steady",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureExample {
    pub turn_id: String,
    pub question: String,
    pub remark: Option<String>,
}

/// A value that is more frequent in a pattern than among all answered turns.
#[derive(Clone, Debug, PartialEq)]
pub struct Lift {
    pub dimension: LiftDimension,
    pub value: String,
    /// Share in the pattern divided by the share among all answered turns.
    pub lift: f64,
    /// 95% interval: MOVER on the Wilson intervals of the two shares.
    pub interval: [f64; 2],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedContrast {
    pub wants: Option<String>,
    pub instead_of: Option<String>,
    pub count: u32,
    pub turns: Vec<String>,
}

impl FailureTrend {
    /// Without a change, failures split between the windows as answered turns do. A change is
    /// significant when the Wilson 95% interval excludes that split.
    pub(super) fn compute(now: u32, before: u32, totals: &AnsweredTotals) -> Self {
        let both = f64::from(now) + f64::from(before);
        let answered = totals.now as f64 + totals.before as f64;
        let expected = if answered > 0.0 { totals.now as f64 / answered } else { 0.5 };
        let [low, high] = wilson_interval(f64::from(now), both);
        let direction = if totals.before == 0 {
            // Nothing to compare with.
            FailureDirection::Steady
        } else if low > expected {
            FailureDirection::Rising
        } else if high < expected {
            FailureDirection::Falling
        } else {
            FailureDirection::Steady
        };
        Self { now, before, difference: i64::from(now) - i64::from(before), direction }
    }
}

/// Finds values whose lift is above 1 with 95% confidence.
pub(super) fn compute_lifts(turns: &[&FailedTurn<'_>], totals: &AnsweredTotals) -> Vec<Lift> {
    let mut lifts = Vec::new();
    for dimension in LiftDimension::ALL_DIMENSIONS {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        turns
            .iter()
            .filter_map(|turn| dimension.read_value(turn))
            .for_each(|v| *counts.entry(v).or_default() += 1);
        for (value, count) in counts {
            let total = totals.by_dimension.iter().find(|(b, v, _)| *b == dimension && v == value);
            let answered = total.map_or(0.0, |(_, _, count)| *count as f64);
            let size = turns.len() as f64;
            let found = ratio_interval(f64::from(count), size, answered, totals.now as f64);
            if let Some((lift, interval)) = found.filter(|(_, interval)| interval[0] > 1.0) {
                lifts.push(Lift { dimension, value: value.to_owned(), lift, interval });
            }
        }
    }
    lifts.sort_by(|a, b| {
        let names = (a.dimension, &a.value).cmp(&(b.dimension, &b.value));
        b.interval[0].total_cmp(&a.interval[0]).then(names)
    });
    lifts
}

type ContrastPair<'a> = (Option<&'a str>, Option<&'a str>);

const MAX_CONTRASTS: usize = 20;

/// Merges contrasts that differ only in case, articles and word endings, not in numbers.
pub(super) fn count_contrasts(turns: &[&FailedTurn<'_>]) -> Vec<CountedContrast> {
    let mut by_key: BTreeMap<(String, String), BTreeMap<ContrastPair<'_>, Vec<&str>>> =
        BTreeMap::new();
    for turn in turns {
        let Some(contrast) = turn.contrast else { continue };
        let side = |text: &'_ Option<String>| normalise_side(text.as_deref());
        let sides = (contrast.wants.as_deref(), contrast.instead_of.as_deref());
        let spellings =
            by_key.entry((side(&contrast.wants), side(&contrast.instead_of))).or_default();
        spellings.entry(sides).or_default().push(turn.turn_id);
    }
    by_key.remove(&(String::new(), String::new()));
    let mut counted: Vec<CountedContrast> =
        by_key.into_values().filter_map(merge_spellings).collect();
    counted.sort_by(|a, b| {
        let texts = (&a.wants, &a.instead_of).cmp(&(&b.wants, &b.instead_of));
        b.count.cmp(&a.count).then(texts)
    });
    counted.truncate(MAX_CONTRASTS);
    counted
}

fn normalise_side(side: Option<&str>) -> String {
    let text = side.unwrap_or_default();
    let words: Vec<String> = extract_signed_terms(text).into_iter().collect();
    if words.is_empty() { text.trim().to_lowercase() } else { words.join(" ") }
}

/// Merges spellings into the most frequent one; ties go to the first.
fn merge_spellings(spellings: BTreeMap<ContrastPair<'_>, Vec<&str>>) -> Option<CountedContrast> {
    let mut turns: Vec<String> =
        spellings.values().flatten().map(|turn| (*turn).to_owned()).collect();
    turns.sort_unstable();
    let preferred =
        spellings.into_iter().max_by(|a, b| a.1.len().cmp(&b.1.len()).then(b.0.cmp(&a.0)));
    let side = |side: Option<&str>| side.map(|text| truncate_chars(text.trim(), MAX_LABEL_CHARS));
    preferred.map(|((wants, instead_of), _)| CountedContrast {
        wants: side(wants),
        instead_of: side(instead_of),
        count: turns.len() as u32,
        turns,
    })
}

/// 95% confidence interval of a share.
pub(crate) fn wilson_interval(part: f64, total: f64) -> [f64; 2] {
    if total <= 0.0 {
        return [0.0, 1.0];
    }
    let (p, z2) = (part / total, Z_95 * Z_95);
    let middle = p + z2 / (2.0 * total);
    let half = Z_95 * (p * (1.0 - p) / total + z2 / (4.0 * total * total)).max(0.0).sqrt();
    let scale = 1.0 + z2 / total;
    [((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0)]
}

/// Ratio of two shares with its interval, by MOVER (Donner and Zou). Unlike the log-ratio interval,
/// it has a width when all of a few turns are of one kind.
fn ratio_interval(
    part: f64,
    total: f64,
    base_part: f64,
    base_total: f64,
) -> Option<(f64, [f64; 2])> {
    if total <= 0.0 || base_total <= 0.0 || base_part <= 0.0 {
        return None;
    }
    let (p, q) = (part / total, base_part / base_total);
    let ([lo, hi], [base_lo, base_hi]) =
        (wilson_interval(part, total), wilson_interval(base_part, base_total));
    let product = p * q;
    let bound = |side: f64, base: f64, sign: f64| {
        let under = product * product - side * base * (2.0 * p - side) * (2.0 * q - base);
        (product + sign * under.max(0.0).sqrt()) / (base * (2.0 * q - base))
    };
    let low = bound(lo, base_hi, -1.0);
    let high = bound(hi, base_lo, 1.0);
    // Few turns: the base share may be near zero, and the ratio has no bound.
    let bounded = low.is_finite() && high.is_finite() && base_hi < 2.0 * q && base_lo > 0.0;
    bounded.then_some((p / q, [low.max(0.0), high.max(p / q)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_interval_contains_the_ratio_and_is_wide_for_few_turns() {
        let (lift, [lo, hi]) = ratio_interval(2.0, 2.0, 500.0, 1000.0).unwrap();
        assert!(lift == 2.0 && lo < 1.0 && hi >= 2.0, "{lo} {hi}");
        let (lift, [lo, hi]) = ratio_interval(40.0, 50.0, 500.0, 1000.0).unwrap();
        assert!((lift - 1.6).abs() < 1e-12 && lo > 1.2 && hi < 1.9, "{lo} {hi}");
        assert_eq!(ratio_interval(1.0, 2.0, 0.0, 10.0), None);
        assert_eq!(ratio_interval(1.0, 0.0, 1.0, 10.0), None);
    }

    #[test]
    fn wilson_interval_matches_published_values() {
        let [lo, hi] = wilson_interval(8.0, 10.0);
        assert!((lo - 0.4902).abs() < 1e-4 && (hi - 0.9433).abs() < 1e-4, "{lo} {hi}");
        assert_eq!(wilson_interval(0.0, 0.0), [0.0, 1.0]);
    }
}
