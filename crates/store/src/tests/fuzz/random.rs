//! A reproducible random generator.

use model::hash::SplitMix64;

#[derive(Clone, Debug)]
pub(crate) struct SeededRandom(SplitMix64);

impl SeededRandom {
    pub(crate) const fn of(seed: u64) -> Self {
        Self(SplitMix64(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(crate) fn of_these<T: Clone>(&mut self, these: &[T]) -> T {
        these[self.below(these.len())].clone()
    }

    /// True in `often` of 100 cases.
    pub(crate) fn percent(&mut self, often: usize) -> bool {
        self.below(100) < often
    }

    pub(crate) fn maybe<T: Clone>(&mut self, often: usize, these: &[T]) -> Option<T> {
        self.percent(often).then(|| self.of_these(these))
    }
}
