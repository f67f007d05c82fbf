//! Sentences of answers and items, to compare their meaning.

use model::hash::GOLDEN_GAMMA;
use rustc_hash::FxHashSet;

use super::tokenizer::{Gap, Token, TokenKind, TokenizedText};
use super::word_lists::word_lists;
use crate::lexicon::lexicon;
use crate::text::hash;

/// Words that start with the same letters count as forms of one word: "approve", "approval".
const KEY_CHARS: usize = 5;
const MIN_WORD_BYTES: u32 = 3;
const NUMBER_SEED: u32 = 6;

/// Token range of a passage, end exclusive.
pub(super) type TokenRange = std::ops::Range<usize>;

/// Calls `sentence` with each sentence and each item of a list.
pub(super) fn for_each_sentence(
    text: &str,
    tokenized: &TokenizedText,
    range: TokenRange,
    mut sentence: impl FnMut(TokenRange),
) {
    let tokens = &tokenized.tokens;
    let (mut first, end) = (range.start, range.end);
    for at in range.skip(1) {
        if starts_sentence(text, &tokens[at - 1], &tokens[at]) {
            sentence(first..at);
            first = at;
        }
    }
    if first < end {
        sentence(first..end);
    }
}

/// Hashes of the words of each sentence in a range.
pub(super) fn hash_sentences(
    text: &str,
    tokenized: &TokenizedText,
    range: TokenRange,
) -> FxHashSet<u32> {
    let mut found = FxHashSet::default();
    for_each_sentence(text, tokenized, range, |sentence| {
        let words = &tokenized.tokens[sentence];
        found.insert(words.iter().fold(0, |key, word| hash(key, &word.hash.to_le_bytes())));
    });
    found
}

fn starts_sentence(text: &str, before: &Token, token: &Token) -> bool {
    match token.gap {
        Gap::Break => true,
        // The common case: one space.
        Gap::Space
            if token.start - before.end == 1 && text.as_bytes()[before.end as usize] != b'\n' =>
        {
            false
        }
        Gap::Space => {
            let between = &text[before.end as usize..token.start as usize];
            let is_new_line = between.contains('\n')
                && (token.is_capitalised
                    || token.kind == TokenKind::Number
                    || between.contains(['-', '*', '•', '+', '#', '|']));
            is_new_line || between.starts_with([';', ':', '；', '：'])
        }
        Gap::Tight => text[before.end as usize..token.start as usize].contains(['；', '：']),
        Gap::None | Gap::Underscore | Gap::Hyphen | Gap::Dot | Gap::Apostrophe => false,
    }
}

/// Key of a word or number, equal for forms of one word. `None` for stop words.
pub(super) fn content_key(tokenized: &TokenizedText, token: &Token) -> Option<u32> {
    match token.kind {
        TokenKind::Number | TokenKind::Mixed => number_key(tokenized, token),
        TokenKind::Letters => match word_lists().number_words.get(&token.hash) {
            Some(digits) => Some(seed_number(*digits)),
            None => word_key(tokenized, token).filter(|_| !lexicon().is_stop_word(token.hash)),
        },
        TokenKind::Sign => None,
    }
}

/// Key of the letters of a word, also of a stop word. `None` for short words.
fn word_key(tokenized: &TokenizedText, token: &Token) -> Option<u32> {
    if token.kind != TokenKind::Letters || token.folded_bytes() < MIN_WORD_BYTES {
        return None;
    }
    let word = tokenized.folded_token(token).as_bytes();
    let stem = if word.len() > 3 { word.strip_suffix(b"s").unwrap_or(word) } else { word };
    let mut key = 0u64;
    // Continuation bytes of UTF-8 start no character.
    let is_start = |byte: &&u8| (**byte & 0xC0) != 0x80;
    let end = match stem.get(..KEY_CHARS) {
        Some(start) if start.is_ascii() => KEY_CHARS,
        Some(_) => {
            let starts = stem.iter().enumerate().filter(|(_, byte)| is_start(byte));
            starts.map(|(at, _)| at).nth(KEY_CHARS).unwrap_or(stem.len())
        }
        None => stem.len(),
    };
    for byte in &stem[..end] {
        key = key.rotate_left(8) ^ u64::from(*byte);
    }
    let mixed = key.wrapping_mul(GOLDEN_GAMMA);
    Some((mixed >> 32) as u32)
}

