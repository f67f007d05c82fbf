//! Makes text harmless inside a line of Markdown: it can neither end the line nor the quotation.

use crate::text::{to_single_line, truncate_chars};

/// The longest text of a user that is quoted, in characters.
pub(super) const QUOTED: usize = 300;
/// The longest answer that is quoted.
pub(super) const ANSWER: usize = 160;
/// The longest text that stands in a line without quotation marks.
const BARE: usize = 120;

/// In quotation marks; those inside become single ones.
pub(super) fn quoted(text: &str, most: usize) -> String {
    format!("\"{}\"", truncate_chars(&to_single_line(text).replace('"', "'"), most))
}

/// Without quotation marks, for the middle of a line.
pub(super) fn bare(text: &str) -> String {
    truncate_chars(&to_single_line(text).replace('"', "'"), BARE)
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
            assert_eq!(quoted(text, QUOTED), expected, "{text:?}");
        }
    }

    #[test]
    fn long_quotation_ends_in_an_ellipsis() {
        let long = "ü".repeat(QUOTED + 1);
        let quotation = quoted(&long, QUOTED);
        assert_eq!(quotation.chars().count(), QUOTED + 2);
        assert!(quotation.ends_with("ü…\""));
        let fits = "ü".repeat(QUOTED);
        assert_eq!(quoted(&fits, QUOTED), format!("\"{fits}\""));
    }
}
