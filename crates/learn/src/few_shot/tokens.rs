//! How long a text is for a model, about.

/// How many tokens a text has, about, without the vocabulary of any model; on the side of too many.
///
/// Byte-pair vocabularies make a token of about four letters of English, of about two letters of
/// another alphabet, and of one sign of Chinese or Japanese; of symbols, as in SQL or code, every
/// second is a token of its own.
pub fn estimated_tokens(text: &str) -> u32 {
    let quarters: u64 = text.chars().map(quarters).sum();
    u32::try_from(quarters.div_ceil(4)).unwrap_or(u32::MAX)
}

fn quarters(c: char) -> u64 {
    match c {
        'a'..='z' | 'A'..='Z' | ' ' | '\n' => 1,
        // Digits come in groups of up to three.
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
            assert_eq!(estimated_tokens(text), tokens, "{text}");
        }
    }
}
