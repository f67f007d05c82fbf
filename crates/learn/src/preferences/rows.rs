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
}

/// A pair for DPO and for reward models, which also read the margin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DpoRow {
    pub prompt: Vec<Message>,
    pub chosen: Vec<Message>,
    pub rejected: Vec<Message>,
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// A single labelled answer, for KTO.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KtoRow {
    pub prompt: Vec<Message>,
    pub completion: Vec<Message>,
    pub label: bool,
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// A conversation that ends in a good answer, for supervised fine-tuning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SftRow {
    pub messages: Vec<Message>,
    #[serde(flatten)]
    pub provenance: Provenance,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenAiInput {
    pub messages: Vec<Message>,
}

/// A pair for OpenAI preference fine-tuning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenAiRow {
    pub input: OpenAiInput,
    pub preferred_output: Vec<Message>,
    pub non_preferred_output: Vec<Message>,
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// A row in the requested format. It serialises as the inner row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PreferenceRow {
    Dpo(DpoRow),
    Kto(KtoRow),
    Sft(SftRow),
    OpenAi(OpenAiRow),
}

impl PreferenceRow {
    pub fn provenance(&self) -> &Provenance {
        match self {
            Self::Dpo(row) => &row.provenance,
            Self::Kto(row) => &row.provenance,
            Self::Sft(row) => &row.provenance,
            Self::OpenAi(row) => &row.provenance,
        }
    }
}
