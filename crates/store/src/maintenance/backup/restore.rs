//! Restores a backup into an empty folder, after verifying it.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use model::Timestamp;
use rusqlite::Connection as File;

use super::content;
use super::make::check_structure;
use super::note::BackupNote;
use super::place::PartialFile;
use crate::api_key_rows::{StoredKey, all_keys};
use crate::error::StoreError;
use crate::maintenance::folder_lock::{FolderLock, LOCK};
use crate::maintenance::migrations;
use crate::{meta, sqlite};

const COPY_BYTES: usize = 1 << 20;

/// Turn-log copies in a folder are not in a backup, so they are made again. Copies in the database
/// or a bucket still exist.
const FORGET_FILES: &str = "
    DELETE FROM turn_logs WHERE document IS NULL AND hosted_uri LIKE 'file://%';
    DELETE FROM cursors WHERE name LIKE 'turn\\_log\\_mirror:folder:%' ESCAPE '\\';";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    pub note: BackupNote,
    /// Keys that are valid after the restore. Keys revoked since the backup are valid again.
    pub keys: Vec<StoredKey>,
}

/// Verifies a backup and makes it the store of an empty or missing folder. Page sessions from
/// before `now` end. `progress` receives the done and total amounts.
pub fn restore(
    from: &Path,
    folder: &Path,
    now: Timestamp,
    progress: impl FnMut(u64, u64),
) -> Result<Restored, StoreError> {
    let was_there = is_there_and_empty(folder)?;
    let source = fs::File::open(from)
        .map_err(|error| StoreError::Backup(format!("cannot open {}: {error}", from.display())))?;
    let lock = FolderLock::acquire(folder)?;
    let restored = fill(from, source, folder, now, progress);
    if restored.is_err() {
        drop(lock);
        // Leaves the folder as it was, so the next attempt finds it empty.
        let _ = fs::remove_file(folder.join(LOCK));
        if !was_there {
            let _ = fs::remove_dir(folder);
        }
    }
    restored
}

fn is_there_and_empty(folder: &Path) -> Result<bool, StoreError> {
    let failed = |cause| StoreError::Folder { folder: folder.to_owned(), cause };
    match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed(error)),
        // An interrupted restore may leave its lock file.
        Ok(mut entries) => match entries.find(|entry| !is_lock(entry)) {
            None => Ok(true),
            Some(_) => Err(StoreError::Backup(format!(
                "{} is not empty; choose an empty folder or a new one",
                folder.display()
            ))),
        },
    }
}

fn is_lock(entry: &std::io::Result<fs::DirEntry>) -> bool {
    entry.as_ref().is_ok_and(|entry| entry.file_name() == LOCK)
}

fn fill(
    from: &Path,
    source: fs::File,
    folder: &Path,
    now: Timestamp,
    progress: impl FnMut(u64, u64),
) -> Result<Restored, StoreError> {
    let unfinished = PartialFile::create(&folder.join("uptake.db"))?;
    copy_bytes(source, unfinished.path(), progress)
        .map_err(|cause| StoreError::Folder { folder: unfinished.path().to_owned(), cause })?;
    let copy = File::open(unfinished.path())?;
    let note = check(&copy).map_err(|error| name_backup(from, error))?;
    BackupNote::remove(&copy)?;
    copy.execute_batch(FORGET_FILES)?;
    // Page sessions ended since the backup would otherwise continue.
    let moment = now.as_micros().to_be_bytes();
    let insert = "INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)";
    copy.execute(insert, (meta::RESTORED_AT, &moment[..]))?;
    copy.close().map_err(|(_, error)| error)?;
    let mut keys = all_keys(&sqlite::reader(unfinished.path())?)?;
    keys.retain(|key| key.revoked_at.is_none());
    unfinished.finish()?;
    Ok(Restored { note, keys })
}

fn copy_bytes(
    mut from: fs::File,
    to: &Path,
    mut progress: impl FnMut(u64, u64),
) -> std::io::Result<()> {
    let mut to = fs::OpenOptions::new().write(true).open(to)?;
    let of = from.metadata()?.len();
    let (mut buffer, mut done) = (vec![0; COPY_BYTES], 0);
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return to.sync_all();
        }
        to.write_all(&buffer[..read])?;
        done += read as u64;
        progress(done, of);
    }
}

/// Verifies the note, the structure, the row counts and the hash.
fn check(copy: &File) -> Result<BackupNote, StoreError> {
    let has_facts: i64 = copy.query_row(
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'meta'",
        (),
        |row| row.get(0),
    )?;
    let note = if has_facts == 1 { BackupNote::read(copy)? } else { None };
    let none = "it is a database, but not a backup made by `uptake backup`";
    let note = note.ok_or_else(|| StoreError::Backup(none.into()))?;
    migrations::check(copy)?;
    check_structure(copy)?;
    let counted = content::count(copy)?;
    let rows: u64 = counted.values().sum();
    if rows != note.rows || counted.len() as u64 != note.tables {
        return Err(StoreError::Backup(format!(
            "it is damaged: it has {rows} rows in {} tables, expected {} rows in {} tables",
            counted.len(),
            note.rows,
            note.tables
        )));
    }
    if content::digest(copy, || {})?.to_hex().as_str() != note.digest {
        let why = "it is damaged: the hash of its content differs from the recorded hash";
        return Err(StoreError::Backup(why.into()));
    }
    Ok(note)
}

/// Adds the backup's path to the error. Any SQLite error means that the backup is unusable.
fn name_backup(from: &Path, error: StoreError) -> StoreError {
    let from = from.display();
    if let StoreError::Backup(why) = &error {
        return StoreError::Backup(format!("{from} is refused: {why}"));
    }
    if let StoreError::Database(cause) = &error {
        let why = format!("{from} is refused: it is damaged or not a backup: {cause}");
        return StoreError::Backup(why);
    }
    error
}
