//! Turns: the data of (query, turn) events.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::number::UnitInterval;
use crate::time::Timestamp;
use crate::word::{TurnStatus, ValidationOutcome};

/// The first half of a turn: the question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    pub text: String,
    /// The intent assigned by the application.
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
    /// True when the question was quoted in feedback and the turn itself was not sent yet.
    #[serde(default, skip_serializing_if = "is_false")]
    pub derived: bool,
    /// True for a derived turn whose question no feedback quoted yet.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unquoted: bool,
}

/// The question and answer that feedback quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotedTurn {
    pub query: String,
    pub response: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The application's approach to an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strategy {
    pub name: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptRef {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl fmt::Display for PromptRef {
    /// Writes `id@version`, or the id alone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{}@{version}", self.id),
            None => f.write_str(&self.id),
        }
    }
}

/// An item retrieved for the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retrieved {
    pub entity_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Rank from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// The retriever's score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// The second half of a turn: the answer and its metadata.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The answer, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    pub status: TurnStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The decision that led to the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PromptRef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retrieved: Vec<Retrieved>,
    /// The application's validation outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_outcome: Option<ValidationOutcome>,
    /// The validator's score; never explicit feedback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_score: Option<UnitInterval>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// Time until the complete answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// Time until the first visible output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_to_first_token_ms: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// False when the client stopped waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<bool>,
    /// True when the answer was quoted in feedback and the turn itself was not sent yet.
    #[serde(default, skip_serializing_if = "is_false")]
    pub derived: bool,
}

impl Completion {
    /// An answer that feedback quotes.
    pub fn quoted(response: Option<String>) -> Self {
        Self {
            response,
            status: TurnStatus::Success,
            error: None,
            model: None,
            decision_id: None,
            strategy: None,
            prompt: None,
            retrieved: Vec::new(),
            validation_outcome: None,
            quality_score: None,
            started_at: None,
            completed_at: None,
            latency_ms: None,
            time_to_first_token_ms: None,
            tokens_in: None,
            tokens_out: None,
            cost: None,
            accepted: None,
            derived: true,
        }
    }
}

/// Either half, as stored in an event's data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "lowercase")]
pub enum TurnHalf {
    Opened(Opening),
    Completed(Box<Completion>),
}

impl TurnHalf {
    /// True for a half that feedback names or quotes.
    pub fn is_derived(&self) -> bool {
        match self {
            Self::Opened(opening) => opening.derived,
            Self::Completed(done) => done.derived,
        }
    }
}
