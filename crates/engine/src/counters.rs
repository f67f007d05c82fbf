//! Counters for metrics. No decision depends on them.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::warning::WarningCounts;

#[derive(Debug, Default)]
pub(crate) struct Counters {
    skewed_clocks: AtomicU64,
    route_faults: AtomicU64,
    relaxed_routes: AtomicU64,
    failed_copies: AtomicU64,
    pub(crate) warnings: WarningCounts,
}

impl Counters {
    /// Counts an answer whose end time is before its start time.
    pub(crate) fn count_skewed_clock(&self) {
        self.skewed_clocks.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the numeric faults of one choice, and a constraint that had to be relaxed.
    pub(crate) fn count_route(&self, faults: u64, relaxed: bool) {
        self.route_faults.fetch_add(faults, Ordering::Relaxed);
        self.relaxed_routes.fetch_add(u64::from(relaxed), Ordering::Relaxed);
    }

    /// Counts a failed attempt to write or delete copies of turn logs.
    pub(crate) fn count_failed_copy(&self) {
        self.failed_copies.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn failed_copies(&self) -> u64 {
        self.failed_copies.load(Ordering::Relaxed)
    }

    /// Numeric faults and relaxed constraints, in this order.
    pub(crate) fn route_counts(&self) -> (u64, u64) {
        (self.route_faults.load(Ordering::Relaxed), self.relaxed_routes.load(Ordering::Relaxed))
    }

    pub(crate) fn skewed_clocks(&self) -> u64 {
        self.skewed_clocks.load(Ordering::Relaxed)
    }
}
