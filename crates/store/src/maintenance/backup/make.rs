//! Copies a database page by page, as it was at one moment.
//!
//! The pages are read in one read transaction: whoever writes meanwhile is not kept waiting, and what
//! they write is not in the copy. The write-ahead log cannot begin anew until then, so it grows by as much as
//! is written meanwhile.

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

/// Pages that are copied before it is told how far it has come.
const STEP_PAGES: i32 = 2000;
/// How long to wait when SQLite says that it cannot be done right now, and how often.
const STEP_PAUSE: Duration = Duration::from_millis(20);
const MAX_ATTEMPTS: u32 = 500;

/// Copies the store in a folder into a file, whoever uses it meanwhile, and proves the copy. `progress` is told how
/// much is done, and of how much.
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
    // It is put on disk once, at the end.
    copy.pragma_update(None, "synchronous", "OFF")?;
    source.begin_reading()?;
    let head = event_rows::newest_position(&source)?.0;
    let counted = copy_pages(&source, &mut copy, &mut progress)?;
    source.end_reading()?;
    // One file, without companions.
    copy.pragma_update(None, "journal_mode", "DELETE")?;
    check_structure(&copy)?;
    if content::count(&copy)? != counted {
        return Err(StoreError::Backup("the copy does not have the rows of the store".into()));
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

/// Copies all pages of the moment that `source` reads. Answers how many rows there are in it.
fn copy_pages(
    source: &Connection,
    copy: &mut File,
    mut progress: impl FnMut(u64, u64),
) -> Result<content::Counts, StoreError> {
    let not_a_file = || StoreError::Backup("only a store in a file can be copied so".into());
    let source = source.sqlite().ok_or_else(not_a_file)?;
    let counted = content::count(source)?;
    let backup = Backup::new(source, copy)?;
    let locked = || StoreError::Unavailable("the database stays locked".into());
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

/// Whether pages, tables and indexes fit together.
pub(crate) fn check_structure(copy: &File) -> Result<(), StoreError> {
    let found: String = copy.query_row("PRAGMA integrity_check(1)", (), |row| row.get(0))?;
    match found.as_str() {
        "ok" => Ok(()),
        why => Err(StoreError::Backup(format!("the copy is damaged: {why}"))),
    }
}
