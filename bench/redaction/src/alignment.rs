//! Finds which parts of a text were replaced, from the redacted text alone.

use std::ops::Range;

const PLACEHOLDERS: [&str; 8] = [
    "[email]",
    "[phone]",
    "[card]",
    "[iban]",
    "[ip]",
    "[secret]",
    "[national_id]",
    "[name_address]",
];

/// Byte ranges of the replaced parts. `None` if the redacted text does not follow from the text.
pub(crate) fn replaced_ranges(text: &str, redacted: &str) -> Option<Vec<Range<usize>>> {
    // Redaction writes double quotes around a secret.
    let (text, redacted) = (text.replace('\'', "\""), redacted.replace('\'', "\""));
    let mut ranges = Vec::new();
    align(&text, 0, &redacted, &mut ranges).then_some(ranges)
}

/// Aligns the rest of both texts. A replaced part is as short as possible.
fn align(text: &str, at: usize, redacted: &str, ranges: &mut Vec<Range<usize>>) -> bool {
    let first = PLACEHOLDERS
        .iter()
        .filter_map(|word| redacted.find(word).map(|start| (start, word.len())))
        .min();
    let Some((start, length)) = first else { return text[at..] == *redacted };
    if !text[at..].starts_with(&redacted[..start]) {
        return false;
    }
    let (begin, rest) = (at + start, &redacted[start + length..]);
    let ends = text[begin..].char_indices().map(|(offset, c)| begin + offset + c.len_utf8());
    for end in ends {
        ranges.push(begin..end);
        if align(text, end, rest, ranges) {
            return true;
        }
        ranges.pop();
    }
    false
}

/// The replaced characters of a text.
pub(crate) struct Marked<'t> {
    text: &'t str,
    replaced: &'t [Range<usize>],
}

impl<'t> Marked<'t> {
    pub(crate) fn new(text: &'t str, replaced: &'t [Range<usize>]) -> Self {
        Self { text, replaced }
    }

    /// True when every letter and digit of the span was replaced.
    pub(crate) fn covers(&self, span: &Range<usize>) -> bool {
        self.text[span.clone()]
            .char_indices()
            .filter(|(_, c)| c.is_alphanumeric())
            .map(|(offset, _)| span.start + offset)
            .all(|at| self.replaced.iter().any(|range| range.contains(&at)))
    }
}
