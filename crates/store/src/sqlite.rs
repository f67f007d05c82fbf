//! Opens connections with the settings that durability and speed depend on.

use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection as File, OpenFlags};
use sql::Connection;

use crate::error::StoreError;

/// Nobody else writes, but somebody who begins to read just as a commit ends may find the head of the write-ahead log
/// half-written, and then holds the lock of writers while looking again.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The one connection that writes.
pub(crate) fn writer(file: &Path) -> Result<File, StoreError> {
    create_private(file)?;
    let connection = File::open(file)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // FULL: a commit is on disk before it is answered. Group commit makes that cheap.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", "OFF")?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // What is deleted is overwritten, so that erasing somebody leaves nothing of them.
    connection.pragma_update(None, "secure_delete", "ON")?;
    connection.pragma_update(None, "cache_size", -16_384)?; // KiB
    // A thread of its own moves the log into the database; this is for when it cannot.
    connection.pragma_update(None, "wal_autocheckpoint", 20_000)?; // pages
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    keep_plans(&connection)?;
    Ok(connection)
}

/// Sets whether commits wait until they are on disk. Postgres has its own mind about that.
pub(crate) fn wait_for_disk(connection: &mut Connection, wait: bool) -> Result<(), StoreError> {
    if let Some(connection) = connection.sqlite() {
        connection.pragma_update(None, "synchronous", if wait { "FULL" } else { "NORMAL" })?;
    }
    Ok(())
}

/// The database is for its owner alone, whatever folder it is in; its companions follow it.
fn create_private(file: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let failed = |cause| StoreError::Folder { folder: file.to_owned(), cause };
    options.open(file).map(drop).map_err(failed)
}

/// The connection that moves the write-ahead log into the database and does nothing else.
pub(crate) fn checkpointer(file: &Path) -> Result<File, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = File::open_with_flags(file, flags)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cache_size", -256)?; // KiB
    Ok(connection)
}

/// A connection that only reads.
pub(crate) fn reader(file: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = File::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -4_096)?; // KiB
    keep_plans(&connection)?;
    Ok(Connection::Sqlite(connection))
}

/// Statements are planned once. Without the guarantee SQLite plans many of them anew for each new
/// value, in case a value is worth another plan, which costs more than running them.
fn keep_plans(connection: &File) -> Result<(), StoreError> {
    // More than there are in the code, so that none takes another's place.
    connection.set_prepared_statement_cache_capacity(512);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}
