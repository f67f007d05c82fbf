//! Results of detectors with confidence and evidence.

use serde::{Deserialize, Serialize};

use crate::{
    CorrectionType, ErrorType, RetryIntent, Tolerance, TurnId, UnitInterval, VerdictStatus,
};

/// A span of a text in bytes, and the rule or feature that it triggered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    pub rule: String,
}

/// A failure visible in the answer itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// `None` when the answer did not fail.
    pub error_type: Option<ErrorType>,
    pub confidence: UnitInterval,
    /// Spans of the answer.
    pub evidence: Vec<Evidence>,
}

/// Latency of an answer and the users' tolerance for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Seconds, never negative.
    pub seconds: f64,
    pub tolerance: Tolerance,
    /// False when the client stopped waiting.
    pub accepted: bool,
    /// True when the answer appeared to end before it began, because clocks disagreed.
    pub skewed: bool,
}

/// A repeated question.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// The turn that asked it first.
    pub original_turn_id: TurnId,
    /// Similarity score of the two questions.
    pub similarity: UnitInterval,
    /// Seconds between them, if the times are known.
    pub delay_seconds: Option<f64>,
    pub intent: RetryIntent,
}

/// The wanted and the received answer, in the user's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contrast {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wants: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
}

/// The verdict of a message on the preceding answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub status: VerdictStatus,
    /// Calibrated, from 0 to 1.
    pub confidence: UnitInterval,
    /// Set when the answer is rejected.
    pub correction_type: Option<CorrectionType>,
    /// The message, when it rejects.
    pub user_said: Option<String>,
    /// Spans of the message that decided.
    pub evidence: Vec<Evidence>,
    /// The stated correction, if any.
    pub contrast: Option<Contrast>,
    /// The rule that matched first.
    pub rule: String,
    /// The model's probability of dissatisfaction; `None` in the other modes.
    pub dissatisfied: Option<UnitInterval>,
    /// Relation of the message to the preceding question, if detected.
    pub behaviour: Option<crate::InteractionKind>,
}
