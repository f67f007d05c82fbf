//! Scrubbing: truncates the write-ahead log, so that erased words are in no file of the store.

use std::time::Duration;

use sql::Connection;

use crate::error::StoreError;
use crate::sqlite;

/// Maximum wait for readers. Writes wait too.
pub(crate) const READER_WAIT: Duration = Duration::from_millis(200);

/// Not zero, because under constant short reads some reader is always active.
pub(crate) const SHORT_READER_WAIT: Duration = Duration::from_millis(10);

/// Checkpoints and truncates the WAL. Deleted rows are already overwritten (`secure_delete`).
/// Returns false while a reader holds an old snapshot.
pub(crate) fn truncate_wal(
    connection: &mut Connection,
    wait: Duration,
) -> Result<bool, StoreError> {
    // Postgres vacuums deleted rows by itself.
    let Some(connection) = connection.sqlite() else { return Ok(true) };
    // New readers use the database file and do not block the checkpoint.
    connection.busy_timeout(wait)?;
    let busy: rusqlite::Result<i64> =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
    connection.busy_timeout(sqlite::BUSY_TIMEOUT)?;
    Ok(busy? == 0)
}
