//! Sketches: one bit per hyperplane, for the side a vector lies on. Near vectors share most bits.
//!
//! The hyperplanes are rows of a Hadamard matrix after fixed random signs. They weigh all
//! dimensions evenly, need no memory and little time.

use super::row_table::hash;

pub(super) struct Sketcher {
    pub(super) words: usize,
    signs: Vec<bool>,
    /// The length of the transform, a power of two.
    width: usize,
}

impl Sketcher {
    /// Three bits per four dimensions: more would cost memory and find little more.
    pub(super) fn new(dims: usize) -> Self {
        let words = (dims * 3 / 4).div_ceil(64).max(1);
        let width = dims.next_power_of_two().max(words * 64);
        let signs = (0..dims).map(|at| hash(at as i64).is_multiple_of(2)).collect();
        Self { words, signs, width }
    }

    pub(super) fn sketch(&self, codes: &[i8]) -> Vec<u64> {
        let mut values = vec![0i32; self.width];
        for ((value, code), plus) in values.iter_mut().zip(codes).zip(&self.signs) {
            *value = if *plus { i32::from(*code) } else { -i32::from(*code) };
        }
        transform(&mut values);
        let bits = values.as_chunks::<64>().0.iter().take(self.words);
        bits.map(|values| values.iter().fold(0, |word, v| word << 1 | u64::from(*v > 0))).collect()
    }
}

/// The fast Walsh-Hadamard transform.
fn transform(values: &mut [i32]) {
    let mut half = 1;
    while half < values.len() {
        for pair in values.chunks_exact_mut(half * 2) {
            let (left, right) = pair.split_at_mut(half);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transform_is_that_of_hadamard() {
        let mut values = [1, 2, 3, 4];
        transform(&mut values);
        assert_eq!(values, [10, -2, -4, 0]);
    }

    #[test]
    fn every_length_has_bits_and_opposites_share_none() {
        for (dims, words) in [(1, 1), (64, 1), (256, 3), (384, 5), (768, 9), (1_536, 18)] {
            let sketcher = Sketcher::new(dims);
            let codes: Vec<i8> = (0..dims).map(|at| (at * 7 % 19 + 1) as i8).collect();
            let opposite: Vec<i8> = codes.iter().map(|code| -code).collect();
            let (here, there) = (sketcher.sketch(&codes), sketcher.sketch(&opposite));
            assert_eq!(here.len(), words, "{dims}");
            assert!(here.iter().zip(&there).all(|(a, b)| a & b == 0), "{dims}");
        }
    }
}
