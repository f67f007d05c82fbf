//! Row formats of training libraries: TRL conversational and OpenAI.
//!
//! All rows of a file have the same columns without nulls, because readers infer column types from
//! the first rows.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageRole {
    User,
    Assistant,
}

impl MessageRole {
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    pub role: MessageRole,
    pub content: String,
}

impl Message {
    pub(super) fn user(content: &str) -> Self {
        Self { role: MessageRole::User, content: content.to_owned() }
    }

    pub(super) fn assistant(content: &str) -> Self {
        Self { role: MessageRole::Assistant, content: content.to_owned() }
    }
}

/// Extra columns that training libraries ignore.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Provenance {
    /// Content hash, the same in every export.
    pub id: String,
    /// `correction`, `rating`, `rephrase`, `regeneration` or `experiment`.
    pub source: &'static str,
    pub margin: f64,
    pub confidence: f64,
    /// `train`, `validation` or `test`.
    pub split: &'static str,
    /// Turns of the answers, the better first.
    pub turn_ids: Vec<String>,
    /// Conversations in the same order.
    pub conversation_ids: Vec<String>,
    /// Name of the experiment; empty for other sources.
    pub experiment: String,
    /// Rewards of the turns, in the same order.
    pub rewards: Vec<f64>,
    pub reward_weights: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenAiInput {
    pub messages: Vec<Message>,
}

/// The columns of the requested format.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RowContent {
    /// A pair for DPO and for reward models, which also read the margin.
    Dpo { prompt: Vec<Message>, chosen: Vec<Message>, rejected: Vec<Message> },
    /// A single labelled answer, for KTO.
    Kto { prompt: Vec<Message>, completion: Vec<Message>, label: bool },
    /// A conversation that ends in a good answer, for supervised fine-tuning.
    Sft { messages: Vec<Message> },
    /// A pair for OpenAI preference fine-tuning.
    OpenAi {
        input: OpenAiInput,
        preferred_output: Vec<Message>,
        non_preferred_output: Vec<Message>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PreferenceRow {
    #[serde(flatten)]
    pub content: RowContent,
    #[serde(flatten)]
    pub provenance: Provenance,
}
