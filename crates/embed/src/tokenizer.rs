//! BERT's uncased tokenizer: lower case, no accents, punctuation separated, then WordPiece by greedy
//! longest match.

use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longer words map to the unknown token, as in BERT.
const MAX_WORD_CHARS: usize = 100;
const UNKNOWN_TOKEN: u32 = 100;

/// Vocabulary of pieces that start a word and pieces that continue one.
pub(crate) struct Vocabulary {
    starts: FxHashMap<&'static [u8], u32>,
    continues: FxHashMap<&'static [u8], u32>,
    max_piece_bytes: usize,
}

impl Vocabulary {
    /// One token per line; its id is the line index.
    pub(crate) fn new(lines: &'static str) -> Self {
        let (mut starts, mut continues) = (FxHashMap::default(), FxHashMap::default());
        let mut longest = 0;
        for (id, token) in (0u32..).zip(lines.lines()) {
            longest = longest.max(token.len());
            match token.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => continues.insert(rest.as_bytes(), id),
                Some(_) | None => starts.insert(token.as_bytes(), id),
            };
        }
        Self { starts, continues, max_piece_bytes: longest }
    }

    pub(crate) fn whole_token(&self, word: &str) -> Option<u32> {
        self.starts.get(word.as_bytes()).copied()
    }

    /// Calls `piece` with each token id of a folded word.
    pub(crate) fn for_each_piece(&self, word: &str, mut piece: impl FnMut(u32)) {
        if let Some(&id) = self.starts.get(word.as_bytes()) {
            return piece(id);
        }
        let mut found = [0u32; MAX_WORD_CHARS];
        let mut count = 0;
        let mut at = 0;
        if word.len() > MAX_WORD_CHARS * 4 || word.chars().count() > MAX_WORD_CHARS {
            return piece(UNKNOWN_TOKEN);
        }
        while at < word.len() {
            let Some((id, end)) = self.longest_piece(word, at) else { return piece(UNKNOWN_TOKEN) };
            found[count] = id;
            count += 1;
            at = end;
        }
        found[..count].iter().for_each(|&id| piece(id));
    }

    fn longest_piece(&self, word: &str, at: usize) -> Option<(u32, usize)> {
        let pieces = if at == 0 { &self.starts } else { &self.continues };
        let last = word.len().min(at + self.max_piece_bytes);
        (at + 1..=last)
            .rev()
            .filter(|&end| word.is_char_boundary(end))
            .find_map(|end| pieces.get(&word.as_bytes()[at..end]).map(|&id| (id, end)))
    }
}

/// Calls `word` for each folded word and punctuation mark; stops when it returns false.
pub(crate) fn for_each_word(text: &str, mut word: impl FnMut(&str) -> bool) {
    let mut current = String::with_capacity(32);
    for part in text.split_whitespace() {
        let continues = if part.is_ascii() {
            let chars = part.bytes().map(|byte| char::from(byte.to_ascii_lowercase()));
            split_chars(chars, |c| c.is_ascii_punctuation(), &mut current, &mut word)
        } else {
            let chars = part.chars().flat_map(char::to_lowercase).nfd();
            let plain = chars.filter(|c| !is_combining_mark(*c));
            split_chars(plain, is_single_token, &mut current, &mut word)
        };
        if !continues || !flush_word(&mut current, &mut word) {
            return;
        }
    }
}

fn split_chars(
    chars: impl Iterator<Item = char>,
    is_token: impl Fn(char) -> bool,
    current: &mut String,
    word: &mut impl FnMut(&str) -> bool,
) -> bool {
    for c in chars {
        if is_token(c) {
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
