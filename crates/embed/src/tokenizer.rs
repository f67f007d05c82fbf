//! BERT's uncased tokenizer: lower case, no accents, punctuation separated, then WordPiece by greedy
//! longest match.

use std::ops::Range;

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

/// Calls `word` with each folded word or punctuation mark and its bytes in the text; stops when it
/// returns false.
pub(crate) fn for_each_word(text: &str, mut word: impl FnMut(&str, Range<usize>) -> bool) {
    let mut current = Word { folded: String::with_capacity(32), bytes: 0..0 };
    for part in text.split_whitespace() {
        let offset = part.as_ptr() as usize - text.as_ptr() as usize;
        let continues = if part.is_ascii() {
            let chars = part.bytes().enumerate().map(|(at, byte)| {
                (offset + at, offset + at + 1, char::from(byte.to_ascii_lowercase()))
            });
            split_chars(chars, |c| c.is_ascii_punctuation(), &mut current, &mut word)
        } else {
            let chars = part.char_indices().flat_map(|(at, c)| {
                let bytes = (offset + at, offset + at + c.len_utf8());
                c.to_lowercase().nfd().map(move |folded| (bytes.0, bytes.1, folded))
            });
            let plain = chars.filter(|(_, _, c)| !is_combining_mark(*c));
            split_chars(plain, is_single_token, &mut current, &mut word)
        };
        if !continues || !current.flush(&mut word) {
            return;
        }
    }
}

/// A word that is being collected.
struct Word {
    folded: String,
    /// Its bytes in the text.
    bytes: Range<usize>,
}

impl Word {
    fn push(&mut self, (start, end, folded): (usize, usize, char)) {
        if self.folded.is_empty() {
            self.bytes.start = start;
        }
        self.bytes.end = end;
        self.folded.push(folded);
    }

    fn flush(&mut self, word: &mut impl FnMut(&str, Range<usize>) -> bool) -> bool {
        let continues = self.folded.is_empty() || word(&self.folded, self.bytes.clone());
        self.folded.clear();
        continues
    }
}

/// Splits folded characters, each with the start and end of its bytes in the text.
fn split_chars(
    chars: impl Iterator<Item = (usize, usize, char)>,
    is_token: impl Fn(char) -> bool,
    current: &mut Word,
    word: &mut impl FnMut(&str, Range<usize>) -> bool,
) -> bool {
    for (start, end, c) in chars {
        if is_token(c) {
            if !current.flush(word) || !word(c.encode_utf8(&mut [0; 4]), start..end) {
                return false;
            }
        } else if !c.is_control() {
            current.push((start, end, c));
        }
    }
    true
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
            for_each_word(text, |w, bytes| {
                assert!(text.get(bytes).is_some(), "{text}");
                got.push(w.to_owned());
                true
            });
            assert_eq!(got, *expected, "{text}");
        }
    }
}
