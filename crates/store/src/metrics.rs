//! Counters and durations of the store, for the metrics endpoint. No decision depends on them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Upper bounds of durations, in seconds.
pub const SECONDS: &[f64] =
    &[0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
/// Upper bounds of group sizes, in writes.
pub const SIZES: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

/// Upper bounds of statements per group.
pub(crate) const STATEMENTS: &[f64] =
    &[4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 4096.0, 16384.0];

/// Upper bounds of payloads, in bytes.
pub(crate) const BYTES: &[f64] = &[1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6];

/// A histogram with fixed bounds, safe to write from many threads.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    buckets: Vec<AtomicU64>,
    // In millionths, because an atomic float does not exist.
    sum: AtomicU64,
}

/// The contents of a histogram at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Upper bounds with the number of values at or below each. The last bound is infinite.
    pub cumulative: Vec<(f64, u64)>,
    pub sum: f64,
    pub count: u64,
}

impl Histogram {
    pub fn new(bounds: &'static [f64]) -> Self {
        let buckets = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, buckets, sum: AtomicU64::new(0) }
    }

    pub fn record(&self, value: f64) {
        let index = self.bounds.partition_point(|bound| *bound < value);
        self.buckets[index].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add((value * 1e6) as u64, Ordering::Relaxed);
    }

    pub fn snapshot(&self) -> Snapshot {
        let mut count = 0;
        let bounds = self.bounds.iter().copied().chain([f64::INFINITY]);
        let cumulative = bounds
            .zip(&self.buckets)
            .map(|(bound, bucket)| {
                count += bucket.load(Ordering::Relaxed);
                (bound, count)
            })
            .collect();
        Snapshot { cumulative, sum: self.sum.load(Ordering::Relaxed) as f64 / 1e6, count }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "for metrics only; no decision depends on it")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

#[derive(Clone, Debug)]
pub struct LogStats {
    pub queued_writes: u64,
    pub queued_bytes: u64,
    pub commit_seconds: Snapshot,
    pub commit_writes: Snapshot,
    /// Payload of a group, in bytes.
    pub commit_bytes: Snapshot,
    /// Statements that a group ran. On Postgres, batched rows of a table are one.
    pub commit_statements: Snapshot,
    /// Time of a submission in the queue.
    pub wait_seconds: Snapshot,
    /// Groups that failed because of the disk or the database.
    pub failed_commits: u64,
}

/// The size of the similarity index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimilarityStats {
    pub turns: u64,
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_under_its_bound_and_every_higher_one() {
        let histogram = Histogram::new(&[1.0, 2.0]);
        for value in [0.5, 1.0, 1.5, 9.0] {
            histogram.record(value);
        }
        let snapshot = histogram.snapshot();
        assert_eq!(snapshot.cumulative, [(1.0, 2), (2.0, 3), (f64::INFINITY, 4)]);
        assert_eq!((snapshot.count, snapshot.sum), (4, 12.0));
    }
}
