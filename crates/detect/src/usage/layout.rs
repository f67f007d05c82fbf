//! Detects bracketed numbers that are not citations: steps, amounts, checkboxes, line numbers.

use super::word_lists::word_lists;

const NEXT_WORD_BYTES: usize = 120;

#[derive(Clone, Copy)]
pub(super) struct CitationLayout {
    /// The text has assignments, so brackets after words are indexes.
    pub(super) has_assignments: bool,
    has_numbered_lines: bool,
    sources_start: usize,
}

impl CitationLayout {
    pub(super) fn new(text: &str) -> Self {
        let numbered = |line: &str| {
            let line = line.trim_start_matches(LIST_MARKS);
            line.strip_prefix('[').is_some_and(|rest| rest.starts_with(|c: char| c.is_numeric()))
        };
        let has_numbered_lines = text.lines().filter(|line| numbered(line)).count() > 1;
        let mut end = 0;
        let heading_end = text.split_inclusive('\n').find_map(|line| {
            end += line.len();
            is_sources_heading(line).then_some(end)
        });
        Self {
            has_assignments: text.contains(" = "),
            has_numbered_lines,
            sources_start: heading_end.unwrap_or(text.len()),
        }
    }
}

const LIST_MARKS: [char; 6] = [' ', '\t', '-', '*', '•', '+'];

/// True for "Sources:" or "## References".
fn is_sources_heading(line: &str) -> bool {
    let bare = line.trim().trim_matches(|c: char| !c.is_alphanumeric());
    bare.len() <= 40 && word_lists().source_headings.contains(bare.to_lowercase().as_str())
}

/// True for a checkbox: `- [x] done`.
pub(super) fn is_checkbox(text: &str, open: usize, body: &str) -> bool {
    let before = line_before(text, open).trim_start();
    let marker = before.trim_end_matches([' ', '\t']);
    let digits = marker.trim_end_matches(['.', ')']);
    let listed = marker.is_empty()
        || marker.trim_start_matches(LIST_MARKS).is_empty()
        || (digits.len() < marker.len() && digits.bytes().all(|b| b.is_ascii_digit()));
    listed && matches!(body.trim(), "" | "x" | "X" | "✓" | "✔")
}

/// True for an amount at the end of a short list line: `- eggs [6]`.
pub(super) fn is_list_amount(text: &str, open: usize, end: usize) -> bool {
    let line = line_before(text, open).trim_start();
    let listed =
        line.starts_with(['-', '*', '•', '+']) || line.starts_with(|c: char| c.is_numeric());
    let closes = text[end..].trim_start_matches(' ').starts_with('\n') || end == text.len();
    listed && closes && line.split_whitespace().count() < 5
}

/// True for `Press [3]`, `step [2]`, `x = [1, 2]`, `[1] means`, and consecutively numbered lines.
pub(super) fn is_numbered_label(
    text: &str,
    (open, end): (usize, usize),
    several: bool,
    layout: CitationLayout,
) -> bool {
    let line = line_before(text, open);
    let before = line.trim_end();
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default().to_lowercase();
    let at_start = line.trim_start_matches(LIST_MARKS).is_empty();
    let is_point = at_start && !line.trim_start().is_empty();
    let listed = at_start && (is_point || layout.has_numbered_lines) && open < layout.sources_start;
    let near = &text[end..text.floor_char_boundary((end + NEXT_WORD_BYTES).min(text.len()))];
    let after = near.split_whitespace().next().unwrap_or_default();
    let word = word.as_str();
    listed
        || word_lists().explanation_verbs.contains(after)
        || word_lists().counted_words.contains(word)
        || (several && word_lists().value_words.contains(word))
}

/// The part of the line before an offset, cut to bound the work.
pub(super) fn line_before(text: &str, at: usize) -> &str {
    const MAX_LINE_BYTES: usize = 200;
    let from = text.ceil_char_boundary(at.saturating_sub(MAX_LINE_BYTES));
    text[from..at].rsplit('\n').next().unwrap_or_default()
}

pub(super) fn is_in_comment(text: &str, at: usize) -> bool {
    let line = line_before(text, at);
    let opens = ["//", "#", "--", "*", "/*", "<!--", ";", "%"];
    opens.iter().any(|mark| line.trim_start().starts_with(mark)) || line.contains(" // ")
}
