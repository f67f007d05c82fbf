//! Facts about a store, in the table `meta`: positions, marks and keys.

use model::{Position, Timestamp};
use sql::{Connection, Row, ValueRef};

use crate::error::StoreError;

/// The position of the one baseline that older stores have for all projects.
pub(crate) const FORMER_BASELINE: &str = "baseline_position";
pub(crate) const REMOVED_POSITION: &str = "removed_position";
const ACCESS_VERSION: &str = "access_version";
const STALE_PROJECTIONS: &str = "stale_projections";
pub(crate) const RESTORED_AT: &str = "restored_at";

/// The head of the log before events were removed from its end.
pub(crate) fn removed_position(connection: &Connection) -> sql::Result<Option<Position>> {
    read_position(connection, REMOVED_POSITION)
}

pub(crate) fn read_position(connection: &Connection, name: &str) -> sql::Result<Option<Position>> {
    let select = "SELECT value FROM meta WHERE name = ?1";
    let position = connection.find_row_with(select, [name], read_number)?;
    Ok(position.map(|position| Position(position as u64)))
}

pub(crate) fn write_position(
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

/// Counts a change of an API key or the end of a page session, which are not in the log. The
/// caller's transaction serializes it on Postgres by the lock on the log head.
pub(crate) fn bump_access_version(connection: &Connection) -> sql::Result<()> {
    let known = read_position(connection, ACCESS_VERSION)?.unwrap_or_default();
    write_position(connection, ACCESS_VERSION, Position(known.0 + 1)).map(drop)
}

/// The log head and the access version, in one query. For Postgres.
#[cfg(feature = "scaled")]
pub(crate) fn head_and_access_version(connection: &Connection) -> sql::Result<(Position, u64)> {
    let select = format!(
        "SELECT position, (SELECT value FROM meta WHERE name = '{ACCESS_VERSION}') FROM log_head"
    );
    connection.prepare_cached(&select)?.query_row((), |row| {
        let head: i64 = row.get(0)?;
        let version: Option<[u8; 8]> = row.get(1)?;
        Ok((Position(head as u64), version.map_or(0, u64::from_be_bytes)))
    })
}

/// Eight bytes, big-endian. Older stores have SQLite integers.
fn read_number(row: &Row<'_>) -> sql::Result<i64> {
    match row.get_ref(0)? {
        ValueRef::Integer(number) => Ok(number),
        ValueRef::Blob(_)
        | ValueRef::Null
        | ValueRef::Real(_)
        | ValueRef::Text(_)
        | ValueRef::Uuid(_) => Ok(i64::from_be_bytes(row.get(0)?)),
    }
}

/// True when the projections must be rebuilt before they are read.
pub(crate) fn is_stale(connection: &Connection) -> Result<bool, StoreError> {
    Ok(connection.prepare("SELECT 1 FROM meta WHERE name = ?1")?.exists([STALE_PROJECTIONS])?)
}

pub(crate) fn mark_stale(connection: &Connection) -> sql::Result<()> {
    let sql = "REPLACE INTO meta (name, value) VALUES (?1, x'01')";
    connection.execute(sql, [STALE_PROJECTIONS]).map(drop)
}

pub(crate) fn clear_stale(connection: &Connection) -> sql::Result<()> {
    connection.execute("DELETE FROM meta WHERE name = ?1", [STALE_PROJECTIONS]).map(drop)
}

pub(crate) fn find_seal_key(connection: &Connection) -> Result<Option<[u8; 32]>, StoreError> {
    let select = "SELECT value FROM meta WHERE name = 'seal_key'";
    let stored: Option<Vec<u8>> = connection.find_row(select, ())?;
    let unreadable = |_| StoreError::Corrupt("the seal key is not 32 bytes long".into());
    stored.map(|key| key.try_into().map_err(unreadable)).transpose()
}

/// Reads the store's key, or stores `fresh` as its key.
pub(crate) fn seal_key(connection: &Connection, fresh: [u8; 32]) -> Result<[u8; 32], StoreError> {
    if let Some(key) = find_seal_key(connection)? {
        return Ok(key);
    }
    // When nodes start at the same time, all of them use the first node's key.
    let insert = "INSERT INTO meta (name, value) VALUES ('seal_key', ?1) ON CONFLICT DO NOTHING";
    connection.execute(insert, [&fresh[..]])?;
    find_seal_key(connection)?.ok_or(StoreError::Database(sql::Error::NoRows))
}

pub(crate) fn restored_at(connection: &Connection) -> Result<Option<Timestamp>, StoreError> {
    let micros: Option<[u8; 8]> =
        connection.find_row("SELECT value FROM meta WHERE name = ?1", [RESTORED_AT])?;
    Ok(micros.map(|micros| Timestamp::from_micros(i64::from_be_bytes(micros))))
}
