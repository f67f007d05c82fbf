//! Five-word runs (shingles) within a sentence, with rolling hash keys.

use super::tokenizer::{Gap, Piece};

/// Words per run.
pub(super) const RUN: usize = 5;

const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
/// Factor of the oldest word in a full run.
const LEAVING: u64 =
    BASE.wrapping_mul(BASE).wrapping_mul(BASE).wrapping_mul(BASE).wrapping_mul(BASE);

/// Start token and key of each run. Keys are computed incrementally.
pub(super) fn runs_of(pieces: &[Piece]) -> impl Iterator<Item = (usize, u64)> {
    let (mut key, mut length) = (0u64, 0);
    pieces.iter().enumerate().filter_map(move |(at, piece)| {
        if piece.gap == Gap::Break {
            (key, length) = (0, 0);
        }
        key = key.wrapping_add(u64::from(piece.hash)).wrapping_mul(BASE);
        length += 1;
        if length > RUN {
            key = key.wrapping_sub(u64::from(pieces[at - RUN].hash).wrapping_mul(LEAVING_LAST));
        }
        (length >= RUN).then(|| (at + 1 - RUN, key ^ key >> 29))
    })
}

/// Factor of a word that leaves the run.
const LEAVING_LAST: u64 = LEAVING.wrapping_mul(BASE);

#[cfg(test)]
mod tests {
    use super::super::tokenizer::Reading;
    use super::*;

    #[test]
    fn the_same_words_have_the_same_key_wherever_they_stand() {
        let keys = |text: &str| -> Vec<u64> {
            runs_of(&Reading::of(text).pieces).map(|(_, key)| key).collect()
        };
        let (one, other) = (keys("a b c d e f g h"), keys("x y c d e f g z"));
        assert_eq!(one.len(), 4);
        assert_eq!(one[2], other[2]);
        assert!(one.iter().filter(|key| other.contains(key)).count() == 1);
        assert!(keys("a b c d. e f g h").is_empty());
        assert_ne!(keys("a b c d e"), keys("b a c d e"));
    }
}
