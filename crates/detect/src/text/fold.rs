//! Text folding: lower case, no accents, one apostrophe, and words with their byte ranges.
//!
//! Only the beginning and the end of a long text are read, which bounds the work.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Bytes read at the beginning of a text, and at its end when it is longer than both.
const HEAD: usize = 2_400;
const TAIL: usize = 800;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters, possibly with digits and apostrophes.
    Letters,
    /// Digits with separators: 1,299.50.
    Number,
    /// One ideograph, kana or emoji. Languages without spaces are split into these.
    Sign,
    Mark,
}

/// A word with its byte range in the original.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    /// Byte range in the original.
    pub start: usize,
    pub end: usize,
    pub kind: Kind,
    pub capital: bool,
    pub hash: u32,
    from: u32,
    to: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    folded: String,
    pub words: Vec<Word>,
}

impl Text {
    pub(crate) fn read(original: &str) -> Self {
        let mut text = Self {
            folded: String::with_capacity(original.len().min(HEAD + TAIL) + 8),
            words: Vec::with_capacity(original.len().min(HEAD + TAIL) / 4),
        };
        if original.len() <= HEAD + TAIL {
            text.take(original, 0);
            return text;
        }
        let head = original.floor_char_boundary(HEAD);
        let tail = original.ceil_char_boundary(original.len() - TAIL);
        text.take(&original[..head], 0);
        text.take(&original[tail..], tail);
        text
    }

    pub(crate) fn folded(&self, word: &Word) -> &str {
        &self.folded[word.from as usize..word.to as usize]
    }

    /// Words without punctuation.
    pub(crate) fn spoken(&self) -> impl DoubleEndedIterator<Item = &Word> {
        self.words.iter().filter(|w| w.kind != Kind::Mark)
    }

    fn take(&mut self, part: &str, offset: usize) {
        let mut chars = part.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            // Skin tone modifiers carry no meaning.
            if c.is_whitespace() || c.is_control() || ('🏻'..='🏿').contains(&c) {
                continue;
            }
            let from = self.folded.len();
            let mut end = at + c.len_utf8();
            let kind = kind_of(c);
            self.push_folded(c);
            if matches!(kind, Kind::Letters | Kind::Number) {
                while let Some(&(next_at, next)) = chars.peek() {
                    let rest = &part[next_at + next.len_utf8()..];
                    if !joins(kind, next, rest) {
                        break;
                    }
                    self.push_folded(next);
                    end = next_at + next.len_utf8();
                    chars.next();
                }
            }
            self.close(from, offset + at, offset + end, kind, c.is_uppercase());
        }
    }

    fn close(&mut self, from: usize, start: usize, end: usize, kind: Kind, capital: bool) {
        let to = self.folded.len();
        if from == to {
            return;
        }
        let hash = hash(0, &self.folded.as_bytes()[from..to]);
        let (from, to) = (from as u32, to as u32);
        self.words.push(Word { start, end, kind, capital, hash, from, to });
    }

    fn push_folded(&mut self, c: char) {
        if c.is_ascii() {
            self.folded.push(c.to_ascii_lowercase());
        } else if matches!(c, '’' | '‘' | 'ʼ' | '´') {
            self.folded.push('\'');
        } else if c == '？' {
            self.folded.push('?');
        } else if c == '！' {
            self.folded.push('!');
        } else if matches!(c, '，' | '、') {
            self.folded.push(',');
        } else if c == '。' {
            self.folded.push('.');
        } else if is_sign(c) {
            self.folded.push(c);
        } else {
            let plain = c.to_lowercase().nfd().filter(|c| !is_combining_mark(*c));
            self.folded.extend(plain);
        }
    }
}

fn kind_of(c: char) -> Kind {
    if is_sign(c) {
        Kind::Sign
    } else if c.is_numeric() {
        Kind::Number
    } else if c.is_alphabetic() {
        Kind::Letters
    } else {
        Kind::Mark
    }
}

/// True when `next` continues the word: a letter, a digit, or an inner apostrophe or decimal mark.
fn joins(kind: Kind, next: char, rest: &str) -> bool {
    if is_sign(next) {
        return false;
    }
    if next.is_alphanumeric() || is_combining_mark(next) {
        return true;
    }
    let follows = rest.chars().next();
    match (kind, next) {
        (Kind::Letters, '\'' | '’' | 'ʼ') => follows.is_some_and(char::is_alphabetic),
        (Kind::Number, '.' | ',') => follows.is_some_and(char::is_numeric),
        _ => false,
    }
}

/// True for kana, ideographs and emoji that express approval or disapproval.
fn is_sign(c: char) -> bool {
    // 👌👍👎👏 🙏 ❤ 💯 🎉 😊 😍 😠😡 🤬 🤦 💩
    const TELLING: [std::ops::RangeInclusive<char>; 11] = [
        '👌'..='👏',
        '🙏'..='🙏',
        '❤'..='❤',
        '💯'..='💯',
        '🎉'..='🎉',
        '😊'..='😊',
        '😍'..='😍',
        '😠'..='😡',
        '🤬'..='🤬',
        '🤦'..='🤦',
        '💩'..='💩',
    ];
    if c >= '❤' && TELLING.iter().any(|some| some.contains(&c)) {
        return true;
    }
    matches!(u32::from(c), 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF
        | 0x20000..=0x2CEAF | 0xFF66..=0xFF9D)
}

/// FNV-1a with a seed and a final mix. Stable across platforms.
pub(crate) fn hash(seed: u32, bytes: &[u8]) -> u32 {
    let start = Hashing::start(seed);
    bytes.iter().fold(start, |hashing, byte| hashing.and(*byte)).end()
}

/// Incremental form of [`hash`], for loops that visit each byte anyway.
#[derive(Clone, Copy)]
pub(crate) struct Hashing(u32);

impl Hashing {
    pub(crate) fn start(seed: u32) -> Self {
        Self(0x811c_9dc5 ^ seed.wrapping_mul(0x9e37_79b9))
    }

    #[inline]
    pub(crate) fn and(self, byte: u8) -> Self {
        Self((self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    pub(crate) fn end(self) -> u32 {
        let mut hash = self.0 ^ (self.0 >> 15);
        hash = hash.wrapping_mul(0x2c1b_3c6d);
        hash ^ (hash >> 13)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(original: &str) -> Vec<String> {
        let text = Text::read(original);
        text.words.iter().map(|w| text.folded(w).to_owned()).collect()
    }

    #[test]
    fn words_are_folded_and_marks_stand_apart() {
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
            assert_eq!(folded(original), *expected, "{original}");
        }
    }

    #[test]
    fn places_are_bytes_of_the_original() {
        let original = "Ça, c’est “faux” 不是";
        for word in Text::read(original).words {
            assert!(original.get(word.start..word.end).is_some_and(|w| !w.trim().is_empty()));
        }
    }

    #[test]
    fn a_long_text_is_read_at_both_ends() {
        let original = format!("first {} last", "é ".repeat(50_000));
        let words = folded(&original);
        assert_eq!((words[0].as_str(), words.last().map(String::as_str)), ("first", Some("last")));
        assert!(words.len() < 1_500);
    }
}
