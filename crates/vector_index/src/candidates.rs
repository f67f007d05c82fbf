//! Selects candidates by the Hamming distance of their sketches, in one pass.

/// One row in this many becomes a candidate,
const CANDIDATE_FRACTION: usize = 1_000;
/// and at least this many per requested result.
const CANDIDATES_PER_RESULT: usize = 60;

/// The rows of a tier with the smallest distances so far.
pub(super) struct Candidates {
    least: usize,
    seen: usize,
    /// Rows with a larger distance are skipped.
    cutoff: u16,
    /// The number of rows per distance up to the cutoff.
    counts: Vec<usize>,
    within: usize,
    kept: Vec<(u16, u32)>,
}

impl Candidates {
    pub(super) fn new(most: usize, bits: usize) -> Self {
        let (least, counts) = (most.saturating_mul(CANDIDATES_PER_RESULT), vec![0; bits + 1]);
        Self { least, seen: 0, cutoff: bits as u16, counts, within: 0, kept: Vec::new() }
    }

    /// Adds rows to the total, which raises the number of candidates.
    pub(super) fn see(&mut self, rows: usize) {
        self.seen += rows;
    }

    /// The largest distance that can still become a candidate.
    pub(super) fn cutoff(&self) -> u16 {
        self.cutoff
    }

    pub(super) fn offer(&mut self, differing: u16, place: u32) {
        if differing <= self.cutoff {
            self.counts[usize::from(differing)] += 1;
            self.within += 1;
            self.kept.push((differing, place));
            self.tighten();
        }
    }

    /// Lowers the cutoff while enough rows remain.
    fn tighten(&mut self) {
        let enough = self.least.saturating_add(self.seen / CANDIDATE_FRACTION);
        while self.within - self.counts[usize::from(self.cutoff)] >= enough && self.cutoff > 0 {
            self.within -= self.counts[usize::from(self.cutoff)];
            self.cutoff -= 1;
        }
        if self.kept.len() > self.within * 2 + 1_000 {
            self.kept.retain(|(differing, _)| *differing <= self.cutoff);
        }
    }

    /// The candidates' rows, ascending.
    pub(super) fn places(&self) -> Vec<u32> {
        let within = self.kept.iter().filter(|(differing, _)| *differing <= self.cutoff);
        within.map(|(_, place)| *place).collect()
    }

    /// True when no row was skipped.
    pub(super) fn all(&self) -> bool {
        self.within == self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_sketches_stay_candidates() {
        for falling in [false, true] {
            let mut likely = Candidates::new(1, 1_000);
            for at in 0..1_000u32 {
                let differing = if falling { 999 - at } else { at };
                likely.see(1);
                likely.offer(differing as u16, at);
            }
            assert!(!likely.all());
            let places = likely.places();
            assert!((60..70).contains(&places.len()), "{}", places.len());
            assert!(places.iter().all(|at| falling == (*at > 500)));
        }
    }

    #[test]
    fn few_rows_all_stay() {
        let mut likely = Candidates::new(10, 64);
        likely.see(600);
        (0..600).for_each(|at| likely.offer((at % 65) as u16, at));
        assert!(likely.all());
        assert_eq!(likely.places().len(), 600);
    }
}
