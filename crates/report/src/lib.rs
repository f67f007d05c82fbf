//! Reports over stored events, and the changes that an event makes to projections.
//!
//! The crate reads and never writes; `changes` is pure.

mod changes;
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
mod error;

pub use artifact::{Artifact, ArtifactPage, ArtifactSearch, search_artifacts};
pub use changes::changes_of;
pub use confidence::{ConfidenceBin, confidence_bins};
pub use conversation::{ConversationReport, ConversationRequest, TurnReport, report_conversation};
pub use error::ReportError;
pub use item::FeedbackItem;
pub use period::{PeriodItem, PeriodReport, PeriodRequest, TurnFeedback, report_period};
pub use quality::{Bounds, Figure, Reading, Target, sum_buckets};
pub use rate::Rate;
pub use satisfaction::Satisfaction;
pub use seal::Seal;
pub use turn_log::{LogEntry, TurnLog, turn_log};
