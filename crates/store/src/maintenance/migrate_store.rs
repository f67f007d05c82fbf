//! Copies a SQLite store into an empty Postgres database, table by table, and verifies it.
//!
//! Each transaction also records its progress in the target, so an interrupted run resumes. While
//! that record exists, no server opens the database. Rows keep their keys.

mod tables;
mod columns;
mod field;
mod copy;
mod check;
mod target;
#[cfg(test)]
mod tests;

use std::path::Path;

use model::Position;
use sql::Connection;

use crate::error::StoreError;
use crate::maintenance::folder_lock::FolderLock;
use crate::maintenance::migrations;
use crate::{event_rows, meta, sqlite};

use columns::Layout;
use target::Target;

/// The phase reported to `progress`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrateStep {
    Copying,
    Checking,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migrated {
    pub tables: usize,
    pub rows: u64,
    /// Rows copied by an earlier run.
    pub found: u64,
    /// The position of the newest event.
    pub head: u64,
}

/// Copies the store in a folder into the database at `address`, at most `batch` rows per
/// transaction. `progress` receives the done and total rows.
pub fn migrate_store(
    folder: &Path,
    address: &str,
    batch: usize,
    mut progress: impl FnMut(MigrateStep, u64, u64),
) -> Result<Migrated, StoreError> {
    let source = Handover::open(folder)?;
    let mut target = Target::claim(address, &source)?;
    let layouts = tables::all()
        .map(|table| Layout::read(&table, &source.connection, target.session()?))
        .collect::<Result<Vec<_>, _>>()?;
    let counts: Vec<u64> = layouts
        .iter()
        .map(|layout| layout.count_in(&source.connection))
        .collect::<Result<_, _>>()?;
    let rows: u64 = counts.iter().sum();
    let mut found = 0;
    for layout in &layouts {
        found += target.copied_rows(&layout.table)?;
    }
    target.make_partitions(&source.connection)?;
    let mut done = found;
    progress(MigrateStep::Copying, done, rows);
    for layout in &layouts {
        let mut told = |more| {
            done += more;
            progress(MigrateStep::Copying, done.min(rows), rows);
        };
        let has_some = target.copied_rows(&layout.table)? > 0;
        match copy::copy(layout, &source.connection, &mut target, batch, &mut told) {
            // Rows added between two runs shift others to unexpected places.
            Err(StoreError::Database(_)) if has_some => {
                target.empty(&layout.table)?;
                copy::copy(layout, &source.connection, &mut target, batch, |_| {})?;
            }
            outcome => outcome?,
        }
    }
    let mut checked = 0;
    for (layout, count) in layouts.iter().zip(counts) {
        if !check::is_equal(layout, &source.connection, target.session()?)? {
            // The folder was used between two runs; its current content counts.
            tracing::warn!(table = %layout.table, "the table changed since the last run; copying it again");
            target.empty(&layout.table)?;
            copy::copy(layout, &source.connection, &mut target, batch, |_| {})?;
            if !check::is_equal(layout, &source.connection, target.session()?)? {
                return Err(StoreError::Migration(format!(
                    "the table {} differs between SQLite and Postgres after the copy; the migration \
                     is incomplete",
                    layout.table
                )));
            }
        }
        checked += count;
        progress(MigrateStep::Checking, checked, rows);
    }
    target.finish(&layouts, source.head)?;
    Ok(Migrated { tables: layouts.len(), rows, found, head: source.head.0 })
}

/// A locked store that no server can open meanwhile.
struct Handover {
    connection: Connection,
    /// The position of the newest event.
    head: Position,
    seal_key: [u8; 32],
    _lock: FolderLock,
}

impl Handover {
    /// Locks the folder and migrates its schema.
    fn open(folder: &Path) -> Result<Self, StoreError> {
        let file = folder.join("uptake.db");
        if !file.exists() {
            return Err(StoreError::NoStore { folder: folder.to_owned() });
        }
        let lock = FolderLock::acquire(folder)?;
        let mut connection = Connection::Sqlite(sqlite::writer(&file)?);
        migrations::migrate_to_newest(&mut connection)?;
        let seal_key = meta::find_seal_key(&connection)?
            .ok_or_else(|| StoreError::Corrupt("the store has no seal key".into()))?;
        let head = event_rows::newest_position(&connection)?;
        Ok(Self { connection, head, seal_key, _lock: lock })
    }
}
