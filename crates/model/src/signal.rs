//! What a detector found, how sure it is, and the words that made it think so.

use serde::{Deserialize, Serialize};

use crate::{
    CorrectionType, ErrorType, RetryIntent, Tolerance, TurnId, UnitInterval, VerdictStatus,
};

/// A stretch of a text, in bytes, and the rule or feature that it set off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Which rule or feature.
    pub rule: String,
}

/// Whether an answer failed by itself: before anybody said anything about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// How it failed; `None` when it did not.
    pub error_type: Option<ErrorType>,
    /// How sure.
    pub confidence: UnitInterval,
    /// Where in the answer.
    pub evidence: Vec<Evidence>,
}

/// How long an answer took against what people bear.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Seconds, never negative.
    pub seconds: f64,
    /// How well people bear it.
    pub tolerance: Tolerance,
    /// False when the client gave up waiting.
    pub accepted: bool,
    /// The clocks disagreed: it seemed to end before it began.
    pub skewed: bool,
}

/// The same question again, soon.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// The turn that asked it first.
    pub original_turn_id: TurnId,
    /// The pair score of the two questions.
    pub similarity: UnitInterval,
    /// Seconds between them, if the times are known.
    pub delay_seconds: Option<f64>,
    /// Unhappy with the answer, or exploring.
    pub intent: RetryIntent,
}

/// What the user wants and what they were given instead, in their own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contrast {
    /// What is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wants: Option<String>,
    /// What is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
}

/// What the next message says about the answer before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Rejected, accepted or neutral.
    pub status: VerdictStatus,
    /// How sure, calibrated.
    pub confidence: UnitInterval,
    /// How it was rejected; `None` otherwise.
    pub correction_type: Option<CorrectionType>,
    /// The message, when it rejects.
    pub user_said: Option<String>,
    /// Which words decided, in the message.
    pub evidence: Vec<Evidence>,
    /// What was wanted instead, when the message says so.
    pub contrast: Option<Contrast>,
    /// The rule that matched first.
    pub rule: String,
    /// The learnt model's probability that the user is dissatisfied; `None` in the other modes.
    pub dissatisfied: Option<UnitInterval>,
    /// How the message behaves towards the question before it, when it shows.
    pub behaviour: Option<crate::InteractionKind>,
}
