//! One process owns a data folder.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// Held as long as the store is open. The operating system lets go of it when the process dies,
/// however it dies.
#[derive(Debug)]
pub(super) struct FolderLock {
    file: File,
    folder: PathBuf,
}

/// Who has a folder, by its lock file.
#[derive(Clone, PartialEq, Eq)]
pub struct Holder {
    /// In words: `process 123`.
    pub process: String,
    /// Where its server listens, and the token by which it knows the owner of the folder.
    pub server: Option<(String, String)>,
}

impl std::fmt::Debug for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Holder").field("process", &self.process).finish_non_exhaustive()
    }
}

/// Who has this folder now; nobody if its lock can be had.
pub fn holder_of(folder: &Path) -> Option<Holder> {
    let mut file = OpenOptions::new().read(true).open(folder.join("lock")).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => read_holder(&mut file).ok().flatten(),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

fn read_holder(file: &mut File) -> std::io::Result<Option<Holder>> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let mut lines = text.lines();
    let Some(process) = lines.next().filter(|line| !line.is_empty()) else { return Ok(None) };
    let url = lines.next().and_then(|line| line.strip_prefix("url "));
    let token = lines.next().and_then(|line| line.strip_prefix("token "));
    let server = url.zip(token).map(|(url, token)| (url.to_owned(), token.to_owned()));
    Ok(Some(Holder { process: process.to_owned(), server }))
}

impl FolderLock {
    /// Creates the folder if it is not there and takes its lock, or says who has it.
    pub(super) fn take(folder: &Path) -> Result<Self, StoreError> {
        let failed = |cause| StoreError::Folder { folder: folder.to_owned(), cause };
        create_private(folder).map_err(failed)?;
        let path = folder.join("lock");
        let mut file = private(OpenOptions::new().read(true).write(true).create(true))
            .open(path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = read_holder(&mut file).map_err(failed)?.map(|holder| holder.process);
                return Err(StoreError::Locked { folder: folder.to_owned(), holder });
            }
            Err(TryLockError::Error(cause)) => return Err(failed(cause)),
        }
        let lock = Self { file, folder: folder.to_owned() };
        lock.write(&format!("process {}\n", std::process::id()))?;
        Ok(lock)
    }

    /// Adds where the server listens and a token for the owner of the folder.
    pub(super) fn announce(&self, url: &str, token: &str) -> Result<(), StoreError> {
        self.write(&format!("process {}\nurl {url}\ntoken {token}\n", std::process::id()))
    }

    fn write(&self, text: &str) -> Result<(), StoreError> {
        let failed = |cause| StoreError::Folder { folder: self.folder.clone(), cause };
        let mut file = &self.file;
        file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)
    }
}

/// What people said is nobody else's business on this machine.
fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The lock file tells other commands how to reach the server; that is for the owner alone.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
