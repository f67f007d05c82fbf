//! The error type of exports.

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
