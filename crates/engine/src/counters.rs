//! Counts for people who watch: nothing is decided by them.

use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    skewed_clocks: AtomicU64,
    route_faults: AtomicU64,
    relaxed_routes: AtomicU64,
    failed_copies: AtomicU64,
}

impl Counters {
    /// An answer seemed to end before it began.
    pub(crate) fn count_skewed_clock(&self) {
        self.skewed_clocks.fetch_add(1, Ordering::Relaxed);
    }

    /// A router chose: so many numbers went wrong on the way, and perhaps a wish had to be given up.
    pub(crate) fn count_route(&self, faults: u64, relaxed: bool) {
        self.route_faults.fetch_add(faults, Ordering::Relaxed);
        self.relaxed_routes.fetch_add(u64::from(relaxed), Ordering::Relaxed);
    }

    /// Copies of turn logs could not be made or taken away.
    pub(crate) fn count_failed_copy(&self) {
        self.failed_copies.fetch_add(1, Ordering::Relaxed);
    }

    /// How often that was.
    pub(crate) fn failed_copies(&self) -> u64 {
        self.failed_copies.load(Ordering::Relaxed)
    }

    /// How often numbers went wrong, and how often a wish was given up.
    pub(crate) fn route_counts(&self) -> (u64, u64) {
        (self.route_faults.load(Ordering::Relaxed), self.relaxed_routes.load(Ordering::Relaxed))
    }

    /// How often that was.
    pub(crate) fn skewed_clocks(&self) -> u64 {
        self.skewed_clocks.load(Ordering::Relaxed)
    }
}
