//! Text clean-up shared by prompts and reports.

pub(crate) const MAX_QUOTED_CHARS: usize = 300;
pub(crate) const MAX_ANSWER_CHARS: usize = 160;
const MAX_BARE_CHARS: usize = 120;

/// Replaces line ends and control characters by single spaces and drops invisible characters.
pub(crate) fn to_single_line(text: &str) -> String {
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

/// Cuts a text to `max` characters; a cut text ends in an ellipsis.
pub(crate) fn truncate_chars(text: &str, max: usize) -> String {
    if text.chars().nth(max).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(max.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// True for a word of a space-separated list.
pub(crate) fn list_contains(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Characters that are invisible to people but read by models, or that change text direction.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Quotes user text inside a line of Markdown, so that it can end neither the line nor the quotation.
pub(crate) fn quote_text(text: &str, max: usize) -> String {
    format!("\"{}\"", truncate_chars(&to_single_line(text).replace('"', "'"), max))
}

/// Prepares text for use in a line without quotation marks.
pub(crate) fn to_bare_text(text: &str) -> String {
    truncate_chars(&to_single_line(text).replace('"', "'"), MAX_BARE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncation_respects_character_boundaries_and_short_texts() {
        let rows =
            [("abc", "abc"), ("äöüß", "äöüß"), ("äöüßx", "äöü…"), ("ab cde", "ab…"), ("", "")];
        for (text, expected) in rows {
            assert_eq!(truncate_chars(text, 4), expected, "{text}");
        }
        assert_eq!(truncate_chars(&"🦀".repeat(5_000), 300).chars().count(), 300);
    }

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
