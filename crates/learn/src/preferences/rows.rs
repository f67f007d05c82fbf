//! Rows as training libraries read them: TRL's conversational form, and OpenAI's.
//!
//! Every row of a file has the same columns, and none is ever null: readers infer the type of a
//! column from its first rows.

use serde::Serialize;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageRole {
    /// Who asks.
    User,
    /// Who answers.
    Assistant,
}

impl MessageRole {
    /// The word in a file.
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Who speaks.
    pub role: MessageRole,
    /// What they say.
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

/// Where a row comes from: columns beside those of the library, which leaves them alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Provenance {
    /// The row's own name: the same row has the same in every export.
    pub id: String,
    /// How we know: `correction`, `rating`, `rephrase`, `regeneration` or `experiment`.
    pub source: &'static str,
    /// How much better the better answer is, from 0 to 1.
    pub margin: f64,
    /// How sure we are, from 0 to 1.
    pub confidence: f64,
    /// `train`, `validation` or `test`.
    pub split: &'static str,
    /// The turns its answers come from, the better first.
    pub turn_ids: Vec<String>,
    /// Their conversations, in the same order.
    pub conversation_ids: Vec<String>,
    /// The name of the experiment whose variants gave them; empty for other sources.
    pub experiment: String,
}

/// A pair for DPO and for reward models, which also read the margin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DpoRow {
    /// The conversation up to the question.
    pub prompt: Vec<Message>,
    /// The better answer.
    pub chosen: Vec<Message>,
    /// The worse.
    pub rejected: Vec<Message>,
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// One answer with a thumb, for KTO.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KtoRow {
    /// The conversation up to the question.
    pub prompt: Vec<Message>,
    /// The answer.
    pub completion: Vec<Message>,
    /// Whether it is good.
    pub label: bool,
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// A conversation that ends in a good answer, for supervised tuning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SftRow {
    /// All of it.
    pub messages: Vec<Message>,
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// What OpenAI calls the input of a pair.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenAiInput {
    /// The conversation up to the question.
    pub messages: Vec<Message>,
}

/// A pair as OpenAI's preference tuning reads it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenAiRow {
    /// The conversation up to the question.
    pub input: OpenAiInput,
    /// The better answer.
    pub preferred_output: Vec<Message>,
    /// The worse.
    pub non_preferred_output: Vec<Message>,
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// A row of whichever shape was asked for. As JSON it is the row itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PreferenceRow {
    /// For DPO and reward models.
    Dpo(DpoRow),
    /// For KTO.
    Kto(KtoRow),
    /// For supervised tuning.
    Sft(SftRow),
    /// For OpenAI.
    OpenAi(OpenAiRow),
}

impl PreferenceRow {
    /// Where it comes from.
    pub fn provenance(&self) -> &Provenance {
        match self {
            Self::Dpo(row) => &row.provenance,
            Self::Kto(row) => &row.provenance,
            Self::Sft(row) => &row.provenance,
            Self::OpenAi(row) => &row.provenance,
        }
    }
}
