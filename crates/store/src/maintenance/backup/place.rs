//! A file that is written under a temporary name and renamed when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// The partial file, deleted on drop unless finished.
pub(crate) struct PartialFile {
    path: PathBuf,
    target: PathBuf,
    done: bool,
}

impl PartialFile {
    /// Creates an empty file beside `target`, readable by its owner only. Never overwrites a file.
    pub(crate) fn create(target: &Path) -> Result<Self, StoreError> {
        if target.symlink_metadata().is_ok() {
            return Err(taken(target));
        }
        let path = partial(target);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            Ok(_) => Ok(Self { path, target: target.to_owned(), done: false }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(StoreError::Backup(format!(
                    "{} exists: another backup is writing it or was killed; delete it if no backup is running",
                    path.display()
                )))
            }
            Err(cause) => Err(StoreError::Folder { folder: path, cause }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Syncs the file and renames it, unless the target name exists.
    pub(crate) fn finish(mut self) -> Result<(), StoreError> {
        let failed = |cause| StoreError::Folder { folder: self.target.clone(), cause };
        File::open(&self.path).and_then(|file| file.sync_all()).map_err(failed)?;
        match fs::hard_link(&self.path, &self.target) {
            Ok(()) => fs::remove_file(&self.path).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(taken(&self.target));
            }
            // Not every file system supports hard links.
            Err(_) if self.target.symlink_metadata().is_ok() => return Err(taken(&self.target)),
            Err(_) => fs::rename(&self.path, &self.target).map_err(failed)?,
        }
        self.done = true;
        let folder = match self.target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            Some(_) | None => Path::new("."),
        };
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.done {
            for companion in ["", "-journal", "-wal", "-shm"] {
                let mut name = self.path.as_os_str().to_owned();
                name.push(companion);
                // The file may not exist, and the original error was already returned.
                let _ = fs::remove_file(name);
            }
        }
    }
}

fn partial(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

/// Rejects a folder with an interrupted restore. Opening it would start an empty store.
pub(crate) fn reject_partial_restore(file: &Path) -> Result<(), StoreError> {
    let partial = partial(file);
    if file.exists() || !partial.exists() {
        return Ok(());
    }
    Err(StoreError::Backup(format!(
        "{} belongs to an interrupted restore; empty the folder and run the restore again",
        partial.display()
    )))
}

fn taken(target: &Path) -> StoreError {
    StoreError::Backup(format!(
        "{} already exists and is not overwritten; choose another name",
        target.display()
    ))
}
