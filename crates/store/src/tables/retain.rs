//! Drops old events, and keeps what followed from them.
//!
//! First the projections are copied as they are, with the position they are of; then events up to
//! that position may go. A rebuild starts from the copy and replays the rest.

use event::{Position, Tenant, Timestamp};

use super::events::newest;
use super::rebuild::PROJECTIONS;
use crate::error::StoreError;
use crate::sql::{self, Connection, OptionalExtension, Row, ValueRef};

const BASELINE: &str = "baseline_position";

/// The position of the copy, if there is one.
pub(super) fn baseline(connection: &Connection) -> sql::Result<Option<Position>> {
    number_of(connection, BASELINE)
}

/// A position that is kept under a name.
pub(super) fn number_of(connection: &Connection, name: &str) -> sql::Result<Option<Position>> {
    let select = "SELECT value FROM meta WHERE name = ?1";
    let position = connection.prepare_cached(select)?.query_row([name], number).optional()?;
    Ok(position.map(|position| Position(position as u64)))
}

/// Keeps a position under a name.
pub(super) fn keep_number(
    connection: &Connection,
    name: &str,
    position: Position,
) -> sql::Result<usize> {
    connection.execute(
        "INSERT INTO meta (name, value) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, position.0.to_be_bytes()),
    )
}

/// A number as it is kept there: eight bytes, or as SQLite's numbers in older stores.
fn number(row: &Row<'_>) -> sql::Result<i64> {
    match row.get_ref(0)? {
        ValueRef::Integer(number) => Ok(number),
        ValueRef::Blob(_)
        | ValueRef::Null
        | ValueRef::Real(_)
        | ValueRef::Text(_)
        | ValueRef::Uuid(_) => Ok(i64::from_be_bytes(row.get(0)?)),
    }
}

/// Whether a tenant has events from before this moment.
pub(super) fn has_old(
    connection: &Connection,
    tenant: &Tenant,
    before: Timestamp,
) -> Result<bool, StoreError> {
    // The oldest events come first, but imported ones may be older than they stand.
    let sql = "SELECT 1 FROM events e JOIN projects p ON p.key = e.project
        WHERE p.tenant = ?1 AND e.received_at < ?2 LIMIT 1";
    Ok(connection.prepare_cached(sql)?.exists((tenant.as_str(), before.as_micros()))?)
}

/// Copies the projections, and answers the position they are of.
pub(super) fn copy_projections(connection: &mut Connection) -> Result<Position, StoreError> {
    let transaction = connection.transaction()?;
    for (table, _) in PROJECTIONS {
        transaction.execute_batch(&format!(
            "DELETE FROM baseline_{table}; INSERT INTO baseline_{table} SELECT * FROM {table};"
        ))?;
    }
    let position = newest(&transaction)?;
    keep_number(&transaction, BASELINE, position)?;
    transaction.commit()?;
    Ok(position)
}

/// Puts the copy back in the place of the projections. Turns that came later keep their rows, empty.
pub(super) fn restore(connection: &Connection) -> sql::Result<()> {
    for (table, _) in PROJECTIONS {
        if table == "turns" {
            connection.execute_batch(
                "UPDATE turns SET (conversation, user, ts, opened, completed, track, bundle, user_type)
                     = (SELECT b.conversation, b.user, b.ts, b.opened, b.completed, b.track, b.bundle,
                            b.user_type
                        FROM baseline_turns b WHERE b.key = turns.key)",
            )?;
        } else {
            connection
                .execute_batch(&format!("INSERT INTO {table} SELECT * FROM baseline_{table}"))?;
        }
    }
    Ok(())
}

/// Drops some of a tenant's events from before a moment, up to a position. Answers how many; fewer
/// than `most` means that there are no more.
pub(super) fn drop_old(
    connection: &mut Connection,
    tenant: &Tenant,
    before: Timestamp,
    upto: Position,
    most: usize,
) -> Result<usize, StoreError> {
    let sql = "DELETE FROM events WHERE position IN (
            SELECT e.position FROM events e JOIN projects p ON p.key = e.project
            WHERE p.tenant = ?1 AND e.position <= ?2 AND e.received_at < ?3 LIMIT ?4)";
    let values = (tenant.as_str(), upto.0 as i64, before.as_micros(), most as i64);
    Ok(connection.prepare_cached(sql)?.execute(values)?)
}
