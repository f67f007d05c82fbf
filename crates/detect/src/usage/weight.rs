//! How much a word says: nothing for "the" and `return`, most for a name, a figure or a rare word.

use embed::built_in;

use super::lists::lists;
use super::reading::{Piece, Reading, Sort};
use crate::lexicon::lexicon;

/// The built-in vocabulary is sorted by how often words occur; words in it up to here are everyday
/// ones, and up to the second they are known to everybody. It knows English best: words of other
/// languages mostly come out as rare, which is why formulas are listed for those.
const EVERYDAY: u32 = 3_500;
const KNOWN: u32 = 9_000;

/// How rare a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// Carries no meaning of its own, or is a keyword of programming languages.
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

/// The weight of a piece of prose.
pub(super) fn weight_of(reading: &Reading, piece: &Piece) -> Weight {
    let word = reading.word(piece);
    match piece.sort {
        // A single digit is a step of a list as often as a fact.
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

/// The weight of a piece of code, where requests, rows and borders are everyday matters and 0, 10 and
/// 404 say nothing.
pub(super) fn weight_in_code(reading: &Reading, piece: &Piece) -> Weight {
    let short = piece.to - piece.from < 4;
    if lists().code_words.contains(&piece.hash) || (piece.sort == Sort::Number && short) {
        return Weight::Empty;
    }
    weight_of(reading, piece)
}

/// Where a word stands in the vocabulary when it is one whole token of it.
pub(super) fn vocabulary_place(word: &str) -> Option<u32> {
    built_in().whole_token(word)
}

/// Whether a word can bear out a name: a rare or known one, or a figure.
pub(super) fn is_telling(piece: &Piece, weight: Weight) -> bool {
    match piece.sort {
        Sort::Letters => weight >= Weight::Known && piece.to - piece.from >= 4,
        Sort::Number | Sort::Mixed => piece.to - piece.from >= 2,
        Sort::Sign => false,
    }
}

/// Whether anybody may write the word without meaning anything in particular: it is in the
/// vocabulary, or one of those that speak of software or shops in any language.
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
