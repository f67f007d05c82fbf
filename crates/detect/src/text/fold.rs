//! Text folding: lower case, no accents, one apostrophe, and words with their byte ranges.
//!
//! Only the beginning and the end of a long text are read, which bounds the work.

use std::ops::Range;

use model::hash::Fnv32;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Bytes read at the beginning of a text, and at its end when it is longer than both.
const HEAD_BYTES: usize = 2_400;
const TAIL_BYTES: usize = 800;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordKind {
    Letters,
    Number,
    /// One ideograph, kana or emoji. Languages without spaces are split into these.
    Sign,
    Mark,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    pub start: usize,
    pub end: usize,
    pub kind: WordKind,
    pub capital: bool,
    pub hash: u32,
    from: u32,
    to: u32,
}

impl Word {
    /// Bytes of the folded word.
    pub(crate) fn folded_len(&self) -> usize {
        (self.to - self.from) as usize
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FoldedText {
    folded: String,
    pub words: Vec<Word>,
}

impl FoldedText {
    pub(crate) fn new(original: &str) -> Self {
        let mut text = Self {
            folded: String::with_capacity(original.len().min(HEAD_BYTES + TAIL_BYTES) + 8),
            words: Vec::with_capacity(original.len().min(HEAD_BYTES + TAIL_BYTES) / 4),
        };
        if original.len() <= HEAD_BYTES + TAIL_BYTES {
            text.append_part(original, 0);
            return text;
        }
        let head = original.floor_char_boundary(HEAD_BYTES);
        let tail = original.ceil_char_boundary(original.len() - TAIL_BYTES);
        text.append_part(&original[..head], 0);
        text.append_part(&original[tail..], tail);
        text
    }

    pub(crate) fn folded_word(&self, word: &Word) -> &str {
        &self.folded[word.from as usize..word.to as usize]
    }

    /// The folded text of neighbouring words, without what separates them.
    pub(crate) fn folded_words(&self, at: Range<usize>) -> &str {
        match self.words.get(at) {
            Some([first, .., last]) => &self.folded[first.from as usize..last.to as usize],
            Some([only]) => self.folded_word(only),
            Some([]) | None => "",
        }
    }

    pub(crate) fn lexical_words(&self) -> impl DoubleEndedIterator<Item = &Word> {
        self.words.iter().filter(|w| w.kind != WordKind::Mark)
    }

    /// Hashes of the words without punctuation, in order.
    pub(crate) fn word_hashes(&self) -> impl Iterator<Item = u32> {
        self.lexical_words().map(|w| w.hash)
    }

    fn append_part(&mut self, part: &str, offset: usize) {
        let mut chars = part.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            // Skin tone modifiers carry no meaning.
            if c.is_whitespace() || c.is_control() || ('🏻'..='🏿').contains(&c) {
                continue;
            }
            let from = self.folded.len();
            let mut end = at + c.len_utf8();
            let kind = classify_char(c);
            self.push_folded(c);
            if matches!(kind, WordKind::Letters | WordKind::Number) {
                while let Some(&(next_at, next)) = chars.peek() {
                    let rest = &part[next_at + next.len_utf8()..];
                    if !continues_word(kind, next, rest) {
                        break;
                    }
                    self.push_folded(next);
                    end = next_at + next.len_utf8();
                    chars.next();
                }
            }
            self.push_word(from, offset + at, offset + end, kind, c.is_uppercase());
        }
    }

    fn push_word(&mut self, from: usize, start: usize, end: usize, kind: WordKind, capital: bool) {
        let to = self.folded.len();
        if from == to {
            return;
        }
        let hash = hash(0, &self.folded.as_bytes()[from..to]);
        let (from, to) = (from as u32, to as u32);
        self.words.push(Word { start, end, kind, capital, hash, from, to });
    }

    fn push_folded(&mut self, c: char) {
        match c {
            _ if c.is_ascii() => self.folded.push(c.to_ascii_lowercase()),
            '’' | '‘' | 'ʼ' | '´' => self.folded.push('\''),
            '？' => self.folded.push('?'),
            '！' => self.folded.push('!'),
            '，' | '、' => self.folded.push(','),
            '。' => self.folded.push('.'),
            _ if is_sign(c) => self.folded.push(c),
            _ => {
                let plain = c.to_lowercase().nfd().filter(|c| !is_combining_mark(*c));
                self.folded.extend(plain);
            }
        }
    }
}

fn classify_char(c: char) -> WordKind {
    if is_sign(c) {
        WordKind::Sign
    } else if c.is_numeric() {
        WordKind::Number
    } else if c.is_alphabetic() {
        WordKind::Letters
    } else {
        WordKind::Mark
    }
}

/// True when `next` continues the word: a letter, a digit, or an inner apostrophe or decimal mark.
fn continues_word(kind: WordKind, next: char, rest: &str) -> bool {
    if is_sign(next) {
        return false;
    }
    if next.is_alphanumeric() || is_combining_mark(next) {
        return true;
    }
    let follows = rest.chars().next();
    match (kind, next) {
        (WordKind::Letters, '\'' | '’' | 'ʼ') => follows.is_some_and(char::is_alphabetic),
        (WordKind::Number, '.' | ',') => follows.is_some_and(char::is_numeric),
        _ => false,
    }
}

/// True for kana, ideographs and emoji that express approval or disapproval.
fn is_sign(c: char) -> bool {
    let is_feedback_emoji = matches!(c, '👌'..='👏' | '🙏' | '❤' | '💯' | '🎉' | '😊' | '😍'
        | '😠'..='😡' | '🤬' | '🤦' | '💩');
    is_feedback_emoji || is_ideograph(c)
}

/// True for kana and CJK ideographs.
pub(crate) fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF
        | 0x20000..=0x2CEAF | 0xFF66..=0xFF9D)
}

