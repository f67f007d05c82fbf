//! Rows of preference data as bytes: JSON lines or Parquet.
//!
//! Opens no file and no connection: it writes into what it is given, as rows come, and keeps no more
//! than one group of rows.

mod error;
mod jsonl;
mod parquet;

pub use error::ExportError;
pub use jsonl::write_jsonl;
pub use parquet::ParquetWriter;
