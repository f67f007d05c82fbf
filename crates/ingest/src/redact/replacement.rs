//! Replaces found parts of a text.

use std::borrow::Cow;
use std::ops::Range;

/// A part of a text, and the text that replaces it.
pub(super) struct Replacement {
    pub(super) range: Range<usize>,
    pub(super) by: &'static str,
}

/// The parts that the kinds found so far.
#[derive(Default)]
pub(super) struct Parts {
    /// Sorted, without overlaps.
    found: Vec<Replacement>,
}

impl Parts {
    /// Adds the parts of one kind, in the order of the text, that no other kind found before.
    pub(super) fn add(&mut self, parts: Vec<Replacement>) {
        let known = self.found.len();
        for part in parts {
            let earlier = &self.found[..known];
            let next = earlier.partition_point(|other| other.range.end <= part.range.start);
            let is_free = earlier.get(next).is_none_or(|other| other.range.start >= part.range.end);
            let follows =
                self.found[known..].last().is_none_or(|last| last.range.end <= part.range.start);
            if is_free && follows {
                self.found.push(part);
            }
        }
        self.found.sort_by_key(|part| part.range.start);
    }

    pub(super) fn into_sorted(self) -> Vec<Replacement> {
        self.found
    }
}

/// Replaces sorted parts. Copies the text only if there are any.
pub(super) fn replace_parts<'t>(text: &'t str, parts: &[Replacement]) -> Cow<'t, str> {
    if parts.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut redacted = String::with_capacity(text.len());
    let mut done = 0;
    for part in parts {
        redacted.push_str(&text[done..part.range.start]);
        redacted.push_str(part.by);
        done = part.range.end;
    }
    redacted.push_str(&text[done..]);
    Cow::Owned(redacted)
}

/// True for characters that make a longer word or number of what they touch. Chinese, Japanese and
/// Korean are written without spaces, so their characters do not.
pub(super) fn is_joined(c: char) -> bool {
    c == '_' || (c.is_alphanumeric() && !is_unspaced(c))
}

/// Characters of the languages that are written without spaces.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// True after a line break or tab that is written as in JSON, whose letter is no part of a word.
pub(super) fn ends_with_escape(before: &str) -> bool {
    ["\\n", "\\r", "\\t"].iter().any(|escape| before.ends_with(escape))
}
