//! Answers "how are we doing" from what is stored, and says what each event does to that.
//!
//! `changes` is pure; the reports read through the store's traits. Never writes, never detects.

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

pub use artifact::{Artifact, ArtifactPage, ArtifactSearch, search};
pub use changes::changes_of;
pub use confidence::{ConfidenceBin, confidence_bins};
pub use conversation::{ConversationReport, ConversationRequest, TurnReport, conversation};
pub use error::ReportError;
pub use item::FeedbackItem;
pub use period::{PeriodItem, PeriodReport, PeriodRequest, TurnFeedback, period};
pub use quality::{Bounds, Figure, Reading, Target, total};
pub use rate::Rate;
pub use satisfaction::Satisfaction;
pub use seal::Seal;
pub use turn_log::{LogEntry, TurnLog, turn_log};
