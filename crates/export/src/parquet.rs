//! Rows as a Parquet file, one group of rows after another.
//!
//! Written column by column with the library's own writers, without Arrow between: that saves twenty
//! crates and most of the time to build, and a row has few columns.

mod cells;
mod column;
mod schema;

use std::io::Write;
use std::sync::Arc;

use ::parquet::basic::Compression;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use learn::{ExportFormat, PreferenceRow};

use crate::error::ExportError;
use cells::cells;
use column::Column;

/// A group is written when it has so many rows or bytes, whichever comes first.
const GROUP_ROWS: usize = 10_000;
const GROUP_BYTES: usize = 8 << 20;

/// Writes rows of one shape.
pub struct ParquetWriter<W: Write + Send> {
    format: ExportFormat,
    file: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: usize,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Begins a file.
    pub fn new(format: ExportFormat, output: W) -> Result<Self, ExportError> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let schema = Arc::new(schema::of(format)?);
        let file = SerializedFileWriter::new(output, schema, Arc::new(properties.build()))?;
        Ok(Self { format, file, columns: schema::columns(format), rows: 0 })
    }

    /// Takes a row in. What is written so far arrives in the output group by group.
    pub fn push(&mut self, row: &PreferenceRow) -> Result<(), ExportError> {
        let cells = cells(self.format, row).ok_or(ExportError::OtherShape)?;
        let mut columns = self.columns.iter_mut();
        for cell in cells {
            cell.put(&mut columns);
        }
        self.rows += 1;
        let bytes: usize = self.columns.iter().map(Column::bytes).sum();
        if self.rows >= GROUP_ROWS || bytes >= GROUP_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes what is left and closes the file: without this it cannot be read.
    pub fn finish(mut self) -> Result<W, ExportError> {
        self.write_group()?;
        Ok(self.file.into_inner()?)
    }

    fn write_group(&mut self) -> Result<(), ExportError> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            if let Some(mut writer) = group.next_column()? {
                column.write(&mut writer)?;
                writer.close()?;
            }
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
