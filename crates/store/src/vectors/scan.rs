//! The two ways to search: compare everything, or sort out by sketches first.

use std::hint::black_box;

use super::best::Best;
use super::bits::{SIDE, differing};
use super::blocks::{Block, Blocks};
use super::dot::dot;
use super::entry::{Filter, Found, Near, Tier};
use super::likely::Likely;
use super::packed::Query;

/// Vectors that are fetched from memory together, and bytes that come in one piece.
const TOGETHER: usize = 16;
const LINE: usize = 64;

/// What is looked for.
pub(super) struct Wanted<'a> {
    pub(super) query: &'a Query,
    pub(super) most: usize,
    pub(super) floor: f32,
    pub(super) filter: Filter,
}

impl Wanted<'_> {
    /// Compares with every vector.
    pub(super) fn among_all(&self, blocks: &Blocks) -> Found {
        let mut best = Tiers::new(|| Best::new(self.most, self.floor));
        for (_, block) in blocks.iter() {
            for (row, codes) in block.vectors().enumerate() {
                if self.takes(block, row) {
                    self.compare(block, row, codes, best.of(block.tiers[row]));
                }
            }
        }
        best.found(true)
    }

    /// Compares with those whose bits differ least. Rows that the filter leaves out take no part,
    /// so a narrow filter misses nothing.
    pub(super) fn among_likely(&self, blocks: &Blocks, sketch: &[u64]) -> Found {
        let mut likely = Tiers::new(|| Likely::new(self.most, sketch.len() * 64));
        for (first, block) in blocks.iter() {
            if self.filter == Filter::default() {
                Self::sort_out_all(first, block, sketch, &mut likely);
            } else {
                self.sort_out(first, block, sketch, &mut likely);
            }
        }
        let mut best = Tiers::new(|| Best::new(self.most, self.floor));
        for (likely, best) in likely.0.iter().zip(&mut best.0) {
            self.compare_at(&likely.places(), blocks, best);
        }
        best.found(likely.0.iter().all(Likely::all))
    }

    /// Without a filter: nearly all rows are left out eight at a time, whatever their tier.
    fn sort_out_all(first: u32, block: &Block, sketch: &[u64], likely: &mut Tiers<Likely>) {
        block.count_tiers().into_iter().zip(&mut likely.0).for_each(|(n, of)| of.see(n));
        let cutoff = likely.0.iter().map(Likely::cutoff).max().unwrap_or(0);
        for (words, start) in block.sketches().zip((0..).step_by(SIDE)) {
            let differing = differing(words, sketch);
            if differing.iter().fold(false, |any, bits| any | (*bits <= cutoff)) {
                for row in start..(start + SIDE).min(block.len()) {
                    let likely = likely.of(block.tiers[row]);
                    likely.offer(differing[row - start], first + row as u32);
                }
            }
        }
    }

    /// With a filter: bits are only counted where it lets something through.
    fn sort_out(&self, first: u32, block: &Block, sketch: &[u64], likely: &mut Tiers<Likely>) {
        for (words, start) in block.sketches().zip((0..).step_by(SIDE)) {
            let end = (start + SIDE).min(block.len());
            if !(start..end).any(|row| self.takes(block, row)) {
                continue;
            }
            let differing = differing(words, sketch);
            for row in (start..end).filter(|row| self.takes(block, *row)) {
                let likely = likely.of(block.tiers[row]);
                likely.see(1);
                likely.offer(differing[row - start], first + row as u32);
            }
        }
    }

    fn takes(&self, block: &Block, row: usize) -> bool {
        let Filter { user, intent } = self.filter;
        user.is_none_or(|user| user == block.users[row])
            && intent.is_none_or(|intent| intent == block.intents[row])
    }

    /// Compares with vectors far apart in memory.
    fn compare_at(&self, places: &[u32], blocks: &Blocks, best: &mut Best) {
        for places in places.chunks(TOGETHER) {
            // Touches every line of memory first: then all are waited for together.
            for place in places {
                let (block, row) = blocks.at(*place);
                black_box(block.scales[row]);
                block.codes(row).iter().step_by(LINE).for_each(|code| _ = black_box(*code));
            }
            for place in places {
                let (block, row) = blocks.at(*place);
                self.compare(block, row, block.codes(row), best);
            }
        }
    }

    fn compare(&self, block: &Block, row: usize, codes: &[i8], best: &mut Best) {
        let scale = block.scales[row];
        // What points nowhere is similar to nothing.
        if scale > 0.0 {
            let product = dot(codes, &self.query.values) as f32;
            let similarity = (product * scale * self.query.scale).clamp(-1.0, 1.0);
            if similarity >= best.floor() {
                best.offer(Near { key: block.keys[row], similarity });
            }
        }
    }
}

/// One for each tier.
struct Tiers<T>([T; 3]);

impl<T> Tiers<T> {
    fn new(each: impl Fn() -> T) -> Self {
        Self([each(), each(), each()])
    }

    fn of(&mut self, tier: Tier) -> &mut T {
        &mut self.0[tier as usize]
    }
}

impl Tiers<Best> {
    fn found(self, exact: bool) -> Found {
        let [accepted, neutral, rejected] = self.0.map(Best::into_sorted);
        Found { accepted, neutral, rejected, exact }
    }
}
