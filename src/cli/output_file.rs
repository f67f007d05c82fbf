//! A file that a command writes. Only its owner can read it, since it contains user text.
//! It gets its name when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Dropping an unfinished file removes it.
pub(super) struct OutputFile {
    file: File,
    path: PathBuf,
    /// Temporary path until the file is complete. `None` for pipes and devices.
    unfinished: Option<PathBuf>,
}

impl OutputFile {
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        let failed = || format!("cannot write {}", path.display());
        let is_special = fs::metadata(path).is_ok_and(|known| !known.is_file());
        if is_special {
            let file = OpenOptions::new().write(true).open(path).with_context(failed)?;
            return Ok(Self { file, path: path.to_owned(), unfinished: None });
        }
        let mut name = path.as_os_str().to_owned();
        name.push(".partial");
        let unfinished = PathBuf::from(name);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&unfinished).with_context(failed)?;
        Ok(Self { file, path: path.to_owned(), unfinished: Some(unfinished) })
    }

    /// Renames the file to its final name and replaces an existing one.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        let failed = || format!("cannot write {}", self.path.display());
        if let Some(unfinished) = &self.unfinished {
            self.file.sync_all().with_context(failed)?;
            fs::rename(unfinished, &self.path).with_context(failed)?;
        }
        self.unfinished = None;
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|cause| add_path(cause, &self.path))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|cause| add_path(cause, &self.path))
    }
}

/// Adds the path: "No space left on device" does not name the device.
fn add_path(cause: io::Error, path: &Path) -> io::Error {
    let kind = cause.kind();
    if matches!(kind, io::ErrorKind::Interrupted | io::ErrorKind::BrokenPipe) {
        return cause;
    }
    io::Error::new(kind, format!("cannot write {}: {cause}", path.display()))
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(unfinished) = &self.unfinished {
            // The error that stopped the command is reported already.
            let _ = fs::remove_file(unfinished);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_output_keeps_the_existing_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        fs::write(&path, "before").unwrap();
        let mut output = OutputFile::create(&path).unwrap();
        output.write_all(b"half").unwrap();
        drop(output);
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let mut output = OutputFile::create(&path).unwrap();
        output.write_all(b"whole").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        #[cfg(unix)]
        {
            let mode =
                std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600);
        }
        let mut output = OutputFile::create(Path::new("/dev/full")).unwrap();
        let error = output.write_all(b"x").unwrap_err().to_string();
        assert!(error.contains("cannot write /dev/full"), "{error}");
        output.finish().unwrap();
    }
}
