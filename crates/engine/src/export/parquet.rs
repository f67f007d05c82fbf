//! Writes rows as a Parquet file, one row group after another.
//!
//! Uses the library's column writers without Arrow. That saves twenty crates and most of the build
//! time.

mod cells;
mod column;
mod schema;

use std::io::Write;
use std::sync::Arc;

use ::parquet::basic::Compression;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use learn::{ExportFormat, PreferenceRow};

use crate::export::ExportError;
use cells::row_cells;
use column::Column;

/// A row group is written when it reaches either limit.
const GROUP_ROWS: usize = 10_000;
const GROUP_BYTES: usize = 8 << 20;

/// Writes rows of one format.
pub struct ParquetWriter<W: Write + Send> {
    format: ExportFormat,
    file: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: usize,
}

impl<W: Write + Send> ParquetWriter<W> {
    pub fn new(format: ExportFormat, output: W) -> Result<Self, ExportError> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let schema = Arc::new(schema::build_schema(format)?);
        let file = SerializedFileWriter::new(output, schema, Arc::new(properties.build()))?;
        Ok(Self { format, file, columns: schema::columns(format), rows: 0 })
    }

    /// Adds a row. The output receives whole row groups.
    pub fn push(&mut self, row: &PreferenceRow) -> Result<(), ExportError> {
        let cells = row_cells(self.format, row).ok_or(ExportError::OtherShape)?;
        let mut columns = self.columns.iter_mut();
        for cell in cells {
            cell.push_to(&mut columns);
        }
        self.rows += 1;
        let bytes: usize = self.columns.iter().map(Column::bytes).sum();
        if self.rows >= GROUP_ROWS || bytes >= GROUP_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes the last row group and the footer, without which the file is unreadable.
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
