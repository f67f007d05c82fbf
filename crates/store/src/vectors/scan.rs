//! The two ways to search: compare everything, or sort out by sketches first.

use super::best::Best;
use super::blocks::{Block, Blocks, ROWS, Rows};
use super::dot::dot;
use super::entry::{Filter, Found, Near, Tier};
use super::likely::Likely;
use super::packed::Query;

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
        for (block, filled) in blocks.filled() {
            let taken = self.taken(block, filled);
            let vectors = block.codes.chunks_exact(self.query.values.len());
            for (row, codes) in vectors.enumerate().filter(|(row, _)| taken[*row]) {
                self.compare(block, row, codes, &mut best);
            }
        }
        best.found(true)
    }

    /// Compares with those whose bits differ least. Rows that the filter leaves out take no part,
    /// so a narrow filter misses nothing.
    pub(super) fn among_likely(&self, blocks: &Blocks, sketch: &[u64]) -> Found {
        let mut likely = Tiers::new(|| Likely::new(self.most, sketch.len() * 64));
        for ((block, filled), first) in blocks.filled().zip((0..).step_by(ROWS)) {
            let taken = self.taken(block, filled);
            if !taken.contains(&true) {
                continue;
            }
            for (tier, likely) in TIERS.iter().zip(&mut likely.0) {
                likely.see(count(&block.rows.tiers, &taken, *tier));
            }
            let differing = differing(&block.sketches, sketch);
            // Nearly all rows end here, whatever their tier.
            let most = likely.0.iter().map(Likely::cutoff).max().unwrap_or(0);
            for row in (0..ROWS).filter(|row| differing[*row] <= most && taken[*row]) {
                likely.of(block.rows.tiers[row]).offer(differing[row], first + row as u32);
            }
        }
        let mut best = Tiers::new(|| Best::new(self.most, self.floor));
        for place in likely.0.iter().flat_map(Likely::places) {
            let (block, row) = blocks.at(place);
            self.compare(block, row, blocks.codes(place), &mut best);
        }
        best.found(likely.0.iter().all(Likely::all))
    }

    /// The rows that the filter lets through.
    fn taken(&self, block: &Block, filled: usize) -> [bool; ROWS] {
        let Rows { users, intents, .. } = &*block.rows;
        let mut taken = [true; ROWS];
        taken[filled..].fill(false);
        if let Some(user) = self.filter.user {
            taken.iter_mut().zip(users).for_each(|(taken, of)| *taken &= *of == user);
        }
        if let Some(intent) = self.filter.intent {
            taken.iter_mut().zip(intents).for_each(|(taken, of)| *taken &= *of == intent);
        }
        taken
    }

    fn compare(&self, block: &Block, row: usize, codes: &[i8], best: &mut Tiers<Best>) {
        if block.rows.scales[row] == 0.0 {
            // It points nowhere.
            return;
        }
        let product = dot(codes, &self.query.values) as f32;
        let similarity = product * block.rows.scales[row] * self.query.scale;
        let near = Near { key: block.rows.keys[row], similarity: similarity.clamp(-1.0, 1.0) };
        best.of(block.rows.tiers[row]).offer(near);
    }
}

const TIERS: [Tier; 3] = [Tier::Accepted, Tier::Neutral, Tier::Rejected];

/// One for each tier, in the order of `TIERS`.
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

/// How many of the rows that are taken are of a tier.
fn count(tiers: &[Tier; ROWS], taken: &[bool; ROWS], wanted: Tier) -> usize {
    let rows = tiers.iter().zip(taken);
    usize::from(
        rows.map(|(tier, taken)| u8::from(*taken & (*tier as u8 == wanted as u8))).sum::<u8>(),
    )
}

/// In how many bits each row differs. Some rows side by side, so that the compiler can use wide
/// registers.
fn differing(sketches: &[[u64; ROWS]], sketch: &[u64]) -> [u16; ROWS] {
    const SIDE: usize = 8;
    let mut differing = [0; ROWS];
    for (group, differing) in differing.as_chunks_mut::<SIDE>().0.iter_mut().enumerate() {
        let mut counts = [0u64; SIDE];
        for (words, asked) in sketches.iter().zip(sketch) {
            let words = &words.as_chunks::<SIDE>().0[group];
            for row in 0..SIDE {
                counts[row] += u64::from((words[row] ^ asked).count_ones());
            }
        }
        *differing = counts.map(|count| count as u16);
    }
    differing
}
