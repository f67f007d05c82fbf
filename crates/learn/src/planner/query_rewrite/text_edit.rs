//! Changes to a text at places given by its words.

use std::ops::Range;

use crate::planner::words::{Word, find, phrase, same};

/// A stretch of bytes and what stands there afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// The text with the edits made; `None` when they overlap or leave nothing.
pub(super) fn apply(text: &str, edits: Vec<Edit>) -> Option<String> {
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

/// Puts one phrase in every place of another. Words of the new one that already stand beside the
/// old are not said twice: "daily" → "monthly total" in "daily total" gives "monthly total".
pub(super) fn replace(asked: &[Word<'_>], old: &[Word<'_>], new: &[Word<'_>]) -> Option<Vec<Edit>> {
    let mut edits = Vec::new();
    let mut from = 0;
    while let Some(at) = find(asked, old, from).filter(|_| !old.is_empty()) {
        let end = at + old.len();
        let (before, after) = (asked.get(..at)?, asked.get(end..)?);
        let left = (0..=new.len()).rev().find(|n| ends_with(before, new.get(..*n)))?;
        let right = (0..=new.len()).rev().find(|n| starts_with(after, new.get(new.len() - n..)))?;
        let (first, last) = (asked.get(at - left)?, asked.get(end + right - 1)?);
        edits.push(Edit { range: first.start..last.end, text: phrase(new).to_owned() });
        from = end + right;
    }
    (!edits.is_empty()).then_some(edits)
}

/// Whether a word also stands outside of the edits.
pub(super) fn leaves(edits: &[Edit], asked: &[Word<'_>], word: &Word<'_>) -> bool {
    let inside = |w: &Word<'_>| edits.iter().any(|edit| edit.range.contains(&w.start));
    asked.iter().any(|other| other.is(word) && !inside(other))
}

pub(super) fn ends_with(words: &[Word<'_>], end: Option<&[Word<'_>]>) -> bool {
    end.is_some_and(|end| {
        let start = words.len().checked_sub(end.len());
        start.and_then(|start| words.get(start..)).is_some_and(|tail| same(tail, end))
    })
}

fn starts_with(words: &[Word<'_>], start: Option<&[Word<'_>]>) -> bool {
    start.is_some_and(|start| words.get(..start.len()).is_some_and(|head| same(head, start)))
}
