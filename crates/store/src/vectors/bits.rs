//! Counts the bits in which sketches differ: the second most time of a search is spent here.
//!
//! Plain x86-64 has no instruction that counts bits, so several are counted in one word at once:
//! first in pairs, then in fours, then in bytes. Three words are first added up bit by bit, which
//! leaves two to count. `count_ones` takes a quarter longer, a call for every few rows half.

/// Rows that are counted side by side, for wide registers.
pub(super) const SIDE: usize = 8;
/// Words after which the sum in a byte could overflow.
const MOST: usize = 30;

/// In how many bits each row differs from what is asked: all first words, all second words, ...
#[inline(always)]
pub(super) fn differing(words: &[[u64; SIDE]], asked: &[u64]) -> [u16; SIDE] {
    if words.len() <= MOST {
        return sums_in_bytes(words, asked).map(sum_of_bytes);
    }
    let mut differing = [0; SIDE];
    for (words, asked) in words.chunks(MOST).zip(asked.chunks(MOST)) {
        let sums = sums_in_bytes(words, asked);
        for row in 0..SIDE {
            differing[row] += sum_of_bytes(sums[row]);
        }
    }
    differing
}

#[inline(always)]
fn sums_in_bytes(words: &[[u64; SIDE]], asked: &[u64]) -> [u64; SIDE] {
    let mut sums = [0; SIDE];
    let (threes, rest) = words.as_chunks::<3>();
    let (asked_threes, asked_rest) = asked.as_chunks::<3>();
    for ([x, y, z], [a, b, c]) in threes.iter().zip(asked_threes) {
        for row in 0..SIDE {
            let (x, y, z) = (x[row] ^ a, y[row] ^ b, z[row] ^ c);
            let ones = x ^ y ^ z;
            let twos = (x & y) | ((x ^ y) & z);
            sums[row] += bytes(fours(ones) + 2 * fours(twos));
        }
    }
    for (word, asked) in rest.iter().zip(asked_rest) {
        for row in 0..SIDE {
            sums[row] += bytes(fours(word[row] ^ asked));
        }
    }
    sums
}

/// The bits of every four, counted.
fn fours(word: u64) -> u64 {
    let pairs = word - ((word >> 1) & 0x5555_5555_5555_5555);
    (pairs & 0x3333_3333_3333_3333) + ((pairs >> 2) & 0x3333_3333_3333_3333)
}

/// The two counts in every byte, added.
fn bytes(fours: u64) -> u64 {
    (fours & 0x0f0f_0f0f_0f0f_0f0f) + ((fours >> 4) & 0x0f0f_0f0f_0f0f_0f0f)
}

fn sum_of_bytes(bytes: u64) -> u16 {
    let halves = (bytes & 0x00ff_00ff_00ff_00ff) + ((bytes >> 8) & 0x00ff_00ff_00ff_00ff);
    let sum = halves + (halves >> 16);
    (sum + (sum >> 32)) as u16
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
            // Against itself turned around, the first row differs in every bit.
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
