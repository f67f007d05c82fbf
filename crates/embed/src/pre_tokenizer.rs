//! BERT's uncased pre-tokenizer: lower case, no accents, punctuation separated.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Calls `word` for each folded word and punctuation mark; stops when it returns false.
pub(crate) fn for_each_word(text: &str, mut word: impl FnMut(&str) -> bool) {
    let mut current = String::with_capacity(32);
    for part in text.split_whitespace() {
        let continues = if part.is_ascii() {
            split_ascii(part, &mut current, &mut word)
        } else {
            split_unicode(part, &mut current, &mut word)
        };
        if !continues || !flush_word(&mut current, &mut word) {
            return;
        }
    }
}

fn split_ascii(part: &str, current: &mut String, word: &mut impl FnMut(&str) -> bool) -> bool {
    for byte in part.bytes() {
        let c = char::from(byte.to_ascii_lowercase());
        if c.is_ascii_punctuation() {
            if !flush_word(current, word) || !word(c.encode_utf8(&mut [0; 4])) {
                return false;
            }
        } else if !c.is_ascii_control() {
            current.push(c);
        }
    }
    true
}

fn split_unicode(part: &str, current: &mut String, word: &mut impl FnMut(&str) -> bool) -> bool {
    for c in part.chars().flat_map(char::to_lowercase).nfd().filter(|c| !is_combining_mark(*c)) {
        if is_single_token(c) {
            if !flush_word(current, word) || !word(c.encode_utf8(&mut [0; 4])) {
                return false;
            }
        } else if !c.is_control() {
            current.push(c);
        }
    }
    true
}

fn flush_word(current: &mut String, word: &mut impl FnMut(&str) -> bool) -> bool {
    let continues = current.is_empty() || word(current);
    current.clear();
    continues
}

/// True for punctuation and ideographs, which are tokens of their own.
fn is_single_token(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(u32::from(c),
            0x2010..=0x2027 | 0x2030..=0x205E | 0x3001..=0x3003 | 0x3008..=0x3011 | 0x3014..=0x301F
            | 0xFF01..=0xFF0F | 0xFF1A..=0xFF20 | 0xFF5B..=0xFF65 | 0xA1 | 0xA7 | 0xAB | 0xB6 | 0xB7
            | 0xBB | 0xBF
            | 0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2CEAF
            | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_punctuation_is_separated() {
        let rows: &[(&str, &[&str])] = &[
            ("What's up?", &["what", "'", "s", "up", "?"]),
            ("Zürich, CAFÉ", &["zurich", ",", "cafe"]),
            ("東京へ行く", &["東", "京", "へ", "行", "く"]),
            ("  \t\n", &[]),
            ("a\u{0}b", &["ab"]),
            ("“So”—no…", &["“", "so", "”", "—", "no", "…"]),
        ];
        for (text, expected) in rows {
            let mut got = Vec::new();
            for_each_word(text, |w| {
                got.push(w.to_owned());
                true
            });
            assert_eq!(got, *expected, "{text}");
        }
    }
}
