//! What comes out: a pattern, and the small parts of it that are counted.

use std::collections::BTreeMap;

use super::interval::{ratio, share};
use super::signed_terms::gist;
use super::turn::{AnsweredTotals, By, FailedTurn};
use crate::text::truncate_chars;

/// Length limit of a quoted question or remark.
pub(super) const MAX_QUOTE_CHARS: usize = 300;
/// Length limit of a label, a topic, an error type or one side of a contrast.
pub(super) const MAX_LABEL_CHARS: usize = 120;

/// Turns that went wrong in the same way.
#[derive(Clone, Debug, PartialEq)]
pub struct FailurePattern {
    /// Of what distinguishes it, so that it stays when turns join or leave.
    pub id: String,
    /// Its distinctive terms, for people.
    pub label: String,
    /// What the questions are about, for the middle of a sentence; may be empty.
    pub topic: String,
    /// Turns in the window.
    pub count: u32,
    /// Of all failed turns of the window.
    pub share: f64,
    /// Against the window before.
    pub trend: FailureTrend,
    /// Most typical first, no question twice.
    pub examples: Vec<FailureExample>,
    /// What is over-represented, most first.
    pub lifts: Vec<Lift>,
    /// What was wanted instead of what, most frequent first.
    pub contrasts: Vec<CountedContrast>,
    /// The type that all its errors have.
    pub error_type: Option<String>,
    /// Its turns in the window, most typical first.
    pub turns: Vec<String>,
}

/// This window against the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureTrend {
    /// Turns in the window.
    pub now: u32,
    /// Turns in the window before.
    pub before: u32,
    /// How many more.
    pub difference: i64,
    /// Whether that is more than chance.
    pub direction: FailureDirection,
}

/// Where a count goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureDirection {
    /// More than before.
    Rising,
    /// Fewer than before.
    Falling,
    /// No difference that chance does not explain.
    Steady,
}

impl FailureDirection {
    /// The word on the wire.
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Rising => "rising",
            Self::Falling => "falling",
            Self::Steady => "steady",
        }
    }
}

/// A turn of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureExample {
    /// Its id.
    pub turn_id: String,
    /// What was asked.
    pub question: String,
    /// What was said of the answer.
    pub said: Option<String>,
}

/// Something is more frequent in a pattern than among all answered turns.
#[derive(Clone, Debug, PartialEq)]
pub struct Lift {
    /// What kind of thing.
    pub by: By,
    /// Which.
    pub value: String,
    /// How many times as frequent.
    pub lift: f64,
    /// 95%, by Wilson's intervals of the two shares and MOVER for their ratio.
    pub interval: [f64; 2],
}

/// What was wanted, and instead of what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedContrast {
    /// As most turns write it.
    pub wants: Option<String>,
    /// As most turns write it.
    pub instead_of: Option<String>,
    /// In how many turns.
    pub count: u32,
    /// Which.
    pub turns: Vec<String>,
}

impl FailureTrend {
    /// Under no change, the turns of both windows would divide as the answered turns do; a share
    /// of now whose interval (Wilson, 95%) leaves that out is a change.
    pub(super) fn of(now: u32, before: u32, totals: &AnsweredTotals) -> Self {
        let both = f64::from(now) + f64::from(before);
        let answered = totals.now as f64 + totals.before as f64;
        let expected = if answered > 0.0 { totals.now as f64 / answered } else { 0.5 };
        let [low, high] = share(f64::from(now), both);
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

/// What is in a larger part of these turns than of all answered ones, for sure.
pub(super) fn lifts(turns: &[&FailedTurn<'_>], totals: &AnsweredTotals) -> Vec<Lift> {
    let mut lifts = Vec::new();
    for by in By::ALL {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        turns
            .iter()
            .filter_map(|turn| by.of(turn))
            .for_each(|v| *counts.entry(v).or_default() += 1);
        for (value, count) in counts {
            let of = totals.by.iter().find(|(b, v, _)| *b == by && v == value);
            let answered = of.map_or(0.0, |(_, _, count)| *count as f64);
            let size = turns.len() as f64;
            let found = ratio(f64::from(count), size, answered, totals.now as f64);
            if let Some((lift, interval)) = found.filter(|(_, interval)| interval[0] > 1.0) {
                lifts.push(Lift { by, value: value.to_owned(), lift, interval });
            }
        }
    }
    lifts.sort_by(|a, b| {
        let names = (a.by, &a.value).cmp(&(b.by, &b.value));
        b.interval[0].total_cmp(&a.interval[0]).then(names)
    });
    lifts
}

/// The two sides of a contrast, as one turn writes them.
type Sides<'a> = (Option<&'a str>, Option<&'a str>);

/// Contrasts that are told.
const MOST_CONTRASTS: usize = 20;

/// Contrasts that differ only in case, articles and word endings are one; other numbers make another.
pub(super) fn contrasts(turns: &[&FailedTurn<'_>]) -> Vec<CountedContrast> {
    let mut merged: BTreeMap<(String, String), BTreeMap<Sides<'_>, Vec<&str>>> = BTreeMap::new();
    for turn in turns {
        let Some(contrast) = turn.contrast else { continue };
        let side = |text: &'_ Option<String>| key(text.as_deref());
        let sides = (contrast.wants.as_deref(), contrast.instead_of.as_deref());
        let ways = merged.entry((side(&contrast.wants), side(&contrast.instead_of))).or_default();
        ways.entry(sides).or_default().push(turn.turn_id);
    }
    merged.remove(&(String::new(), String::new()));
    let mut counted: Vec<CountedContrast> = merged.into_values().filter_map(one_of).collect();
    counted.sort_by(|a, b| {
        let texts = (&a.wants, &a.instead_of).cmp(&(&b.wants, &b.instead_of));
        b.count.cmp(&a.count).then(texts)
    });
    counted.truncate(MOST_CONTRASTS);
    counted
}

/// What two ways to write the same have in common.
fn key(side: Option<&str>) -> String {
    let text = side.unwrap_or_default();
    let words: Vec<String> = gist(text).into_iter().collect();
    if words.is_empty() { text.trim().to_lowercase() } else { words.join(" ") }
}

/// One contrast out of several ways to write it: as most turns do, of equals the first.
fn one_of(ways: BTreeMap<Sides<'_>, Vec<&str>>) -> Option<CountedContrast> {
    let mut turns: Vec<String> = ways.values().flatten().map(|turn| (*turn).to_owned()).collect();
    turns.sort_unstable();
    let most = ways.into_iter().max_by(|a, b| a.1.len().cmp(&b.1.len()).then(b.0.cmp(&a.0)));
    let side = |side: Option<&str>| side.map(|text| truncate_chars(text.trim(), MAX_LABEL_CHARS));
    most.map(|((wants, instead_of), _)| CountedContrast {
        wants: side(wants),
        instead_of: side(instead_of),
        count: turns.len() as u32,
        turns,
    })
}
