//! One process owns a data folder.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::error::StoreError;

/// Held as long as the store is open. The operating system lets go of it when the process dies,
/// however it dies.
#[derive(Debug)]
pub(super) struct FolderLock {
    _file: File,
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
                let mut holder = String::new();
                file.read_to_string(&mut holder).map_err(failed)?;
                let holder = Some(holder.trim().to_owned()).filter(|text| !text.is_empty());
                return Err(StoreError::Locked { folder: folder.to_owned(), holder });
            }
            Err(TryLockError::Error(cause)) => return Err(failed(cause)),
        }
        file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
        writeln!(file, "process {}", std::process::id()).map_err(failed)?;
        Ok(Self { _file: file })
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

/// The lock file will tell other commands how to reach the server; that is for the owner alone.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
