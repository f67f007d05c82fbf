//! Facts about turns that count in quality figures.

use crate::word::{DecisionOutcome, Reaction, Sentiment};

/// A fact about the event's turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnFact {
    Answered {
        model: Option<String>,
        /// Written as `id@version`.
        prompt: Option<String>,
        /// The strategy's name.
        strategy: Option<String>,
        /// The application reported an error.
        failed: bool,
        /// Tokens in and out.
        tokens: u64,
        /// In billionths of the application's currency, so that sums are exact.
        cost: u64,
    },
    /// Signals in the answer itself.
    Shown {
        failed: bool,
        /// Latency, if known.
        millis: Option<u64>,
    },
    /// Its question was repeated.
    Retried,
    Corrected,
    /// A person gave feedback on it or interacted with it.
    GotFeedback,
    /// Its question refines an earlier one.
    Refined,
    /// A comment with this sentiment.
    Commented(Sentiment),
    /// Measured by the application beside the turn. Counts where the turn itself names no value.
    Measured {
        /// Latency, if known.
        millis: Option<u64>,
        tokens: u64,
        /// In billionths of the application's currency.
        cost: u64,
    },
    /// The application reported an error beside the turn.
    ReportedError,
}

/// A fact without a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LooseFact {
    Rated(Reaction),
    Corrected,
    Refined,
    Commented(Sentiment),
    /// The latency of a request.
    Measured {
        model: Option<String>,
        millis: u64,
    },
    /// A failed request.
    Failed,
}

/// The intent of a question that refines the one before.
const REFINE: &str = "refine";

pub fn is_refinement(intent: &str) -> bool {
    intent.eq_ignore_ascii_case(REFINE)
}

/// The decision type of a generated SQL statement.
pub const SQL_GENERATION: &str = "sql_generation";

impl DecisionOutcome {
    /// True when the decision was executed without an error, accepted or not; `None` until the
    /// outcome is known.
    pub const fn executed(self) -> Option<bool> {
        match self {
            Self::Success | Self::Correction | Self::Accepted | Self::Overridden => Some(true),
            Self::Failure => Some(false),
            Self::Unknown => None,
        }
    }
}
