//! Reports over stored events. Reads and never writes.

mod seal;
mod rate;
mod satisfaction;
mod quality;
mod confidence;
mod item;
mod period;
mod conversation;
mod artifact;
mod turn_log;

pub use artifact::{Artifact, ArtifactPage, ArtifactSearch, search_artifacts};
pub use confidence::{ConfidenceBin, ConfidenceBins};
pub use conversation::{ConversationReport, ConversationRequest, TurnReport, report_conversation};
pub use item::FeedbackItem;
pub use period::{PeriodItem, PeriodReport, PeriodRequest, TurnFeedback, report_period};
pub use quality::{Bounds, Figure, Reading, Target, sum_buckets};
pub use rate::Rate;
pub use satisfaction::Satisfaction;
pub use seal::Seal;
pub use turn_log::{LogEntry, TurnLog, turn_log};

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
