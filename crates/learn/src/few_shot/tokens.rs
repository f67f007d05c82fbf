//! Token estimate without a model's vocabulary.

/// Estimates the number of tokens of a text, erring on the high side.
///
/// Byte-pair vocabularies use about one token per four English letters, two letters of another
/// alphabet, or one Chinese or Japanese character. About every second symbol of SQL or code is a
/// token.
pub fn estimate_tokens(text: &str) -> u32 {
    let quarters: u64 = text.chars().map(quarter_tokens).sum();
    u32::try_from(quarters.div_ceil(4)).unwrap_or(u32::MAX)
}

fn quarter_tokens(c: char) -> u64 {
    match c {
        'a'..='z' | 'A'..='Z' | ' ' | '\n' => 1,
        // Digits form tokens of up to three.
        '0'..='9' | '\0'..='\u{2e7f}' => 2,
        '\u{2e80}'..=char::MAX => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_estimate_depends_on_the_script() {
        for (text, tokens) in [
            ("", 0),
            ("a", 1),
            ("word", 1),
            ("four letters make a token", 7),
            ("売上合計", 4),
            ("a == b;", 3),
        ] {
            assert_eq!(estimate_tokens(text), tokens, "{text}");
        }
    }
}
