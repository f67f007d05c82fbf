//! Creates the partitions of this month and the next, before events need them.

use std::time::Duration;

use sql::Connection;

use crate::error::StoreError;
use crate::metrics::Stopwatch;

const CHECK_INTERVAL: Duration = Duration::from_secs(3600);
/// The retry interval when another transaction blocked the creation.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// Creates missing partitions. Returns true when none is missing.
pub(super) fn make_partitions(connection: &Connection) -> Result<bool, StoreError> {
    let make = "SELECT bool_and(is_done) FROM (
            SELECT make_partition(CAST(now() AT TIME ZONE 'UTC' + m * INTERVAL '1 month' AS DATE)) AS is_done
            FROM generate_series(0, 1) m
        ) months";
    Ok(connection.query_row(make, (), |row| row.get(0))?)
}

/// Creates partitions while a node runs.
pub(crate) struct PartitionMaker {
    looked: Option<Stopwatch>,
    pause: Duration,
    next: Duration,
}

impl PartitionMaker {
    pub(crate) fn hourly() -> Self {
        Self::with_interval(CHECK_INTERVAL)
    }

    pub(crate) fn with_interval(pause: Duration) -> Self {
        Self { looked: None, pause, next: Duration::ZERO }
    }

    /// Creates missing partitions when the interval has passed.
    pub(crate) fn run_if_due(&mut self, connection: &Connection) {
        if self.looked.as_ref().is_some_and(|looked| looked.elapsed() < self.next) {
            return;
        }
        let is_done = make_partitions(connection).unwrap_or_else(|error| {
            tracing::warn!(%error, "creating partitions failed; retrying");
            false
        });
        self.next = if is_done { self.pause } else { self.pause.min(RETRY_INTERVAL) };
        self.looked = Some(Stopwatch::start());
    }
}
