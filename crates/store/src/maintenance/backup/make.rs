//! Copies a database page by page, as of one moment.
//!
//! One read transaction covers the copy, so writers continue and their writes are not in the copy.
//! Meanwhile the WAL cannot be reset, so it grows by what is written.

use std::path::Path;
use std::time::Duration;

use model::Timestamp;
use rusqlite::Connection as File;
use rusqlite::backup::{Backup, StepResult};
use sql::Connection;

use super::content;
use super::note::BackupNote;
use super::place::PartialFile;
use crate::error::StoreError;
use crate::maintenance::migrations;
use crate::{event_rows, sqlite};

/// Pages copied between two progress reports.
const STEP_PAGES: i32 = 2000;
/// The wait and the number of attempts while SQLite reports that it is busy.
const STEP_PAUSE: Duration = Duration::from_millis(20);
const MAX_ATTEMPTS: u32 = 500;

/// Copies the store in a folder into a file while it is in use, and verifies the copy. `progress`
/// receives the done and total amounts.
pub fn back_up(
    folder: &Path,
    to: &Path,
    now: Timestamp,
    mut progress: impl FnMut(u64, u64),
) -> Result<BackupNote, StoreError> {
    let file = folder.join("uptake.db");
    if !file.exists() {
        return Err(StoreError::NoStore { folder: folder.to_owned() });
    }
    let unfinished = PartialFile::create(to)?;
    let source = sqlite::reader(&file)?;
    migrations::check_reader(&source)?;
    let mut copy = File::open(unfinished.path())?;
    // One fsync at the end suffices.
    copy.pragma_update(None, "synchronous", "OFF")?;
    source.begin_reading()?;
    let head = event_rows::newest_position(&source)?.0;
    let counted = copy_pages(&source, &mut copy, &mut progress)?;
    source.end_reading()?;
    // A single file, without WAL files.
    copy.pragma_update(None, "journal_mode", "DELETE")?;
    check_structure(&copy)?;
    if content::count(&copy)? != counted {
        return Err(StoreError::Backup(
            "the row counts of the copy differ from those of the store; run the backup again"
                .into(),
        ));
    }
    let rows = counted.values().sum();
    let note = BackupNote {
        made_at: now,
        head,
        tables: counted.len() as u64,
        rows,
        digest: content::digest(&copy, || {})?.to_hex().to_string(),
    };
    note.write(&copy)?;
    copy.close().map_err(|(_, error)| error)?;
    unfinished.finish()?;
    Ok(note)
}

/// Copies all pages of the snapshot that `source` reads. Returns the row counts.
fn copy_pages(
    source: &Connection,
    copy: &mut File,
    mut progress: impl FnMut(u64, u64),
) -> Result<content::Counts, StoreError> {
    let not_a_file = || {
        StoreError::Backup("only a SQLite store can be backed up; use pg_dump for Postgres".into())
    };
    let source = source.sqlite().ok_or_else(not_a_file)?;
    let counted = content::count(source)?;
    let backup = Backup::new(source, copy)?;
    let locked = || StoreError::Unavailable("the database is locked by another process".into());
    let mut tries = 0;
    loop {
        match backup.step(STEP_PAGES)? {
            StepResult::Done => break,
            StepResult::More => {
                let state = backup.progress();
                let (left, of) = (state.remaining.max(0) as u64, state.pagecount.max(0) as u64);
                progress(of.saturating_sub(left), of);
            }
            StepResult::Busy | StepResult::Locked if tries < MAX_ATTEMPTS => {
                tries += 1;
                std::thread::sleep(STEP_PAUSE);
            }
            StepResult::Busy | StepResult::Locked => return Err(locked()),
            _ => return Err(locked()),
        }
    }
    Ok(counted)
}

pub(crate) fn check_structure(copy: &File) -> Result<(), StoreError> {
    let found: String = copy.query_row("PRAGMA integrity_check(1)", (), |row| row.get(0))?;
    match found.as_str() {
        "ok" => Ok(()),
        why => Err(StoreError::Backup(format!("the copy is damaged: {why}"))),
    }
}
