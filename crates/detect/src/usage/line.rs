/// The part of the line before an offset, cut to bound the work.
pub(super) fn line_before(text: &str, at: usize) -> &str {
    const LONGEST_LINE: usize = 200;
    let from = text.ceil_char_boundary(at.saturating_sub(LONGEST_LINE));
    text[from..at].rsplit('\n').next().unwrap_or_default()
}

/// True when the offset is inside a line comment.
pub(super) fn is_in_comment(text: &str, at: usize) -> bool {
    let line = line_before(text, at);
    let opens = ["//", "#", "--", "*", "/*", "<!--", ";", "%"];
    opens.iter().any(|mark| line.trim_start().starts_with(mark)) || line.contains(" // ")
}