/// FNV-1a with a seed and a final mix. Stable across platforms.
pub(crate) fn hash(seed: u32, bytes: &[u8]) -> u32 {
    let start = WordHasher::new(seed);
    bytes.iter().fold(start, |hashing, byte| hashing.add_byte(*byte)).finish()
}

/// Incremental form of [`hash`], for loops that visit each byte anyway.
#[derive(Clone, Copy)]
pub(crate) struct WordHasher(Fnv32);

impl WordHasher {
    pub(crate) fn new(seed: u32) -> Self {
        Self(Fnv32(Fnv32::default().0 ^ seed.wrapping_mul(0x9e37_79b9)))
    }

    #[inline]
    pub(crate) fn add_byte(self, byte: u8) -> Self {
        Self(self.0.add_byte(byte))
    }

    pub(crate) fn finish(self) -> u32 {
        let Fnv32(sum) = self.0;
        let mut hash = sum ^ (sum >> 15);
        hash = hash.wrapping_mul(0x2c1b_3c6d);
        hash ^ (hash >> 13)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded_words(original: &str) -> Vec<String> {
        let text = FoldedText::new(original);
        text.words.iter().map(|w| text.folded_word(w).to_owned()).collect()
    }

    #[test]
    fn folding_lowercases_words_and_separates_punctuation() {
        let rows: &[(&str, &[&str])] = &[
            ("No, that’s WRONG!", &["no", ",", "that's", "wrong", "!"]),
            ("São Paulo 1,299.50€", &["sao", "paulo", "1,299.50", "€"]),
            ("不是，谢谢。", &["不", "是", ",", "谢", "谢", "."]),
            ("e\u{301}te\u{301}", &["ete"]),
            ("don't 'quote' it", &["don't", "'", "quote", "'", "it"]),
            ("\u{301}", &[]),
            ("👍🏽ok ❤\u{fe0f}", &["👍", "ok", "❤"]),
        ];
        for (original, expected) in rows {
            assert_eq!(folded_words(original), *expected, "{original}");
        }
    }

    #[test]
    fn word_ranges_are_bytes_of_the_original() {
        let original = "Ça, c’est “faux” 不是";
        for word in FoldedText::new(original).words {
            assert!(original.get(word.start..word.end).is_some_and(|w| !w.trim().is_empty()));
        }
    }

    #[test]
    fn long_text_is_folded_at_both_ends() {
        let original = format!("first {} last", "é ".repeat(50_000));
        let words = folded_words(&original);
        assert_eq!((words[0].as_str(), words.last().map(String::as_str)), ("first", Some("last")));
        assert!(words.len() < 1_500);
    }
}
