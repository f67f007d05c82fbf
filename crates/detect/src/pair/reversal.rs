//! Reversed questions: negated, undone, with opposite words, or in the other direction.

use super::set_overlap::SetOverlap;
use crate::lexicon::lexicon;
use crate::utterance::Utterance;

/// Factor for messages of which one reverses the other.
pub(super) const REVERSAL_FACTOR: f64 = 0.5;
/// Minimum Jaccard similarity at which a negation or an operator reverses the meaning, and at which
/// a pair of opposites does.
const MIN_NEGATION_OVERLAP: f32 = 0.66;
const MIN_OPPOSITES_OVERLAP: f32 = 0.3;

/// True when one message negates, undoes or reverses the other, or uses other operators.
pub(super) fn reverses_meaning(a: &Utterance, b: &Utterance) -> bool {
    let alike = SetOverlap::from_sorted(&a.stems, &b.stems).jaccard;
    let turned = (a.negations > 0) != (b.negations > 0) || a.operators != b.operators;
    (turned && alike >= MIN_NEGATION_OVERLAP)
        || (has_opposites(a, b) && alike >= MIN_OPPOSITES_OVERLAP)
        || has_prefix_negation(a, b)
        || is_reordered(a, b)
}

/// True when the same words appear in another order and include a direction: "from Rome to Oslo".
fn is_reordered(a: &Utterance, b: &Utterance) -> bool {
    let mut sorted = (a.word_hashes.clone(), b.word_hashes.clone());
    sorted.0.sort_unstable();
    sorted.1.sort_unstable();
    let to = crate::text::hash(0, b"to");
    sorted.0 == sorted.1 && a.word_hashes != b.word_hashes && a.word_hashes.contains(&to)
}

/// True when one message has a word ("buy") and the other its opposite ("sell").
pub(super) fn has_opposites(a: &Utterance, b: &Utterance) -> bool {
    let words = lexicon();
    let crosses = |one: &u32| {
        !b.word_hashes.contains(one)
            && b.words_with_opposites
                .iter()
                .any(|other| words.are_opposites(*one, *other) && !a.word_hashes.contains(other))
    };
    a.words_with_opposites.iter().any(crosses)
}

/// True when one message has a word and the other its prefixed negation ("un", "dis", "de", "in").
pub(super) fn has_prefix_negation(a: &Utterance, b: &Utterance) -> bool {
    let undoes = |one: &Utterance, other: &Utterance| {
        one.prefix_negations.iter().any(|(done, undone)| {
            other.word_hashes.contains(done)
                && !other.word_hashes.contains(undone)
                && !one.word_hashes.contains(done)
        })
    };
    undoes(a, b) || undoes(b, a)
}
