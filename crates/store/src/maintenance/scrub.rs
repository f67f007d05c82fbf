//! Scrubbing: truncates the write-ahead log, so that erased words are in no file of the store.

use std::time::Duration;

use sql::Connection;

use crate::Store;
use crate::error::{StoreError, Task};
use crate::sqlite;

/// The longest wait for readers. Writes wait too.
const READER_WAIT: Duration = Duration::from_millis(200);

/// Not zero: with short reads all the time, there is no instant without a reader.
const SHORT_READER_WAIT: Duration = Duration::from_millis(10);

impl Store {
    /// Removes deleted content from the database files. Returns false while a reader holds an old
    /// snapshot; retry then.
    pub fn scrub(&self) -> Task<'_, bool> {
        Box::pin(self.writer.run(|connection| truncate_wal(connection, READER_WAIT)))
    }

    /// Like `scrub` for frequent retries: waits only briefly for readers, so that writes are not
    /// delayed.
    pub fn scrub_if_free(&self) -> Task<'_, bool> {
        Box::pin(self.writer.run(|connection| truncate_wal(connection, SHORT_READER_WAIT)))
    }
}

/// Checkpoints and truncates the WAL. Deleted rows are already overwritten (`secure_delete`).
/// Returns false while a reader holds an old snapshot.
fn truncate_wal(connection: &mut Connection, wait: Duration) -> Result<bool, StoreError> {
    // Postgres vacuums deleted rows by itself.
    let Some(connection) = connection.sqlite() else { return Ok(true) };
    // New readers use the database file and do not block the checkpoint.
    connection.busy_timeout(wait)?;
    let busy: rusqlite::Result<i64> =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
    connection.busy_timeout(sqlite::BUSY_TIMEOUT)?;
    Ok(busy? == 0)
}
