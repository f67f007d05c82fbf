//! What can go wrong while writing.

/// Why a row could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// What is written to does not take it.
    #[error("the output does not take more")]
    Output(#[from] std::io::Error),
    /// The Parquet library refused.
    #[error("the rows cannot be written as Parquet")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// A file holds rows of one shape only.
    #[error("a row of another shape than the file's")]
    OtherShape,
}
