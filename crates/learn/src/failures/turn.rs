//! Input of the pattern search: failed turns and totals of answered turns.

use model::Contrast;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// The next message rejected the answer.
    Rejected,
    NotOk,
    Rating,
    Correction,
    Error,
    /// A negative comment and nothing else. It counts only if several users agree.
    Comment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureWindow {
    Current,
    /// The window before, of the same length.
    Previous,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AnswerChange {
    /// The columns or the table it changes; may be empty.
    pub about: String,
    /// The change in normalised form, identical for identical changes.
    pub text: String,
}

#[derive(Clone, Copy, Debug)]
pub struct FailedTurn<'a> {
    /// Duplicates of an id count as one turn.
    pub turn_id: &'a str,
    pub question: &'a str,
    /// All vectors of a call come from one model. A vector of another length counts as missing.
    pub question_vector: Option<&'a [f32]>,
    /// The next message, the comment, or the explanation of a correction. A correction without one
    /// uses [`summarise_correction`](crate::summarise_correction).
    pub remark: Option<&'a str>,
    pub remark_vector: Option<&'a [f32]>,
    pub contrast: Option<&'a Contrast>,
    /// Changes of a correction, by [`extract_changes`](crate::extract_changes).
    pub changes: &'a [AnswerChange],
    pub kind: FailureKind,
    pub error_type: Option<&'a str>,
    pub model: Option<&'a str>,
    pub prompt: Option<&'a str>,
    pub strategy: Option<&'a str>,
    pub when_ms: i64,
    pub window: FailureWindow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LiftDimension {
    Model,
    Prompt,
    Strategy,
}

impl LiftDimension {
    pub const ALL_DIMENSIONS: [Self; 3] = [Self::Model, Self::Prompt, Self::Strategy];

    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Prompt => "prompt",
            Self::Strategy => "strategy",
        }
    }

    pub(super) fn read_value<'a>(self, turn: &FailedTurn<'a>) -> Option<&'a str> {
        match self {
            Self::Model => turn.model,
            Self::Prompt => turn.prompt,
            Self::Strategy => turn.strategy,
        }
    }
}

/// Totals of all answered turns, failed or not.
#[derive(Clone, Debug, Default)]
pub struct AnsweredTotals {
    pub now: u64,
    pub before: u64,
    pub by_dimension: Vec<(LiftDimension, String, u64)>,
    /// Questions of turns that did not fail, a sample. Topics are tested against them.
    pub passed: Vec<String>,
}
