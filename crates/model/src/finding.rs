//! A finding as the log keeps it: the data of (quality, engine) events. Replaying the log reads
//! findings again; it does not detect again.

use serde::{Deserialize, Serialize};

use crate::experiment::Exposure;
use crate::id::{EventId, TurnId};
use crate::number::UnitInterval;
use crate::relevance::{FoundRelevance, Returned};
use crate::signal::{Failure, Pace, Verdict};
use crate::time::Timestamp;
use crate::word::{RetryIntent, Sentiment, VerdictStatus};

/// What was found, and by which detector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum Finding {
    /// What a message says about the event's turn. Without a turn nobody is meant.
    Verdict(Box<FoundVerdict>),
    /// The question of the event's turn was asked again.
    Retry(FoundRetry),
    /// How the event's turn was answered.
    Answer(FoundAnswer),
    /// A person says what the user thought of the event's turn, whatever the machine says.
    Review {
        /// What they thought.
        status: VerdictStatus,
    },
    /// The event's conversation went silent; the event's turn was the last before that.
    Session(FoundSession),
    /// The question of the event's turn as a remote model sees it.
    Vector {
        /// Which model.
        model: String,
        /// Its numbers.
        values: Vec<f32>,
    },
    /// A router chose an arm, for the event's turn if there is one.
    Choice(RouterChoice),
    /// The event's turn was served by the arm that a router chose: what it is worth is the arm's.
    Served {
        /// The choice.
        #[serde(flatten)]
        choice: RouterChoice,
        /// What the call cost, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// The event's user or conversation is served a variant of an experiment.
    Exposure(Exposure),
    /// What somebody says the answer of the event's turn is worth.
    Reward(GivenReward),
    /// What a query returned.
    Returned(Returned),
    /// What became of items that a query returned.
    Relevance(FoundRelevance),
    /// A figure of the event's project is not where it should be, or is again.
    Alert(FoundAlert),
    /// An instruction that might help, out of what went wrong.
    Suggestion(FoundSuggestion),
    /// What a comment sounds like, on the event's turn if there is one. No reaction: it says nothing of how the
    /// turn was taken.
    Sentiment(FoundSentiment),
}

/// What a comment sounds like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundSentiment {
    /// Which detector, in which version; `rating` where the comment came with one.
    pub detector: String,
    /// The comment's event; nothing once its writer is erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<EventId>,
    /// What it sounds like.
    pub sentiment: Sentiment,
    /// How sure.
    pub confidence: UnitInterval,
}

/// A figure against its target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundAlert {
    /// Which figure.
    pub metric: String,
    /// It is missed now; else it is no longer.
    pub raised: bool,
    /// What it is; nothing when nothing was counted any more.
    pub value: Option<f64>,
    /// Out of how many.
    pub denominator: u64,
    /// Where it lies with 95% certainty.
    pub interval: Option<(f64, f64)>,
    /// The least it should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The most it should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// How far back was counted.
    pub window_hours: u32,
}

/// An instruction for a prompt, with what it was concluded from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundSuggestion {
    /// Which pattern of failures it is for.
    pub pattern_id: String,
    /// What people call that pattern.
    pub label: String,
    /// What to put into the prompt.
    pub instruction: String,
    /// What it was concluded from, in words.
    pub why: String,
    /// The share of failed turns that the pattern has.
    pub reach: f64,
    /// Turns that agree.
    pub evidence: Vec<String>,
    /// `template` or `llm`.
    pub source: String,
    /// The model that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Which prompt it is for, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

/// The choice of an arm, with all that is needed to learn from it later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouterChoice {
    /// Which router.
    pub router: String,
    /// Which arm.
    pub arm: String,
    /// How likely it was to be chosen.
    pub propensity: f64,
    /// Which features.
    pub features_version: String,
    /// The features of the request, for routers that look at them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<f32>,
    /// What the choice says about a router's candidate: the difference at reward 0, and its slope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadow: Option<(f64, f64)>,
}

/// What an answer is worth, said outright. Absent fields say nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GivenReward {
    /// How good it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_score: Option<UnitInterval>,
    /// One to five.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_rating: Option<u8>,
    /// Whether it was what was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met_expectations: Option<bool>,
}

/// A verdict with where it was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundVerdict {
    /// Which detector, in which version.
    pub detector: String,
    /// The turn whose message says so.
    pub detected_in: TurnId,
    /// What it says.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// How sure the detector was before the project's own calibration.
    pub raw_confidence: UnitInterval,
    /// The user only went on to something else.
    pub moved_on: bool,
    /// The turn that the same message was taken to be about before, if that was another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<TurnId>,
    /// How well the message fits the turn, where that was searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_score: Option<f64>,
}

/// A question asked again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundRetry {
    /// Which detector, in which version.
    pub detector: String,
    /// The turn that asks again; `None` when a button did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detected_in: Option<TurnId>,
    /// The pair score of the two questions.
    pub similarity: UnitInterval,
    /// Seconds between them, if the times are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_seconds: Option<f64>,
    /// Unhappy with the answer, or exploring.
    pub intent: RetryIntent,
}

/// What an answer shows by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundAnswer {
    /// Which detector, in which version.
    pub detector: String,
    /// Whether it failed.
    pub error: Failure,
    /// How long it took, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Pace>,
}

/// A stretch of a conversation between two silences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundSession {
    /// When it began.
    pub started_at: Timestamp,
    /// When something last happened in it.
    pub last_at: Timestamp,
    /// How many turns it had.
    pub turns: u64,
    /// The last answer was left without any sign of use.
    pub abandoned: bool,
}
