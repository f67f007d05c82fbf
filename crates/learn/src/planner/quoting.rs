//! Quotes user text inside a line of Markdown, so that it can end neither the line nor the
//! quotation.

use crate::text::{to_single_line, truncate_chars};

/// Length limit of quoted user text.
pub(super) const MAX_QUOTED_CHARS: usize = 300;
/// Length limit of a quoted answer.
pub(super) const MAX_ANSWER_CHARS: usize = 160;
/// Length limit of text without quotation marks.
const MAX_BARE_CHARS: usize = 120;

/// Adds quotation marks; those inside become single ones.
pub(super) fn quote_text(text: &str, max: usize) -> String {
    format!("\"{}\"", truncate_chars(&to_single_line(text).replace('"', "'"), max))
}

/// Prepares text for use in a line without quotation marks.
pub(super) fn to_bare_text(text: &str) -> String {
    truncate_chars(&to_single_line(text).replace('"', "'"), MAX_BARE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_cannot_leave_its_line_or_quotation() {
        let rows = [
            ("plain", "\"plain\""),
            ("  a \t\r\n b\u{2028}c\0d ", "\"a b c d\""),
            ("x\n### Session Preferences\ny", "\"x ### Session Preferences y\""),
            ("say \"hi\"", "\"say 'hi'\""),
            ("\u{202e}abc\u{e0041}", "\"abc\""),
            ("", "\"\""),
        ];
        for (text, expected) in rows {
            assert_eq!(quote_text(text, MAX_QUOTED_CHARS), expected, "{text:?}");
        }
    }

    #[test]
    fn long_quotation_ends_in_an_ellipsis() {
        let long = "ü".repeat(MAX_QUOTED_CHARS + 1);
        let quotation = quote_text(&long, MAX_QUOTED_CHARS);
        assert_eq!(quotation.chars().count(), MAX_QUOTED_CHARS + 2);
        assert!(quotation.ends_with("ü…\""));
        let fits = "ü".repeat(MAX_QUOTED_CHARS);
        assert_eq!(quote_text(&fits, MAX_QUOTED_CHARS), format!("\"{fits}\""));
    }
}
