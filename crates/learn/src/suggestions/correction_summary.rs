//! Summarises corrections that have no explanation.

use super::sanitisation::contains_sentence;
use super::sql::{SqlEdit, diff_statements, extract_statement};
use crate::failures::{AnswerChange, extract_content_words};

const MAX_SUMMARY_WORDS: usize = 12;

/// Lists the SQL clauses or words that a correction added, or else those it removed.
///
/// The summary serves as the remark of the turn, so that equal corrections form a pattern.
pub fn summarise_correction(original: &str, corrected: &str) -> String {
    if extract_statement(original).or(extract_statement(corrected)).is_some() {
        let (Some(before), Some(after)) =
            (extract_statement(original), extract_statement(corrected))
        else {
            return String::new();
        };
        let edits = diff_statements(before, after);
        // A sentence inside a literal is user text, not a condition.
        let is_condition = |text: &&str| !contains_sentence(text);
        let added = edits.iter().filter_map(|edit| edit.added.as_deref());
        let added: Vec<&str> = added.filter(is_condition).collect();
        let removed = edits.iter().filter_map(|edit| edit.removed.as_deref());
        let removed: Vec<&str> = removed.filter(is_condition).collect();
        return if added.is_empty() { removed.join(", ") } else { added.join(", ") };
    }
    let known: Vec<String> =
        extract_content_words(original).into_iter().map(|word| word.stem).collect();
    let new =
        extract_content_words(corrected).into_iter().filter(|word| !known.contains(&word.stem));
    new.take(MAX_SUMMARY_WORDS).map(|word| word.word).collect::<Vec<_>>().join(" ")
}

/// Lists the changes of an SQL correction; empty for other texts and unparsable statements.
pub fn extract_changes(original: &str, corrected: &str) -> Vec<AnswerChange> {
    let (Some(before), Some(after)) = (extract_statement(original), extract_statement(corrected))
    else {
        return Vec::new();
    };
    let change = |edit: SqlEdit| {
        let side = |side: Option<String>| side.unwrap_or_default();
        let text = format!("{:?}: {} -> {}", edit.part, side(edit.removed), side(edit.added));
        AnswerChange { about: edit.about, text }
    };
    diff_statements(before, after).into_iter().map(change).collect()
}
