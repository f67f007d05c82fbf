//! Encodes preference data as JSON lines or Parquet.
//!
//! It writes to the given output as rows arrive and buffers at most one row group.

mod parquet;

use std::io::Write;

use learn::PreferenceRow;

pub use parquet::ParquetWriter;

#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("writing to the output failed")]
    Output(#[from] std::io::Error),
    #[error("the rows cannot be encoded as Parquet")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// A file holds rows of one format only.
    #[error("the row's format differs from the file's")]
    OtherShape,
}

pub fn write_jsonl(row: &PreferenceRow, output: &mut impl Write) -> Result<(), ExportError> {
    serde_json::to_writer(&mut *output, row).map_err(std::io::Error::from)?;
    Ok(output.write_all(b"\n")?)
}
