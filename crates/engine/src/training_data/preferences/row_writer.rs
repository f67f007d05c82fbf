//! Encodes preference rows as JSONL or Parquet, in chunks.

use std::io::Write;
use std::sync::Arc;

use crate::export::{ExportError, ParquetWriter, write_jsonl};
use learn::{ExportFormat, PreferenceRow};
use parking_lot::{Mutex, MutexGuard};

use crate::training_data::preferences::query::PreferenceEncoding;

pub(super) enum RowWriter {
    Jsonl(Vec<u8>),
    /// The writer is `None` after the file is closed.
    Parquet(Option<Box<ParquetWriter<SharedBuffer>>>, SharedBuffer),
}

/// Bytes written and not yet taken.
#[derive(Clone, Default)]
pub(super) struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl SharedBuffer {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock()
    }
}

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl RowWriter {
    pub(super) fn new(
        encoding: PreferenceEncoding,
        format: ExportFormat,
    ) -> Result<Self, ExportError> {
        match encoding {
            PreferenceEncoding::Jsonl => Ok(Self::Jsonl(Vec::new())),
            PreferenceEncoding::Parquet => {
                let shared = SharedBuffer::default();
                let writer = ParquetWriter::new(format, shared.clone())?;
                Ok(Self::Parquet(Some(Box::new(writer)), shared))
            }
        }
    }

    pub(super) fn push(&mut self, row: &PreferenceRow) -> Result<(), ExportError> {
        match self {
            Self::Jsonl(bytes) => write_jsonl(row, bytes),
            Self::Parquet(Some(writer), _) => writer.push(row),
            Self::Parquet(None, _) => Err(ExportError::OtherShape),
        }
    }

    /// Takes the bytes written since the last call.
    pub(super) fn take(&mut self) -> Vec<u8> {
        match self {
            Self::Jsonl(bytes) => std::mem::take(bytes),
            Self::Parquet(_, shared) => std::mem::take(&mut *shared.bytes()),
        }
    }

    /// Closes the file and takes the remaining bytes.
    pub(super) fn finish(&mut self) -> Result<Vec<u8>, ExportError> {
        if let Self::Parquet(writer, _) = self
            && let Some(writer) = writer.take()
        {
            writer.finish()?;
        }
        Ok(self.take())
    }
}
