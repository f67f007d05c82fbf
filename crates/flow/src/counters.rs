//! Counts for people who watch: nothing is decided by them.

use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    skewed_clocks: AtomicU64,
}

impl Counters {
    /// An answer seemed to end before it began.
    pub(crate) fn skewed_clocks(&self) {
        self.skewed_clocks.fetch_add(1, Ordering::Relaxed);
    }

    /// How often that was.
    pub(crate) fn skewed(&self) -> u64 {
        self.skewed_clocks.load(Ordering::Relaxed)
    }
}
