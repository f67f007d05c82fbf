//! Text clean-up shared by prompts and reports.

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

/// Characters that are invisible to people but read by models, or that change text direction.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
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
}
