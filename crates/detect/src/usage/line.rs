//! Where in its line something stands.

/// The line before a place, or the end of it when it is long: the work must stay bounded.
pub(super) fn line_before(text: &str, at: usize) -> &str {
    const LONGEST_LINE: usize = 200;
    let from = text.ceil_char_boundary(at.saturating_sub(LONGEST_LINE));
    text[from..at].rsplit('\n').next().unwrap_or_default()
}

/// Whether the line before a place is a comment so far.
pub(super) fn is_in_comment(text: &str, at: usize) -> bool {
    let line = line_before(text, at);
    let opens = ["//", "#", "--", "*", "/*", "<!--", ";", "%"];
    opens.iter().any(|mark| line.trim_start().starts_with(mark)) || line.contains(" // ")
}
