//! Copies a SQLite store into an empty Postgres database, table by table, and proves that it arrived.
//!
//! What was copied is noted in the target in the same transaction, so that a run that was killed goes on
//! where it stopped. As long as the note is there, and no newest position, no server takes the database
//! for a store. Rows keep their keys: everything that refers to anything is copied as it stands.

mod handover;
mod tables;
mod columns;
mod field;
mod copy;
mod check;
mod target;
#[cfg(test)]
mod tests;

use std::path::Path;

use crate::error::StoreError;
use crate::maintenance::migrate_store::handover::Handover;

use columns::Layout;
use target::Target;

/// Which part of the work is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrateStep {
    Copying,
    Checking,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migrated {
    pub tables: usize,
    pub rows: u64,
    /// Rows that an earlier run had copied already.
    pub found: u64,
    /// The position of the newest event.
    pub head: u64,
}

/// Copies the store in a folder into the database at this address. `batch` rows at the most are copied
/// together; `progress` is told how many rows are done, and of how many.
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
            // Rows that came between two runs push others to where they were not looked for.
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
            // Somebody used the folder between two runs. What stands there now counts.
            tracing::warn!(table = %layout.table, "a table has changed since; it is copied again");
            target.empty(&layout.table)?;
            copy::copy(layout, &source.connection, &mut target, batch, |_| {})?;
            if !check::is_equal(layout, &source.connection, target.session()?)? {
                return Err(StoreError::Migration(format!(
                    "the table {} is not the same on both sides after it was copied; the target \
                     stays unfinished",
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
