//! The lock that gives one process ownership of a data folder.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::StoreError;

/// The lock file, which also names its holder.
pub(crate) const LOCK: &str = "lock";

/// Held while the store is open. The operating system releases it when the process dies.
#[derive(Debug)]
pub(crate) struct FolderLock {
    file: File,
    folder: PathBuf,
}

/// The holder of a folder, as written in its lock file.
#[derive(Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// For example `process 123`.
    pub process: String,
    /// The server's URL and the token for the folder's owner.
    pub server: Option<(String, String)>,
    /// True when the holder releases the folder on request.
    pub yields: bool,
}

impl std::fmt::Debug for LockHolder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LockHolder").field("process", &self.process).finish_non_exhaustive()
    }
}

/// Reads the current holder; `None` when the lock is free.
pub fn read_lock_holder(folder: &Path) -> Option<LockHolder> {
    let mut file = OpenOptions::new().read(true).open(folder.join(LOCK)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => read_holder(&mut file).ok().flatten(),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

fn read_holder(file: &mut File) -> std::io::Result<Option<LockHolder>> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let mut lines = text.lines();
    let Some(process) = lines.next().filter(|line| !line.is_empty()) else { return Ok(None) };
    let url = lines.next().and_then(|line| line.strip_prefix("url "));
    let token = lines.next().and_then(|line| line.strip_prefix("token "));
    let server = url.zip(token).map(|(url, token)| (url.to_owned(), token.to_owned()));
    let yields = lines.next() == Some(YIELDS);
    Ok(Some(LockHolder { process: process.to_owned(), server, yields }))
}

const YIELDS: &str = "yields";
/// The file that requests a folder from its holder.
const REQUEST_FILE: &str = "wanted";

/// Requests the folder from a holder that yields.
pub fn request_folder(folder: &Path) -> std::io::Result<()> {
    private(OpenOptions::new().write(true).create(true).truncate(true))
        .open(folder.join(REQUEST_FILE))
        .map(drop)
}

/// True while a request is pending.
pub fn is_folder_requested(folder: &Path) -> bool {
    folder.join(REQUEST_FILE).exists()
}

/// Retries, because readers of the lock file hold the lock briefly.
const MAX_ATTEMPTS: u32 = 5;
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

impl FolderLock {
    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    /// Creates the folder and takes its lock, or returns its holder.
    pub(crate) fn acquire(folder: &Path) -> Result<Self, StoreError> {
        let failed = |cause| StoreError::Folder { folder: folder.to_owned(), cause };
        create_private(folder).map_err(failed)?;
        let path = folder.join(LOCK);
        let mut file = private(OpenOptions::new().read(true).write(true).create(true))
            .open(path)
            .map_err(failed)?;
        let mut locked = file.try_lock();
        for _ in 1..MAX_ATTEMPTS {
            if !matches!(locked, Err(TryLockError::WouldBlock)) {
                break;
            }
            std::thread::sleep(RETRY_INTERVAL);
            locked = file.try_lock();
        }
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = read_holder(&mut file).map_err(failed)?.map(|holder| holder.process);
                return Err(StoreError::Locked { folder: folder.to_owned(), holder });
            }
            Err(TryLockError::Error(cause)) => return Err(failed(cause)),
        }
        match std::fs::remove_file(folder.join(REQUEST_FILE)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(error));
            }
            Ok(()) | Err(_) => {}
        }
        let lock = Self { file, folder: folder.to_owned() };
        lock.write(&format!("process {}\n", std::process::id()))?;
        Ok(lock)
    }

    /// Publishes the server's URL, a token for the folder's owner, and whether the process yields.
    pub(crate) fn announce(&self, url: &str, token: &str, yields: bool) -> Result<(), StoreError> {
        let yields = if yields { YIELDS } else { "" };
        let process = std::process::id();
        self.write(&format!("process {process}\nurl {url}\ntoken {token}\n{yields}\n"))
    }

    fn write(&self, text: &str) -> Result<(), StoreError> {
        let failed = |cause| StoreError::Folder { folder: self.folder.clone(), cause };
        let mut file = &self.file;
        // Overwritten in one call and then truncated: a reader never sees an empty or mixed file.
        let old = usize::try_from(file.metadata().map_err(failed)?.len()).unwrap_or(0);
        let whole = format!("{text}{}", "\n".repeat(old.saturating_sub(text.len())));
        file.rewind().map_err(failed)?;
        file.write_all(whole.as_bytes()).map_err(failed)?;
        file.set_len(text.len() as u64).map_err(failed)
    }
}

/// Stored texts are private to the owner.
fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The token in the lock file is for the owner only.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
