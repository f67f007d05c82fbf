//! A query split into words, and edits at word positions.

use std::ops::Range;

use crate::planner::words::{Word, find_phrase, is_same_phrase, phrase_text, split_words};

#[derive(Clone, Debug)]
pub(super) struct Query<'a> {
    pub(super) text: &'a str,
    pub(super) words: Vec<Word<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextEdit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

impl<'a> Query<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, words: split_words(text) }
    }

    pub(super) fn find_phrase(&self, wanted: &[Word<'_>]) -> Option<usize> {
        find_phrase(&self.words, wanted, 0)
    }

    /// Returns the edited text; `None` when edits overlap or nothing is left.
    pub(super) fn apply_edits(&self, edits: &[TextEdit]) -> Option<String> {
        let mut result = String::with_capacity(self.text.len());
        let mut done = 0;
        for edit in edits {
            result.push_str(self.text.get(done..edit.range.start)?);
            result.push_str(&edit.text);
            done = edit.range.end;
        }
        result.push_str(self.text.get(done..)?);
        (!result.trim().is_empty()).then_some(result)
    }

    pub(super) fn replace_range(&self, range: Range<usize>, text: String) -> Option<String> {
        self.apply_edits(&[TextEdit { range, text }])
    }

    /// Replaces every occurrence of one phrase by another, without repeating words already beside
    /// it.
    ///
    /// Example: "daily" → "monthly total" in "daily total" gives "monthly total".
    pub(super) fn replace_phrase(
        &self,
        old: &[Word<'_>],
        new: &[Word<'_>],
    ) -> Option<Vec<TextEdit>> {
        let mut edits = Vec::new();
        let mut from = 0;
        while let Some(at) = find_phrase(&self.words, old, from).filter(|_| !old.is_empty()) {
            let end = at + old.len();
            let (before, after) = (self.words.get(..at)?, self.words.get(end..)?);
            let left = (0..=new.len()).rev().find(|n| ends_with(before, new.get(..*n)))?;
            let right =
                (0..=new.len()).rev().find(|n| starts_with(after, new.get(new.len() - n..)))?;
            let (first, last) = (self.words.get(at - left)?, self.words.get(end + right - 1)?);
            let range = first.start..last.end;
            edits.push(TextEdit { range, text: phrase_text(new).to_owned() });
            from = end + right;
        }
        (!edits.is_empty()).then_some(edits)
    }

    /// True when one of `words` also occurs outside the edits.
    pub(super) fn repeats_outside<'w>(
        &self,
        edits: &[TextEdit],
        mut words: impl Iterator<Item = &'w Word<'w>>,
    ) -> bool {
        let inside = |w: &Word<'_>| edits.iter().any(|edit| edit.range.contains(&w.start));
        words.any(|word| self.words.iter().any(|other| other.matches(word) && !inside(other)))
    }
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
