//! Counts differing bits of sketches. Most of a search's time is spent here.

/// Rows counted at once, for wide registers.
pub(super) const SIDE: usize = 8;

/// Hamming distances of the rows. The words are interleaved: all first words, then all second
/// words.
#[inline(always)]
pub(super) fn differing(words: &[[u64; SIDE]], asked: &[u64]) -> [u16; SIDE] {
    let mut sums = [0u64; SIDE];
    for (word, asked) in words.iter().zip(asked) {
        for row in 0..SIDE {
            sums[row] += u64::from((word[row] ^ asked).count_ones());
        }
    }
    sums.map(|sum| sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_at_every_length() {
        for length in 0..70u64 {
            let word = |seed: u64| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
            let rows: Vec<[u64; SIDE]> = (0..length)
                .map(|at| std::array::from_fn(|row| word(at * 8 + row as u64)))
                .collect();
            // Against its complement the first row differs in every bit.
            let asked: Vec<u64> = rows.iter().map(|words| !words[0]).collect();
            let counted = |row: usize| {
                let pairs = rows.iter().zip(&asked);
                pairs.map(|(words, asked)| (words[row] ^ asked).count_ones() as u16).sum::<u16>()
            };
            let expected: [u16; SIDE] = std::array::from_fn(counted);
            assert_eq!(differing(&rows, &asked), expected, "{length}");
            assert_eq!(u64::from(expected[0]), length * 64);
        }
    }
}
