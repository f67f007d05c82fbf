//! The two kinds of search: exact, or preselected by sketches.

use std::hint::black_box;

use super::best::Best;
use super::blocks::{Block, Blocks, SIDE};
use super::candidates::Candidates;
use super::entry::{Filter, Near};
use super::packed::Query;

/// Vectors prefetched together, and bytes per cache line.
const TOGETHER: usize = 16;
const LINE: usize = 64;

pub(super) struct Wanted<'a> {
    pub(super) query: &'a Query,
    pub(super) most: usize,
    pub(super) floor: f32,
    pub(super) filter: Filter,
}

/// A search in one tier, with sketches if given. Everything is inlined, so that `pulp` can compile
/// it for wide registers.
pub(super) struct Search<'a> {
    pub(super) wanted: &'a Wanted<'a>,
    pub(super) blocks: &'a Blocks,
    pub(super) sketch: Option<&'a [u64]>,
}

impl pulp::NullaryFnOnce for Search<'_> {
    type Output = (Vec<Near>, bool);

    #[inline(always)]
    fn call(self) -> Self::Output {
        match self.sketch {
            None => (self.wanted.among_all(self.blocks), true),
            Some(sketch) => self.wanted.among_likely(self.blocks, sketch),
        }
    }
}

impl Wanted<'_> {
    #[inline(always)]
    pub(super) fn among_all(&self, blocks: &Blocks) -> Vec<Near> {
        let mut best = Best::new(self.most, self.floor);
        for (_, block) in blocks.iter() {
            for (row, codes) in block.vectors().enumerate() {
                if self.takes(block, row) {
                    self.compare(block, row, codes, &mut best);
                }
            }
        }
        best.into_sorted()
    }

    /// Compares with the candidates. Returns whether all rows were candidates. Filtered rows take
    /// no part, so a narrow filter misses nothing.
    #[inline(always)]
    pub(super) fn among_likely(&self, blocks: &Blocks, sketch: &[u64]) -> (Vec<Near>, bool) {
        let mut likely = Candidates::new(self.most, sketch.len() * 64);
        for (first, block) in blocks.iter() {
            if self.filter == Filter::default() {
                Self::sort_out_all(first, block, sketch, &mut likely);
            } else {
                self.sort_out(first, block, sketch, &mut likely);
            }
        }
        let mut best = Best::new(self.most, self.floor);
        self.compare_at(&likely.places(), blocks, &mut best);
        (best.into_sorted(), likely.all())
    }

    /// Without a filter: most rows are skipped eight at a time.
    #[inline(always)]
    fn sort_out_all(first: u32, block: &Block, sketch: &[u64], likely: &mut Candidates) {
        likely.see(block.len());
        let starts = (0..).step_by(SIDE);
        // A constant length for the built-in model unrolls the inner loop.
        if let Ok(three) = <&[u64; 3]>::try_from(sketch) {
            for (words, start) in block.words().as_chunks::<3>().0.iter().zip(starts) {
                offer(likely, first, start, block.len(), hamming_distances(words, three));
            }
        } else {
            for (words, start) in block.sketches().zip(starts) {
                offer(likely, first, start, block.len(), hamming_distances(words, sketch));
            }
        }
    }

    /// With a filter: distances are computed only for matching rows.
    #[inline(always)]
    fn sort_out(&self, first: u32, block: &Block, sketch: &[u64], likely: &mut Candidates) {
        for (words, start) in block.sketches().zip((0..).step_by(SIDE)) {
            let end = (start + SIDE).min(block.len());
            if !(start..end).any(|row| self.takes(block, row)) {
                continue;
            }
            let differing = hamming_distances(words, sketch);
            for row in (start..end).filter(|row| self.takes(block, *row)) {
                likely.see(1);
                likely.offer(differing[row - start], first + row as u32);
            }
        }
    }

    #[inline(always)]
    fn takes(&self, block: &Block, row: usize) -> bool {
        let Filter { user, intent } = self.filter;
        user.is_none_or(|user| user == block.users[row])
            && intent.is_none_or(|intent| intent == block.intents[row])
    }

    /// Compares with scattered rows.
    #[inline(always)]
    fn compare_at(&self, places: &[u32], blocks: &Blocks, best: &mut Best) {
        for places in places.chunks(TOGETHER) {
            // Touches every cache line first, so that the misses overlap.
            for place in places {
                let (block, row) = blocks.locate(*place);
                black_box(block.scales[row]);
                block.codes(row).iter().step_by(LINE).for_each(|code| _ = black_box(*code));
            }
            for place in places {
                let (block, row) = blocks.locate(*place);
                self.compare(block, row, block.codes(row), best);
            }
        }
    }

    #[inline(always)]
    fn compare(&self, block: &Block, row: usize, codes: &[i8], best: &mut Best) {
        let scale = block.scales[row];
        // A zero vector is similar to nothing.
        if scale > 0.0 {
            let product = dot(codes, &self.query.values) as f32;
            let similarity = (product * scale * self.query.scale).clamp(-1.0, 1.0);
            if similarity >= best.floor() {
                best.offer(Near { key: block.keys[row], similarity, labels: block.labels(row) });
            }
        }
    }
}

/// Offers a group of rows, unless all distances exceed the cutoff.
#[inline(always)]
fn offer(likely: &mut Candidates, first: u32, start: usize, end: usize, differing: [u16; SIDE]) {
    let cutoff = likely.cutoff();
    if differing.iter().fold(false, |any, bits| any | (*bits <= cutoff)) {
        for row in start..(start + SIDE).min(end) {
            likely.offer(differing[row - start], first + row as u32);
        }
    }
}

/// Hamming distances of the rows. The words are interleaved: all first words, then all second
/// words.
#[inline(always)]
fn hamming_distances(words: &[[u64; SIDE]], asked: &[u64]) -> [u16; SIDE] {
    let mut sums = [0u64; SIDE];
    for (word, asked) in words.iter().zip(asked) {
        for row in 0..SIDE {
            sums[row] += u64::from((word[row] ^ asked).count_ones());
        }
    }
    sums.map(|sum| sum as u16)
}

/// The dot product of a packed vector and a query.
///
/// Eight accumulators with two products per step let the compiler use `pmaddwd`, which every x86-64
/// has. A plain loop is three times slower.
#[inline(always)]
fn dot(codes: &[i8], values: &[i16]) -> i32 {
    let mut sums = [0i32; 8];
    let (left, left_rest) = codes.as_chunks::<16>();
    let (right, right_rest) = values.as_chunks::<16>();
    for (x, y) in left.iter().zip(right) {
        let product = |at: usize| i32::from(x[at]) * i32::from(y[at]);
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += product(lane) + product(lane + 8);
        }
    }
    let rest = left_rest.iter().zip(right_rest).map(|(x, y)| i32::from(*x) * i32::from(*y));
    sums.iter().sum::<i32>() + rest.sum::<i32>()
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
            assert_eq!(hamming_distances(&rows, &asked), expected, "{length}");
            assert_eq!(u64::from(expected[0]), length * 64);
        }
    }

    #[test]
    fn dot_product_holds_at_every_length() {
        for length in 0..70 {
            let codes: Vec<i8> = (0..length).map(|i| (i * 37 % 255 - 127) as i8).collect();
            let values: Vec<i16> =
                (0..length).map(|i| (i * 911 % 65_535 - 32_767) as i16).collect();
            let products = codes.iter().zip(&values).map(|(x, y)| i32::from(*x) * i32::from(*y));
            assert_eq!(dot(&codes, &values), products.sum::<i32>(), "{length}");
        }
    }
}
