//! Leases: one row each, changed by single statements.

use std::time::Duration;

use model::{Position, Timestamp};
use sql::Connection;

use crate::error::Task;
use crate::store::Store;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub name: String,
    pub holder: String,
    /// The fencing token. Each new holder has a higher one.
    pub epoch: u64,
    pub position: Position,
}

impl Store {
    /// Acquires a free or expired lease, or renews one's own. `None` when another holder has it. On
    /// Postgres the server's clock counts instead of `now`.
    pub fn acquire_lease(
        &self,
        name: &str,
        holder: &str,
        now: Timestamp,
        lasts: Duration,
    ) -> Task<'_, Option<Lease>> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        Box::pin(self.writer.run(move |connection| {
            let now = shared_clock(connection, now)?;
            let until = now.saturating_add(i64::try_from(lasts.as_micros()).unwrap_or(i64::MAX));
            // All rows are read, so that SQLite reports an error of the commit.
            let held: Vec<(i64, i64)> = connection.read_rows(
                "INSERT INTO leases (name, holder, until, epoch, position)
                 VALUES (?1, ?2, ?3, 1, 0)
                 ON CONFLICT (name) DO UPDATE SET
                     epoch = CASE WHEN leases.holder = excluded.holder THEN leases.epoch
                         ELSE leases.epoch + 1 END,
                     holder = excluded.holder, until = excluded.until
                 WHERE leases.holder = excluded.holder OR leases.until <= ?4
                 RETURNING epoch, position",
                (&name, &holder, until, now),
            )?;
            Ok(held.first().map(|(epoch, position)| {
                let position = Position(position.unsigned_abs());
                Lease { name, holder, epoch: epoch.unsigned_abs(), position }
            }))
        }))
    }

    /// Stores the progress. Returns false when another holder has the lease or was further.
    pub fn advance(&self, lease: &Lease, to: Position) -> Task<'_, bool> {
        let lease = lease.clone();
        Box::pin(self.writer.run(move |connection| {
            let changed = connection.execute_cached(
                "UPDATE leases SET position = ?1
                 WHERE name = ?2 AND holder = ?3 AND epoch = ?4 AND position <= ?1",
                (to.0 as i64, &lease.name, &lease.holder, lease.epoch as i64),
            )?;
            Ok(changed > 0)
        }))
    }

    /// Releases a lease early, if it is still one's own.
    pub fn release(&self, lease: &Lease) -> Task<'_, ()> {
        let lease = lease.clone();
        Box::pin(self.writer.run(move |connection| {
            connection.execute_cached(
                "UPDATE leases SET until = 0 WHERE name = ?1 AND holder = ?2 AND epoch = ?3",
                (&lease.name, &lease.holder, lease.epoch as i64),
            )?;
            Ok(())
        }))
    }

    /// The progress of the work, under any holder.
    pub fn lease_position(&self, name: &str) -> Task<'_, Position> {
        let name = name.to_owned();
        self.pool.run_short(move |connection| {
            let select = "SELECT position FROM leases WHERE name = ?1";
            let position: Option<i64> = connection.find_row(select, [&name])?;
            Ok(Position(position.unwrap_or(0).unsigned_abs()))
        })
    }
}

/// The clock of the shared server, because the nodes' clocks differ.
fn shared_clock(connection: &Connection, own: Timestamp) -> sql::Result<i64> {
    if connection.sqlite().is_some() {
        return Ok(own.as_micros());
    }
    let select = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";
    connection.read_row(select, ())
}

/// True while the lease is held, and for work that needs no lease (`None`).
pub(crate) fn is_held(connection: &Connection, lease: Option<&Lease>) -> sql::Result<bool> {
    let Some(lease) = lease else { return Ok(true) };
    let select = "SELECT epoch FROM leases WHERE name = ?1";
    let epoch: Option<i64> = connection.find_row(select, [&lease.name])?;
    Ok(epoch.is_some_and(|epoch| epoch.unsigned_abs() == lease.epoch))
}
