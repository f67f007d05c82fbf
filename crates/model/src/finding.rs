//! Findings: the data of (quality, engine) events. A replay of the log reads findings and does not
//! detect them again.

use serde::{Deserialize, Serialize};

use crate::experiment::Exposure;
use crate::id::{EventId, TurnId};
use crate::number::UnitInterval;
use crate::relevance::{FoundRelevance, PendingUsage, Returned};
use crate::signal::{Failure, Pace, Verdict};
use crate::span::FoundTrace;
use crate::time::Timestamp;
use crate::word::{RetryIntent, Sentiment, VerdictStatus};

/// A finding of a detector or a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum Finding {
    /// A message's verdict on the event's turn; on none without a turn.
    Verdict(Box<FoundVerdict>),
    /// The question of the event's turn was repeated.
    Retry(FoundRetry),
    /// Signals in the answer of the event's turn.
    Answer(FoundAnswer),
    /// A reviewer's verdict on the event's turn, which overrides detectors.
    Review { status: VerdictStatus },
    /// A session of the event's conversation ended with the event's turn.
    Session(FoundSession),
    /// The question's vector by a remote embedding model.
    Vector { model: String, values: Vec<f32> },
    /// A router chose an arm, for the event's turn if there is one.
    Choice(RouterChoice),
    /// The event's turn was served by the chosen arm, which gets its reward.
    Served {
        #[serde(flatten)]
        choice: RouterChoice,
        /// Cost of the call, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// The event's user or conversation was exposed to a variant.
    Exposure(Exposure),
    /// An explicit reward for the event's turn.
    Reward(GivenReward),
    /// The results of a query.
    Returned(Returned),
    /// Feedback on the results of a query.
    Relevance(FoundRelevance),
    /// An answer that waits for the results of its query.
    PendingUsage(PendingUsage),
    /// An alert was raised or cleared.
    Alert(FoundAlert),
    /// A suggested instruction derived from failures.
    Suggestion(FoundSuggestion),
    /// A comment's sentiment, on the event's turn if there is one. It is not a reaction to the
    /// turn.
    Sentiment(FoundSentiment),
    /// The turns of a trace, which is the event's turn, were stored.
    Trace(FoundTrace),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundSentiment {
    /// Detector and version; `rating` if the comment came with one.
    pub detector: String,
    /// The comment's event; `None` after its author is erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<EventId>,
    pub sentiment: Sentiment,
    pub confidence: UnitInterval,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundAlert {
    pub metric: String,
    /// True when raised, false when cleared.
    pub raised: bool,
    /// `None` when nothing was counted.
    pub value: Option<f64>,
    pub denominator: u64,
    /// The 95% interval.
    pub interval: Option<(f64, f64)>,
    /// The lower bound of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The upper bound of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Length of the window.
    pub window_hours: u32,
}

/// A suggested instruction with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundSuggestion {
    pub pattern_id: String,
    pub label: String,
    pub instruction: String,
    /// The reason in words.
    pub why: String,
    /// Share of the window's failed turns that are its evidence.
    pub reach: f64,
    /// Ids of supporting turns.
    pub evidence: Vec<String>,
    /// `template` or `llm`.
    pub source: String,
    /// The model that worded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The prompt it is for, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

/// The choice of an arm, with everything needed to learn from it later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouterChoice {
    pub router: String,
    pub arm: String,
    /// The propensity of the arm.
    pub propensity: f64,
    /// Version of the feature set.
    pub features_version: String,
    /// Feature values, for contextual routers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<f32>,
    /// For evaluating a candidate: the difference at reward 0, and its slope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadow: Option<(f64, f64)>,
}

/// An explicit reward. Absent fields are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GivenReward {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_score: Option<UnitInterval>,
    /// One to five.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_rating: Option<u8>,
    /// True when the answer matched the expectation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met_expectations: Option<bool>,
}

/// A verdict with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundVerdict {
    /// Detector and version.
    pub detector: String,
    /// The turn of the message.
    pub detected_in: TurnId,
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Confidence before the project's calibration.
    pub raw_confidence: UnitInterval,
    /// True when the user merely moved on.
    pub moved_on: bool,
    /// The turn that the message was first attributed to, if another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<TurnId>,
    /// Fit of the message to the turn, where several were searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_score: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundRetry {
    /// Detector and version.
    pub detector: String,
    /// The repeating turn; `None` for a regenerate button.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detected_in: Option<TurnId>,
    /// Similarity score of the two questions.
    pub similarity: UnitInterval,
    /// Seconds between them, if the times are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_seconds: Option<f64>,
    pub intent: RetryIntent,
}

/// Signals in an answer itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundAnswer {
    /// Detector and version.
    pub detector: String,
    pub error: Failure,
    /// Latency, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Pace>,
}

/// A session of a conversation, delimited by silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundSession {
    pub started_at: Timestamp,
    pub last_at: Timestamp,
    pub turns: u64,
    /// True when the last answer showed no sign of use.
    pub abandoned: bool,
}
