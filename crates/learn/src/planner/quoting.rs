//! Makes text harmless inside a line of Markdown: it can neither end the line nor the quotation.

/// The longest text of a user that is quoted, in characters.
pub(super) const QUOTED: usize = 300;
/// The longest answer that is quoted.
pub(super) const ANSWER: usize = 160;
/// The longest text that stands in a line without quotation marks.
const BARE: usize = 120;

/// One line: line ends and control characters are spaces, and spaces do not repeat.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(1024));
    for c in text.chars().filter(|c| !is_invisible(*c)) {
        let blank = c.is_whitespace() || c.is_control();
        if !blank {
            line.push(c);
        } else if !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// In quotation marks; those inside become single ones.
pub(super) fn quoted(text: &str, most: usize) -> String {
    format!("\"{}\"", clipped(&one_line(text).replace('"', "'"), most))
}

/// Without quotation marks, for the middle of a line.
pub(super) fn bare(text: &str) -> String {
    clipped(&one_line(text).replace('"', "'"), BARE)
}

fn clipped(line: &str, most: usize) -> String {
    if line.chars().count() <= most {
        return line.to_owned();
    }
    let kept: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Characters that nobody sees but a model reads, or that turn the direction of what follows.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_on_its_line_and_inside_its_quotation() {
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
    fn a_long_text_ends_in_an_ellipsis() {
        let long = "ü".repeat(QUOTED + 1);
        let quotation = quoted(&long, QUOTED);
        assert_eq!(quotation.chars().count(), QUOTED + 2);
        assert!(quotation.ends_with("ü…\""));
        let fits = "ü".repeat(QUOTED);
        assert_eq!(quoted(&fits, QUOTED), format!("\"{fits}\""));
    }
}
