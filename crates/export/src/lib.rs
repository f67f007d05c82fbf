//! Encodes preference data as JSON lines or Parquet.
//!
//! It writes to the given output as rows arrive and buffers at most one row group.

mod error;
mod jsonl;
mod parquet;

pub use error::ExportError;
pub use jsonl::write_jsonl;
pub use parquet::ParquetWriter;
