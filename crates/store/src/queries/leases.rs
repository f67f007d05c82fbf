//! Leases: one row each, changed by single statements.

use std::time::Duration;

use model::{Position, Timestamp};
use sql::{Connection, OptionalExtension};

use crate::error::{StoreError, Task};
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
    pub fn hold(
        &self,
        name: &str,
        holder: &str,
        now: Timestamp,
        lasts: Duration,
    ) -> Task<'_, Option<Lease>> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        let hold = move |connection: &mut _| hold(connection, &name, &holder, now, lasts);
        Box::pin(self.writer.run(hold))
    }

    /// Stores the progress of the work. Returns false when another holder has the lease or was
    /// further.
    pub fn advance(&self, lease: &Lease, to: Position) -> Task<'_, bool> {
        let lease = lease.clone();
        Box::pin(self.writer.run(move |connection| advance(connection, &lease, to)))
    }

    /// Releases a lease early, if it is still one's own.
    pub fn release(&self, lease: &Lease) -> Task<'_, ()> {
        let lease = lease.clone();
        Box::pin(self.writer.run(move |connection| release(connection, &lease)))
    }

    /// The progress of the work, under any holder.
    pub fn reached(&self, name: &str) -> Task<'_, Position> {
        let name = name.to_owned();
        self.pool.run_short(move |connection| reached(connection, &name))
    }
}

fn hold(
    connection: &Connection,
    name: &str,
    holder: &str,
    now: Timestamp,
    lasts: Duration,
) -> Result<Option<Lease>, StoreError> {
    let now = shared_clock(connection, now)?;
    let lasts = i64::try_from(lasts.as_micros()).unwrap_or(i64::MAX);
    let held: Option<(i64, i64)> = connection
        .prepare_cached(
            "INSERT INTO leases (name, holder, until, epoch, position) VALUES (?1, ?2, ?3, 1, 0)
             ON CONFLICT (name) DO UPDATE SET
                 epoch = CASE WHEN leases.holder = excluded.holder THEN leases.epoch
                     ELSE leases.epoch + 1 END,
                 holder = excluded.holder, until = excluded.until
             WHERE leases.holder = excluded.holder OR leases.until <= ?4
             RETURNING epoch, position",
        )?
        .query_map((name, holder, now.saturating_add(lasts), now), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .next()
        .transpose()?;
    Ok(held.map(|(epoch, position)| Lease {
        name: name.to_owned(),
        holder: holder.to_owned(),
        epoch: epoch.unsigned_abs(),
        position: Position(position.unsigned_abs()),
    }))
}

/// The clock of the shared server, because the nodes' clocks differ.
fn shared_clock(connection: &Connection, own: Timestamp) -> Result<i64, StoreError> {
    if connection.sqlite().is_some() {
        return Ok(own.as_micros());
    }
    let select = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";
    Ok(connection.prepare_cached(select)?.query_row((), |row| row.get(0))?)
}

fn advance(connection: &Connection, lease: &Lease, to: Position) -> Result<bool, StoreError> {
    let changed = connection
        .prepare_cached(
            "UPDATE leases SET position = ?1
             WHERE name = ?2 AND holder = ?3 AND epoch = ?4 AND position <= ?1",
        )?
        .execute((to.0 as i64, &lease.name, &lease.holder, lease.epoch as i64))?;
    Ok(changed > 0)
}

/// True while the lease is held. Without a lease the work needs none.
pub(crate) fn is_held(connection: &Connection, lease: Option<&Lease>) -> Result<bool, StoreError> {
    let Some(lease) = lease else { return Ok(true) };
    let epoch: Option<i64> = connection
        .prepare_cached("SELECT epoch FROM leases WHERE name = ?1")?
        .query_row([&lease.name], |row| row.get(0))
        .optional()?;
    Ok(epoch.is_some_and(|epoch| epoch.unsigned_abs() == lease.epoch))
}

fn release(connection: &Connection, lease: &Lease) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "UPDATE leases SET until = 0 WHERE name = ?1 AND holder = ?2 AND epoch = ?3",
        )?
        .execute((&lease.name, &lease.holder, lease.epoch as i64))?;
    Ok(())
}

fn reached(connection: &Connection, name: &str) -> Result<Position, StoreError> {
    let position: Option<i64> = connection
        .prepare_cached("SELECT position FROM leases WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    Ok(Position(position.unwrap_or(0).unsigned_abs()))
}