/// Key of a number, or of the digits before a unit: "500" of "500mb".
fn number_key(tokenized: &TokenizedText, token: &Token) -> Option<u32> {
    let text = tokenized.folded_token(token);
    let length = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let digits = text[..length].trim_end_matches('.');
    if digits.is_empty() {
        return None;
    }
    // "1.000" is a thousand.
    let groups = digits.split('.').skip(1);
    let is_grouped = digits.contains('.') && groups.clone().all(|group| group.len() == 3);
    let whole: String;
    let digits = if is_grouped {
        whole = digits.replace('.', "");
        &whole
    } else {
        digits
    };
    let digits = digits.trim_start_matches('0');
    Some(seed_number(hash(0, if digits.is_empty() { b"0" } else { digits.as_bytes() })))
}

fn seed_number(digits: u32) -> u32 {
    hash(NUMBER_SEED, &digits.to_le_bytes())
}

/// The parts of a passage that another passage may share or contradict.
#[derive(Clone, Debug, Default)]
pub(super) struct PassageContent {
    /// Keys of words and numbers.
    pub(super) keys: FxHashSet<u32>,
    pub(super) numbers: FxHashSet<u32>,
    /// Hashes of the words as written.
    pub(super) words: FxHashSet<u32>,
    /// Rare words written as names.
    pub(super) names: FxHashSet<u32>,
}

impl PassageContent {
    /// `is_name` accepts a token that is written as a name.
    pub(super) fn new(
        tokenized: &TokenizedText,
        range: TokenRange,
        is_name: impl Fn(&Token) -> bool,
    ) -> Self {
        let mut content = Self::default();
        for token in &tokenized.tokens[range] {
            let Some(key) = content_key(tokenized, token) else { continue };
            content.keys.insert(key);
            let is_number = token.kind != TokenKind::Letters
                || word_lists().number_words.contains_key(&token.hash);
            if is_number {
                content.numbers.insert(key);
            } else {
                content.words.insert(token.hash);
                if is_name(token) {
                    content.names.insert(key);
                }
            }
        }
        content
    }

    /// True when each has a number that the other lacks, when both have names but none in common,
    /// or when one has the opposite of a word of the other.
    pub(super) fn contradicts(&self, other: &Self) -> bool {
        let differ = |one: &FxHashSet<u32>, two: &FxHashSet<u32>| {
            !one.is_empty() && !two.is_empty() && one.is_disjoint(two)
        };
        let is_opposite = |one: &u32| {
            !other.words.contains(one)
                && other
                    .words
                    .iter()
                    .any(|two| !self.words.contains(two) && lexicon().are_opposites(*one, *two))
        };
        let (mine, theirs) = (&self.numbers, &other.numbers);
        (!mine.is_subset(theirs) && !theirs.is_subset(mine))
            || differ(&self.names, &other.names)
            || self.words.iter().any(is_opposite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(text: &str) -> Vec<&str> {
        let tokenized = TokenizedText::new(text);
        let mut found = Vec::new();
        for_each_sentence(text, &tokenized, 0..tokenized.tokens.len(), |range| {
            let (first, last) = (&tokenized.tokens[range.start], &tokenized.tokens[range.end - 1]);
            found.push(&text[first.start as usize..last.end as usize]);
        });
        found
    }

    #[test]
    fn text_splits_at_sentences_and_list_items() {
        for (text, expected) in [
            ("It rains. It snows!", &["It rains", "It snows"][..]),
            ("Rules: no dogs; no cats", &["Rules", "no dogs", "no cats"]),
            ("- eggs\n- two cups of milk", &["eggs", "two cups of milk"]),
            ("a line that is\nwrapped here", &["a line that is\nwrapped here"]),
            ("First line\nSecond line", &["First line", "Second line"]),
            ("雨です。雪です。", &["雨です", "雪です"]),
            ("", &[]),
        ] {
            assert_eq!(sentences(text), expected, "{text}");
        }
    }

    fn content(text: &str) -> PassageContent {
        let tokenized = TokenizedText::new(text);
        PassageContent::new(&tokenized, 0..tokenized.tokens.len(), |token| token.is_capitalised)
    }

    #[test]
    fn other_numbers_names_and_opposites_contradict() {
        for (one, other, expected) in [
            ("up to 2 GB", "limited to two gigabytes", false),
            ("up to 2 GB", "limited to 500 MB", true),
            ("two days, then 5 euros", "two days, then 7 euros", true),
            ("two days, then 5 euros", "two days", false),
            ("costs 1,000 euros", "costs 1000 euros", false),
            ("opens at 08:00", "opens at 8:00", false),
            ("the train to Bergen", "the train to Oslo", true),
            ("the train to Bergen", "the slow train", false),
            ("install it first", "uninstall it first", true),
            ("open it, then close it", "close it", false),
        ] {
            assert_eq!(content(one).contradicts(&content(other)), expected, "{one} / {other}");
        }
    }
}
