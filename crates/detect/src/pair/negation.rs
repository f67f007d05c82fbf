//! Negations in twelve languages.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::alignment::{Alignment, PairWord};
use crate::lexicon::words_in_set;
use crate::text::hash;
use crate::utterance::Utterance;

struct NegationWords {
    negations: FxHashSet<u32>,
    or: FxHashSet<u32>,
}

static NEGATION_WORDS: LazyLock<NegationWords> = LazyLock::new(|| {
    let set = |name: &str| words_in_set(name).map(|word| hash(0, word.as_bytes())).collect();
    NegationWords { negations: set("pair negations"), or: set("or words") }
});

/// Negations that Japanese attaches to verbs.
const ATTACHED_NEGATIONS: [&str; 5] = ["ない", "ません", "なし", "じゃな", "ずに"];

pub(super) fn is_negation(word: &PairWord<'_>) -> bool {
    NEGATION_WORDS.negations.contains(&word.hash)
}

/// True when exactly one of the messages negates.
pub(super) fn negates_once(a: &Utterance, b: &Utterance, words: &Alignment<'_>) -> bool {
    negates(a, &words.a) != negates(b, &words.b)
}

/// True for a negation in a clause that the other message has too.
fn negates(message: &Utterance, words: &[PairWord<'_>]) -> bool {
    let is_shared = |clause: usize| {
        words.iter().any(|word| word.clause == clause && word.is_content() && !word.is_open())
    };
    let counts = |(at, word): (usize, &PairWord<'_>)| {
        is_negation(word)
            // "Is it possible or not" negates nothing.
            && !(at > 0 && NEGATION_WORDS.or.contains(&words[at - 1].hash))
            && is_shared(word.clause)
    };
    words.iter().enumerate().any(counts)
        || ATTACHED_NEGATIONS.iter().any(|negation| message.original().contains(negation))
}
