//! Opens SQLite connections with the settings for durability and speed.

use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection as File, OpenFlags};
use sql::Connection;

use crate::error::StoreError;

/// The writer is the only writer, but a starting reader may hold the write lock briefly. That
/// happens when it finds the header of the WAL index half-written.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A turn touches about 25 pages, so smaller pages mean fewer bytes per commit.
const PAGE_BYTES: u32 = 2048;

pub(crate) fn writer(file: &Path) -> Result<File, StoreError> {
    create_private(file)?;
    let connection = File::open(file)?;
    // Of a new file only. A commit writes each touched page as a whole.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // FULL: a commit is on disk before it is answered. Group commit keeps that cheap.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", "OFF")?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Deleted content is overwritten, so an erasure leaves nothing in the file.
    connection.pragma_update(None, "secure_delete", "ON")?;
    // A negative size is in KiB.
    connection.pragma_update(None, "cache_size", -16_384)?;
    // The checkpoint thread does this; the limit applies only when it cannot keep up.
    connection.pragma_update(None, "wal_autocheckpoint", 20_000)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    keep_plans(&connection)?;
    Ok(connection)
}

/// A new database of this process alone. It is lost in a crash.
pub(crate) fn scratch(file: &Path) -> Result<File, StoreError> {
    create_private(file)?;
    let connection = File::open(file)?;
    for (setting, value) in
        [("journal_mode", "OFF"), ("synchronous", "OFF"), ("locking_mode", "EXCLUSIVE")]
    {
        connection.pragma_update(None, setting, value)?;
    }
    connection.pragma_update(None, "foreign_keys", "OFF")?;
    // A negative size is in KiB.
    connection.pragma_update(None, "cache_size", -65_536)?;
    keep_plans(&connection)?;
    Ok(connection)
}

/// Sets whether commits wait for fsync. Postgres ignores the setting.
pub(crate) fn wait_for_disk(connection: &mut Connection, wait: bool) -> Result<(), StoreError> {
    if let Some(connection) = connection.sqlite() {
        connection.pragma_update(None, "synchronous", if wait { "FULL" } else { "NORMAL" })?;
    }
    Ok(())
}

/// Creates the file with mode 0600. SQLite gives the WAL files the same mode.
fn create_private(file: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let failed = |cause| StoreError::Folder { folder: file.to_owned(), cause };
    options.open(file).map(drop).map_err(failed)
}

/// The connection of the checkpoint thread.
pub(crate) fn checkpointer(file: &Path) -> Result<File, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = File::open_with_flags(file, flags)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cache_size", -256)?;
    Ok(connection)
}

pub(crate) fn reader(file: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = File::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -4_096)?;
    keep_plans(&connection)?;
    Ok(Connection::Sqlite(connection))
}

/// Keeps query plans stable (QPSG). Otherwise SQLite plans many statements again for each new
/// parameter value, which costs more than running them.
fn keep_plans(connection: &File) -> Result<(), StoreError> {
    // More than the number of statements in the code, so none is evicted.
    connection.set_prepared_statement_cache_capacity(512);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}
