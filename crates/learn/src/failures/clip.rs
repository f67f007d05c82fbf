//! Texts as they are told: of limited length.

/// Characters of a question or a remark.
pub(super) const QUOTE: usize = 300;
/// Characters of a label, a topic, a side of a contrast, the type of an error.
pub(super) const NAME: usize = 120;

/// At most so many characters; what is cut off leaves an ellipsis.
pub(super) fn clipped(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_only_when_it_is_too_long() {
        let rows =
            [("abc", "abc"), ("äöüß", "äöüß"), ("äöüßx", "äöü…"), ("ab cde", "ab…"), ("", "")];
        for (text, expected) in rows {
            assert_eq!(clipped(text, 4), expected, "{text}");
        }
        assert_eq!(clipped(&"🦀".repeat(5_000), QUOTE).chars().count(), QUOTE);
    }
}
