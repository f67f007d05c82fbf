//! What a correction without an explanation asks for, in words.

use super::sanitisation::has_sentence;
use super::sql::{Edit, edits, statement_of};
use crate::failures::{AnswerChange, content_words};

/// Words of a correction that are told.
const MOST_WORDS: usize = 12;

/// What was put in by a correction, or else what was taken out: the conditions and parts of a
/// statement, the new words of any other text. To be used as what was said of the answer, so that
/// corrections that ask for the same fall together.
pub fn asked_for(original: &str, corrected: &str) -> String {
    if statement_of(original).or(statement_of(corrected)).is_some() {
        // A statement that cannot be read says nothing.
        let (Some(before), Some(after)) = (statement_of(original), statement_of(corrected)) else {
            return String::new();
        };
        let edits = edits(before, after);
        // A sentence among the values is the text of somebody, not a condition.
        let told = |text: &&str| !has_sentence(text);
        let added = edits.iter().filter_map(|edit| edit.added.as_deref());
        let added: Vec<&str> = added.filter(told).collect();
        let removed = edits.iter().filter_map(|edit| edit.removed.as_deref());
        let removed: Vec<&str> = removed.filter(told).collect();
        return if added.is_empty() { removed.join(", ") } else { added.join(", ") };
    }
    let known: Vec<String> = content_words(original).into_iter().map(|word| word.stem).collect();
    let new = content_words(corrected).into_iter().filter(|word| !known.contains(&word.stem));
    new.take(MOST_WORDS).map(|word| word.word).collect::<Vec<_>>().join(" ")
}

/// What a correction of a statement changed, part by part; nothing for any other text and for a
/// statement that cannot be parsed.
pub fn changes_of(original: &str, corrected: &str) -> Vec<AnswerChange> {
    let (Some(before), Some(after)) = (statement_of(original), statement_of(corrected)) else {
        return Vec::new();
    };
    let change = |edit: Edit| {
        let side = |side: Option<String>| side.unwrap_or_default();
        let text = format!("{:?}: {} -> {}", edit.part, side(edit.removed), side(edit.added));
        AnswerChange { about: edit.about, text }
    };
    edits(before, after).into_iter().map(change).collect()
}
