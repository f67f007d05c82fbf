//! Five-word runs (shingles) within a sentence, with rolling hash keys.

use model::hash::GOLDEN_GAMMA;

use super::tokenizer::{Gap, Token};

pub(super) const RUN_WORDS: usize = 5;

/// The base of the hash to the power of `RUN_WORDS + 1`: the factor of a word that leaves the run.
const LEAVING_WORD_FACTOR: u64 = GOLDEN_GAMMA.wrapping_pow(RUN_WORDS as u32 + 1);

/// Start token and key of each run. Keys are computed incrementally.
pub(super) fn iter_runs(tokens: &[Token]) -> impl Iterator<Item = (usize, u64)> {
    let (mut key, mut length) = (0u64, 0);
    tokens.iter().enumerate().filter_map(move |(at, token)| {
        if token.gap == Gap::Break {
            (key, length) = (0, 0);
        }
        key = key.wrapping_add(u64::from(token.hash)).wrapping_mul(GOLDEN_GAMMA);
        length += 1;
        if length > RUN_WORDS {
            let leaving = u64::from(tokens[at - RUN_WORDS].hash);
            key = key.wrapping_sub(leaving.wrapping_mul(LEAVING_WORD_FACTOR));
        }
        (length >= RUN_WORDS).then(|| (at + 1 - RUN_WORDS, key ^ key >> 29))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tokenizer::TokenizedText;
    use super::*;

    #[test]
    fn equal_runs_have_equal_keys() {
        let keys = |text: &str| -> Vec<u64> {
            iter_runs(&TokenizedText::new(text).tokens).map(|(_, key)| key).collect()
        };
        let (one, other) = (keys("a b c d e f g h"), keys("x y c d e f g z"));
        assert_eq!(one.len(), 4);
        assert_eq!(one[2], other[2]);
        assert!(one.iter().filter(|key| other.contains(key)).count() == 1);
        assert!(keys("a b c d. e f g h").is_empty());
        assert_ne!(keys("a b c d e"), keys("b a c d e"));
    }
}
