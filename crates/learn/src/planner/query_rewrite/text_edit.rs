//! Text edits at word positions.

use std::ops::Range;

use crate::planner::words::{Word, find_phrase, is_same_phrase, phrase_text};

/// A byte range and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextEdit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// Returns the edited text; `None` when edits overlap or nothing is left.
pub(super) fn apply_edits(text: &str, edits: Vec<TextEdit>) -> Option<String> {
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for edit in edits {
        result.push_str(text.get(done..edit.range.start)?);
        result.push_str(&edit.text);
        done = edit.range.end;
    }
    result.push_str(text.get(done..)?);
    (!result.trim().is_empty()).then_some(result)
}

/// Replaces every occurrence of one phrase by another, without repeating words already beside it.
///
/// Example: "daily" → "monthly total" in "daily total" gives "monthly total".
pub(super) fn replace_phrase(
    query_words: &[Word<'_>],
    old: &[Word<'_>],
    new: &[Word<'_>],
) -> Option<Vec<TextEdit>> {
    let mut edits = Vec::new();
    let mut from = 0;
    while let Some(at) = find_phrase(query_words, old, from).filter(|_| !old.is_empty()) {
        let end = at + old.len();
        let (before, after) = (query_words.get(..at)?, query_words.get(end..)?);
        let left = (0..=new.len()).rev().find(|n| ends_with(before, new.get(..*n)))?;
        let right = (0..=new.len()).rev().find(|n| starts_with(after, new.get(new.len() - n..)))?;
        let (first, last) = (query_words.get(at - left)?, query_words.get(end + right - 1)?);
        edits.push(TextEdit { range: first.start..last.end, text: phrase_text(new).to_owned() });
        from = end + right;
    }
    (!edits.is_empty()).then_some(edits)
}

/// True when a word also occurs outside the edits.
pub(super) fn occurs_outside(
    edits: &[TextEdit],
    query_words: &[Word<'_>],
    word: &Word<'_>,
) -> bool {
    let inside = |w: &Word<'_>| edits.iter().any(|edit| edit.range.contains(&w.start));
    query_words.iter().any(|other| other.matches(word) && !inside(other))
}

pub(super) fn ends_with(words: &[Word<'_>], end: Option<&[Word<'_>]>) -> bool {
    end.is_some_and(|end| {
        let start = words.len().checked_sub(end.len());
        start.and_then(|start| words.get(start..)).is_some_and(|tail| is_same_phrase(tail, end))
    })
}

fn starts_with(words: &[Word<'_>], start: Option<&[Word<'_>]>) -> bool {
    start.is_some_and(|start| {
        words.get(..start.len()).is_some_and(|head| is_same_phrase(head, start))
    })
}
