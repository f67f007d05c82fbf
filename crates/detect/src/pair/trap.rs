//! Traps: what makes two questions that look alike different requests.
//!
//! One number, month, name, unit or negation makes another question, however similar the rest is.

use super::alignment::{Alignment, PairWord, is_negated_form};
use super::direction::{exchanges_numbers, turns_direction};
use super::distinctions::{Relation, relate};
use super::negation::negates_once;
use super::overlap::Overlap;
use super::reversal::reverses_meaning;
use crate::answer_type::AnswerType;
use crate::text::WordKind;
use crate::utterance::Utterance;

/// Cosine below which two words that replace each other mean different things.
const MIN_REPLACEMENT_COSINE: f32 = 0.3;
/// Open words per message up to which each of them replaces one of the other message.
const MAX_REPLACED_WORDS: usize = 2;
const MIN_REPLACED_OVERLAP: f32 = 0.5;

/// Kinds of differences between two messages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Differences {
    /// Words of which one excludes the other: months, units, opposites.
    pub exclusive: bool,
    pub number: bool,
    pub name: bool,
    pub negation: bool,
    pub reversal: bool,
    pub direction: bool,
    pub answer_type: bool,
    /// A word or two in the place of unrelated ones.
    pub replacement: bool,
}

impl Differences {
    pub(super) fn find(
        (a, b): (&Utterance, &Utterance),
        words: &Alignment<'_>,
        overlap: &Overlap,
    ) -> Self {
        Self {
            exclusive: exchanges_exclusive_words(words),
            number: exchanges(words, |word| word.kind == WordKind::Number),
            name: exchanges(words, |word| word.is_name && word.is_content()),
            negation: !overlap.is_verbatim && negates_once(a, b, words),
            reversal: (!overlap.is_verbatim || a.operators != b.operators)
                && reverses_meaning(a, b),
            direction: turns_direction(words) || exchanges_numbers(words),
            answer_type: asks_for_another_thing(a, b),
            replacement: replaces_words(words, overlap),
        }
    }

    /// True for a difference that makes another request unless the rest says otherwise.
    pub(super) fn is_probable(self) -> bool {
        self.replacement || self.answer_type
    }

    /// True for a difference that the words state exactly.
    pub(super) fn is_exact(self) -> bool {
        self.exclusive
            || self.number
            || self.name
            || self.negation
            || self.reversal
            || self.direction
    }
}

/// True when both messages have an open word that `is` accepts.
fn exchanges(words: &Alignment<'_>, is: impl Fn(&PairWord<'_>) -> bool) -> bool {
    let has = |side: &[PairWord<'_>]| side.iter().any(|word| word.is_open() && is(word));
    has(&words.a) && has(&words.b)
}

fn exchanges_exclusive_words(words: &Alignment<'_>) -> bool {
    words.a.iter().filter(|word| word.is_open()).any(|x| {
        words.b.iter().filter(|word| word.is_open()).any(|y| {
            relate(&x.memberships, &y.memberships) == Relation::Exclusive
                || is_negated_form(x.text, y.text)
        })
    })
}

fn asks_for_another_thing(a: &Utterance, b: &Utterance) -> bool {
    use AnswerType::{Method, Person, Place, Quantity, Reason, Time};
    let is_exact =
        |kind: AnswerType| matches!(kind, Person | Place | Quantity | Reason | Time | Method);
    a.answer_type != b.answer_type && is_exact(a.answer_type) && is_exact(b.answer_type)
}

/// True when a word or two are replaced by words of another meaning and the rest is the same.
fn replaces_words(words: &Alignment<'_>, overlap: &Overlap) -> bool {
    let open = |side: &[PairWord<'_>]| {
        let open = side.iter().filter(|word| word.is_open() && word.is_content());
        (open.clone().count(), open.map(|word| word.nearest).fold(0.0, f32::max))
    };
    let ((left, nearest), (right, _)) = (open(&words.a), open(&words.b));
    let counts = 1..=MAX_REPLACED_WORDS;
    counts.contains(&left)
        && counts.contains(&right)
        && overlap.shared >= MIN_REPLACED_OVERLAP
        && nearest < MIN_REPLACEMENT_COSINE
}
