//! What an event adds to what is known of an answer, for rates.

use crate::word::{DecisionOutcome, Reaction, Sentiment};

/// Something about the event's turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnFact {
    /// It was answered.
    Answered {
        /// By which model.
        model: Option<String>,
        /// With which prompt: `id@version`.
        prompt: Option<String>,
        /// By which strategy: its name.
        strategy: Option<String>,
        /// The application says that it could not.
        failed: bool,
        /// Tokens in and out.
        tokens: u64,
        /// In billionths of the application's currency, so that sums are exact.
        cost: u64,
    },
    /// What the answer shows by itself.
    Shown {
        /// It failed.
        failed: bool,
        /// How long it took.
        millis: Option<u64>,
    },
    /// Its question was asked again.
    Retried,
    /// Somebody corrected its answer.
    Corrected,
    /// Somebody said something about it or did something with it.
    Heard,
    /// Its question refines an earlier one.
    Refined,
    /// Somebody commented on it, and it sounds like this.
    Commented(Sentiment),
}

/// Something that names no turn and counts all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LooseFact {
    /// A rating.
    Rated(Reaction),
    /// A correction.
    Corrected,
    /// A refined question.
    Refined,
    /// A comment that sounds like this.
    Commented(Sentiment),
}

/// The intent by which applications mark a question that refines the one before.
const REFINE: &str = "refine";

/// Whether an intent says that the question refines the one before.
pub fn is_refinement(intent: &str) -> bool {
    intent.eq_ignore_ascii_case(REFINE)
}

/// The decision type of a generated SQL statement.
pub const SQL_GENERATION: &str = "sql_generation";

impl DecisionOutcome {
    /// Whether what was decided was carried out without an error, however it was liked.
    pub const fn is_executed(self) -> bool {
        match self {
            Self::Success | Self::Correction | Self::Accepted | Self::Overridden => true,
            Self::Failure | Self::Unknown => false,
        }
    }
}
