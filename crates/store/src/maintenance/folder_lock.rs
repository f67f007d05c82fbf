//! One process owns a data folder.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::StoreError;

/// The file in a data folder that says who has it.
pub(crate) const LOCK: &str = "lock";

/// Held as long as the store is open. The operating system lets go of it when the process dies,
/// however it dies.
#[derive(Debug)]
pub(crate) struct FolderLock {
    file: File,
    folder: PathBuf,
}

/// Who has a folder, by its lock file.
#[derive(Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// In words: `process 123`.
    pub process: String,
    /// Where its server listens, and the token by which it knows the owner of the folder.
    pub server: Option<(String, String)>,
    /// It lets go when somebody else asks for the folder.
    pub yields: bool,
}

impl std::fmt::Debug for LockHolder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LockHolder").field("process", &self.process).finish_non_exhaustive()
    }
}

/// Who has this folder now; nobody if its lock can be had.
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
/// The file by which somebody asks for a folder.
const REQUEST_FILE: &str = "wanted";

/// Asks whoever has the folder, and yields, to let go of it.
pub fn request_folder(folder: &Path) -> std::io::Result<()> {
    private(OpenOptions::new().write(true).create(true).truncate(true))
        .open(folder.join(REQUEST_FILE))
        .map(drop)
}

/// Whether somebody asked for the folder and does not have it yet.
pub fn is_folder_requested(folder: &Path) -> bool {
    folder.join(REQUEST_FILE).exists()
}

/// Those who only look take the lock for a moment too.
const MAX_ATTEMPTS: u32 = 5;
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

impl FolderLock {
    /// Creates the folder if it is not there and takes its lock, or says who has it.
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

    /// Adds where the server listens and a token for the owner of the folder, and whether it lets go
    /// of the folder when it is asked for it.
    pub(crate) fn announce(&self, url: &str, token: &str, yields: bool) -> Result<(), StoreError> {
        let yields = if yields { YIELDS } else { "" };
        let process = std::process::id();
        self.write(&format!("process {process}\nurl {url}\ntoken {token}\n{yields}\n"))
    }

    fn write(&self, text: &str) -> Result<(), StoreError> {
        let failed = |cause| StoreError::Folder { folder: self.folder.clone(), cause };
        let mut file = &self.file;
        // Written over in one piece and cut afterwards: whoever reads meanwhile finds neither nothing
        // nor the rest of what the last holder said.
        let old = usize::try_from(file.metadata().map_err(failed)?.len()).unwrap_or(0);
        let whole = format!("{text}{}", "\n".repeat(old.saturating_sub(text.len())));
        file.rewind().map_err(failed)?;
        file.write_all(whole.as_bytes()).map_err(failed)?;
        file.set_len(text.len() as u64).map_err(failed)
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
