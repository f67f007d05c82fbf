//! The content that two messages share, as numbers.

use super::alignment::{Alignment, Match, PairWord};
use super::negation::is_negation;

/// Shares and runs of common words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overlap {
    /// Weight of the content without counterpart, as a share of each message.
    pub open: (f32, f32),
    /// Weight of the content with counterpart, in the message that has less of it.
    pub matched: f32,
    /// Content words with counterpart, in the message that has fewer of them.
    pub matched_words: usize,
    /// Share of all content that has a counterpart.
    pub shared: f32,
    /// True when the longer message contains the shorter one word for word.
    pub is_verbatim: bool,
    /// True when both messages have the same words in the same order, however spelled.
    pub is_respelled: bool,
    /// Words beside the contained message, in the clauses where it begins and ends.
    pub beside: (usize, usize),
}

impl Overlap {
    pub(super) fn new(words: &Alignment<'_>) -> Self {
        let weigh = |side: &[PairWord<'_>]| {
            let total: f32 = side.iter().map(|word| word.weight).sum();
            let open: f32 = side.iter().filter(|w| w.is_open()).map(|word| word.weight).sum();
            (total, open)
        };
        let (a, b) = (weigh(&words.a), weigh(&words.b));
        let share = |(total, open): (f32, f32)| if total > 0.0 { open / total } else { 1.0 };
        let (short, long) = if words.a.len() <= words.b.len() {
            (&words.a, &words.b)
        } else {
            (&words.b, &words.a)
        };
        let run = find_run(short, long);
        Self {
            open: (share(a), share(b)),
            matched: (a.0 - a.1).min(b.0 - b.1),
            matched_words: count_matched(&words.a).min(count_matched(&words.b)),
            shared: 1.0 - (a.1 + b.1) / (a.0 + b.0).max(1e-6),
            is_verbatim: run.is_some_and(|at| !is_negated_before(long, at)),
            is_respelled: is_respelled(words),
            beside: run.map_or((0, 0), |at| count_beside(long, at, at + short.len())),
        }
    }
}

fn count_matched(side: &[PairWord<'_>]) -> usize {
    side.iter().filter(|word| word.is_content() && !word.is_open()).count()
}

fn is_respelled(words: &Alignment<'_>) -> bool {
    let mut last = 0;
    let keeps_order = words.a.iter().all(|word| {
        let partner = word.partner.filter(|at| *at >= last);
        last = partner.unwrap_or(last);
        partner.is_some() && word.matched == Match::Word
    });
    keeps_order && words.b.iter().all(|word| word.matched == Match::Word)
}

/// Words of the same clause before and after a run.
fn count_beside(words: &[PairWord<'_>], start: usize, end: usize) -> (usize, usize) {
    let clauses = (words[start].clause, words[end - 1].clause);
    let before = words[..start].iter().rev().take_while(|word| word.clause == clauses.0).count();
    (before, words[end..].iter().take_while(|word| word.clause == clauses.1).count())
}

/// Where the longer message has all words of the shorter one in a row.
fn find_run(short: &[PairWord<'_>], long: &[PairWord<'_>]) -> Option<usize> {
    let is_equal = |(x, y): (&PairWord<'_>, &PairWord<'_>)| x.hash == y.hash;
    (!short.is_empty() && short.len() <= long.len())
        .then(|| long.windows(short.len()).position(|run| run.iter().zip(short).all(is_equal)))
        .flatten()
}

/// True when a word right before `at` negates: "without oil" contains "oil".
fn is_negated_before(words: &[PairWord<'_>], at: usize) -> bool {
    const MAX_DISTANCE: usize = 2;
    let before = &words[at.saturating_sub(MAX_DISTANCE)..at];
    before.iter().any(|word| word.clause == words[at].clause && is_negation(word))
}
