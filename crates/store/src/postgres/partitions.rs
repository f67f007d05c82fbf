//! Creates the partitions of the log's current and next range of positions, before events need
//! them, and drops those whose events are all dropped.

use std::time::Duration;

use model::Position;
use sql::Connection;

use crate::error::StoreError;
use crate::metrics::Stopwatch;

const CHECK_INTERVAL: Duration = Duration::from_secs(3600);
/// The retry interval when another transaction blocked the creation.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);
/// Positions of a partition, as in `make_partition`.
const PARTITION_POSITIONS: u64 = 10_000_000;

/// Creates missing partitions. Returns true when none is missing.
pub(super) fn make_partitions(connection: &Connection) -> Result<bool, StoreError> {
    let make = "SELECT coalesce(bool_and(make_partition(n)), TRUE) FROM log_head h
        CROSS JOIN generate_series(partition_number(h.position), partition_number(h.position) + 1) n";
    Ok(connection.query_row(make, (), |row| row.get(0))?)
}

fn drop_partitions(connection: &Connection) -> Result<(), StoreError> {
    let drop_one = "SELECT drop_empty_partition()";
    while let Some(name) =
        connection.query_row(drop_one, (), |row| row.get::<_, Option<String>>(0))?
    {
        tracing::info!(partition = name, "a partition whose events are all dropped was dropped");
    }
    Ok(())
}

/// Creates and drops partitions while a node runs.
pub(crate) struct PartitionMaker {
    looked: Option<Stopwatch>,
    pause: Duration,
    next: Duration,
    /// The partition of the head when no partition was missing.
    complete_at: Option<u64>,
}

impl PartitionMaker {
    pub(crate) fn hourly() -> Self {
        Self::with_interval(CHECK_INTERVAL)
    }

    pub(crate) fn with_interval(pause: Duration) -> Self {
        Self { looked: None, pause, next: Duration::ZERO, complete_at: None }
    }

    /// Runs when the interval has passed, and when the log reaches the last partition.
    pub(crate) fn run_if_due(&mut self, connection: &Connection, head: Position) {
        let number = head.0 / PARTITION_POSITIONS;
        let is_last = self.complete_at.is_some_and(|complete_at| complete_at < number);
        if !is_last && self.looked.as_ref().is_some_and(|looked| looked.elapsed() < self.next) {
            return;
        }
        let is_done = make_partitions(connection).unwrap_or_else(|error| {
            tracing::warn!(%error, "creating partitions failed; retrying");
            false
        });
        self.complete_at = is_done.then_some(number);
        if let Err(error) = drop_partitions(connection) {
            tracing::warn!(%error, "dropping empty partitions failed; retrying");
        }
        self.next = if is_done { self.pause } else { self.pause.min(RETRY_INTERVAL) };
        self.looked = Some(Stopwatch::start());
    }
}
