//! The error type of reports.

use store::StoreError;

/// Divided by what the caller can do about it.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The cursor is forged or belongs to another request.
    #[error("the cursor does not belong to this request; send next_cursor unchanged")]
    BadCursor,
    #[error(transparent)]
    Store(#[from] StoreError),
}
