//! Word weights: 0 for stop words and keywords, 1 for names, numbers and rare words.

use embed::built_in;

use super::tokenizer::{Token, TokenKind, TokenizedText};
use super::word_lists::word_lists;
use crate::lexicon::lexicon;

/// Ranks in the built-in vocabulary, which is sorted by frequency: upper bounds of everyday and of
/// known words. The vocabulary is mostly English, so words of other languages tend to be rare;
/// their formulas are listed instead.
const MAX_EVERYDAY_RANK: u32 = 3_500;
const MAX_KNOWN_RANK: u32 = 9_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WordWeight {
    /// A stop word or a keyword of a programming language.
    Empty,
    Everyday,
    Known,
    Rare,
}

impl WordWeight {
    pub(super) fn as_f32(self) -> f32 {
        match self {
            Self::Empty => 0.0,
            Self::Everyday => 0.3,
            Self::Known => 0.7,
            Self::Rare => 1.0,
        }
    }
}

pub(super) fn weigh_word(tokenized: &TokenizedText, token: &Token) -> WordWeight {
    let word = tokenized.folded_token(token);
    match token.kind {
        // A single digit is often just a list number.
        TokenKind::Number if word.len() < 2 => return WordWeight::Everyday,
        TokenKind::Number | TokenKind::Mixed => return WordWeight::Rare,
        TokenKind::Sign => {
            let plain = word.chars().all(|c| matches!(u32::from(c), 0x3040..=0x309F));
            return if plain { WordWeight::Everyday } else { WordWeight::Known };
        }
        TokenKind::Letters => {}
    }
    if word.len() < 3
        || lexicon().is_stop_word(token.hash)
        || word_lists().keywords.contains(&token.hash)
    {
        return WordWeight::Empty;
    }
    // The rank of a word that is one whole token of the vocabulary.
    match built_in().whole_token(word) {
        Some(place) if place < MAX_EVERYDAY_RANK => WordWeight::Everyday,
        Some(place) if place < MAX_KNOWN_RANK => WordWeight::Known,
        Some(_) | None => WordWeight::Rare,
    }
}

/// Weight in code, where words such as "request" and "row" and short numbers carry no information.
pub(super) fn weigh_code_word(tokenized: &TokenizedText, token: &Token) -> WordWeight {
    let short_number = token.kind == TokenKind::Number && token.folded_bytes() < 4;
    if short_number || word_lists().code_words.contains(&token.hash) {
        return WordWeight::Empty;
    }
    weigh_word(tokenized, token)
}

/// True for a known or rare word, or a number with at least two digits.
pub(super) fn is_distinctive(token: &Token, weight: WordWeight) -> bool {
    match token.kind {
        TokenKind::Letters => weight >= WordWeight::Known && token.folded_bytes() >= 4,
        TokenKind::Number | TokenKind::Mixed => token.folded_bytes() >= 2,
        TokenKind::Sign => false,
    }
}

/// True for an ordinary word: in the vocabulary, or in the lists of software and commerce words.
pub(super) fn is_known_word(word: &str) -> bool {
    let listed = |word: &str| {
        let hash = crate::text::hash(0, word.as_bytes());
        let lists = word_lists();
        lists.everyday.contains(&hash)
            || lists.code_words.contains(&hash)
            || lists.keywords.contains(&hash)
            || lexicon().is_stop_word(hash)
    };
    built_in().whole_token(word).is_some()
        || listed(word)
        || word.strip_suffix('s').is_some_and(listed)
}
