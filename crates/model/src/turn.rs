//! A question, its answer, and how it was made: the data of (query, turn) events.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::number::UnitInterval;
use crate::time::Timestamp;
use crate::word::{TurnStatus, ValidationOutcome};

/// The first half of a turn: what the user asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The user's message.
    pub text: String,
    /// What the application took it for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// Copied onto reactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub track_id: Option<String>,
    /// Copied onto reactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle_id: Option<String>,
    /// Copied onto reactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_type: Option<String>,
}

/// How the application went about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strategy {
    /// Its name.
    pub name: String,
    /// Whatever describes it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
}

/// Which prompt was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptRef {
    /// Which one.
    pub id: String,
    /// In which version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// An item that was retrieved for the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retrieved {
    /// Which item.
    pub entity_id: String,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Where it stood, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// How the retriever scored it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// The second half of a turn: what was answered, and how it was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The answer; absent when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// Whether the application could answer.
    pub status: TurnStatus,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Which model answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The choice that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
    /// How the application went about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// Which prompt was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PromptRef>,
    /// What was retrieved for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retrieved: Vec<Retrieved>,
    /// What the application's validator said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_outcome: Option<ValidationOutcome>,
    /// The validator's score; never explicit feedback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_score: Option<UnitInterval>,
    /// When work on it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// How long the user waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// How long until something could be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_to_first_token_ms: Option<f64>,
    /// Tokens that went in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u64>,
    /// Tokens that came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// False when the client gave up waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<bool>,
}

/// Either half, as an event's data holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "lowercase")]
pub enum TurnHalf {
    /// The question.
    Opened(Opening),
    /// The answer.
    Completed(Box<Completion>),
}
