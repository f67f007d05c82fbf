//! The two kinds of search: exact, or preselected by sketches.

use std::hint::black_box;

use super::best::Best;
use super::bits::{SIDE, differing};
use super::blocks::{Block, Blocks};
use super::candidates::Candidates;
use super::dot::dot;
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
    /// Compares with every vector.
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
                offer(likely, first, start, block.len(), differing(words, three));
            }
        } else {
            for (words, start) in block.sketches().zip(starts) {
                offer(likely, first, start, block.len(), differing(words, sketch));
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
            let differing = differing(words, sketch);
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
