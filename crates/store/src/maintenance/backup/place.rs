//! A file that is written under another name and gets its own when it is whole.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// The unfinished file. It goes with this, unless it was finished.
pub(crate) struct PartialFile {
    path: PathBuf,
    target: PathBuf,
    done: bool,
}

impl PartialFile {
    /// An empty file beside `target`, for its owner alone. Nothing that is there is written over.
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
                    "{} is there: somebody is writing it, or was killed at it; delete it if nobody is",
                    path.display()
                )))
            }
            Err(cause) => Err(StoreError::Folder { folder: path, cause }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts it on disk and gives it its name, unless something else has that by now.
    pub(crate) fn finish(mut self) -> Result<(), StoreError> {
        let failed = |cause| StoreError::Folder { folder: self.target.clone(), cause };
        File::open(&self.path).and_then(|file| file.sync_all()).map_err(failed)?;
        match fs::hard_link(&self.path, &self.target) {
            Ok(()) => fs::remove_file(&self.path).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(taken(&self.target));
            }
            // Not every file system gives a file two names.
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
                // It may not be there; and whoever failed has said why already.
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

/// A folder in which a restore was killed is no empty one: whoever began a store there would not notice that
/// everything is missing.
pub(crate) fn reject_partial_restore(file: &Path) -> Result<(), StoreError> {
    let partial = partial(file);
    if file.exists() || !partial.exists() {
        return Ok(());
    }
    Err(StoreError::Backup(format!(
        "{} is what is left of a restore that was not finished; remove everything in that folder and \
         restore again",
        partial.display()
    )))
}

fn taken(target: &Path) -> StoreError {
    StoreError::Backup(format!("{} is there already; nothing is written over", target.display()))
}
