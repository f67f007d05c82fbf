//! Word weights: 0 for stop words and keywords, 1 for names, numbers and rare words.

use embed::built_in;

use super::tokenizer::{Piece, Reading, Sort};
use super::word_lists::lists;
use crate::lexicon::lexicon;

/// Ranks in the built-in vocabulary, which is sorted by frequency: upper bounds of everyday and of
/// known words. The vocabulary is mostly English, so words of other languages tend to be rare;
/// their formulas are listed instead.
const EVERYDAY: u32 = 3_500;
const KNOWN: u32 = 9_000;

/// Rarity of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// A stop word or a keyword of a programming language.
    Empty,
    Everyday,
    Known,
    Rare,
}

impl Weight {
    pub(super) fn number(self) -> f32 {
        match self {
            Self::Empty => 0.0,
            Self::Everyday => 0.3,
            Self::Known => 0.7,
            Self::Rare => 1.0,
        }
    }
}

pub(super) fn weight_of(reading: &Reading, piece: &Piece) -> Weight {
    let word = reading.word(piece);
    match piece.sort {
        // A single digit is often just a list number.
        Sort::Number if word.len() < 2 => return Weight::Everyday,
        Sort::Number | Sort::Mixed => return Weight::Rare,
        Sort::Sign => {
            let plain = word.chars().all(|c| matches!(u32::from(c), 0x3040..=0x309F));
            return if plain { Weight::Everyday } else { Weight::Known };
        }
        Sort::Letters => {}
    }
    if word.len() < 3 || lexicon().is_common(piece.hash) || lists().keywords.contains(&piece.hash) {
        return Weight::Empty;
    }
    match vocabulary_place(word) {
        Some(place) if place < EVERYDAY => Weight::Everyday,
        Some(place) if place < KNOWN => Weight::Known,
        Some(_) | None => Weight::Rare,
    }
}

/// Weight in code, where words such as "request" and "row" and short numbers carry no information.
pub(super) fn weight_in_code(reading: &Reading, piece: &Piece) -> Weight {
    let short = piece.to - piece.from < 4;
    if lists().code_words.contains(&piece.hash) || (piece.sort == Sort::Number && short) {
        return Weight::Empty;
    }
    weight_of(reading, piece)
}

/// Rank of a word that is one whole token of the vocabulary.
pub(super) fn vocabulary_place(word: &str) -> Option<u32> {
    built_in().whole_token(word)
}

/// True for a known or rare word, or a number with at least two digits.
pub(super) fn is_telling(piece: &Piece, weight: Weight) -> bool {
    match piece.sort {
        Sort::Letters => weight >= Weight::Known && piece.to - piece.from >= 4,
        Sort::Number | Sort::Mixed => piece.to - piece.from >= 2,
        Sort::Sign => false,
    }
}

/// True for an ordinary word: in the vocabulary, or in the lists of software and commerce words.
pub(super) fn is_known_word(word: &str) -> bool {
    let listed = |word: &str| {
        let hash = crate::text::hash(0, word.as_bytes());
        let lists = lists();
        lists.everyday.contains(&hash)
            || lists.code_words.contains(&hash)
            || lists.keywords.contains(&hash)
            || lexicon().is_common(hash)
    };
    vocabulary_place(word).is_some() || listed(word) || word.strip_suffix('s').is_some_and(listed)
}
