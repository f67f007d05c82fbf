//! Why a report could not be given.

use store::StoreError;

/// Divided by what the caller can do about it.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The cursor is not one of ours, or of another request.
    #[error("the cursor does not belong to this request; use next_cursor as it was given")]
    BadCursor,
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}
