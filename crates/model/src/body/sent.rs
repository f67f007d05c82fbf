//! Bodies of events that clients send.

use std::ops::Deref;

use serde_json::{Map, Value};

use crate::id::DecisionId;
use crate::number::UnitInterval;
use crate::turn::QuotedTurn;
use crate::word::{DecisionOutcome, InteractionKind, Reaction};

/// The fields of an event as JSON.
pub type Fields = Map<String, Value>;

/// A typed value beside the fields it was read from. Unknown fields are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent<T> {
    value: T,
    fields: Fields,
}

impl<T> Sent<T> {
    pub(super) fn new(value: T, fields: Fields) -> Self {
        Self { value, fields }
    }

    /// All fields, as the client sent them.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    pub fn into_value(self) -> T {
        self.value
    }
}

impl<T> Deref for Sent<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rating {
    Positive,
    Negative,
    /// One to five stars.
    Stars(u8),
    /// A score from 0 to 1.
    Score(UnitInterval),
}

impl Rating {
    /// The rating on a scale from 0 to 1.
    pub fn value(self) -> UnitInterval {
        match self {
            Self::Positive => UnitInterval::ONE,
            Self::Negative => UnitInterval::ZERO,
            Self::Stars(stars) => {
                let steps = f64::from(stars.clamp(1, 5) - 1) / 4.0;
                UnitInterval::new(steps).unwrap_or(UnitInterval::ZERO)
            }
            Self::Score(score) => score,
        }
    }

    /// The reaction that the rating stands for.
    pub fn reaction(self) -> Reaction {
        match self {
            Self::Positive | Self::Stars(4..) => Reaction::Ok,
            Self::Stars(3) => Reaction::Neutral,
            Self::Negative | Self::Stars(..=2) => Reaction::NotOk,
            Self::Score(score) if score.get() >= 0.7 => Reaction::Ok,
            Self::Score(score) if score.get() <= 0.3 => Reaction::NotOk,
            Self::Score(_) => Reaction::Neutral,
        }
    }
}

/// A rating with the comment sent beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct SentRating {
    pub rating: Rating,
    pub comment: Option<String>,
    /// The comment under its other name.
    pub text: Option<String>,
    pub quoted: Option<QuotedTurn>,
}

impl SentRating {
    /// The free text beside the rating.
    pub fn remark(&self) -> Option<&String> {
        self.comment.as_ref().or(self.text.as_ref())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Comment {
    /// Empty when erased.
    pub text: String,
    /// The writer's rating in the same event.
    pub rating: Option<Rating>,
    pub quoted: Option<QuotedTurn>,
}

/// A better answer written by a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The original answer; the turn's answer when absent.
    pub original: Option<String>,
    /// The corrected answer; empty when erased.
    pub corrected: String,
    pub explanation: Option<String>,
    /// The question, for corrections without a turn.
    pub query: Option<String>,
    /// The answer as quoted beside the question.
    pub response: Option<String>,
}

impl Correction {
    /// The question and answer that the correction quotes.
    pub fn quoted(&self) -> Option<QuotedTurn> {
        let query = self.query.clone().filter(|query| !query.trim().is_empty())?;
        Some(QuotedTurn {
            query,
            response: self.response.clone().or_else(|| self.original.clone()),
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Interaction {
    pub kind: InteractionKind,
    /// Duration, for dwell times.
    pub dwell_ms: Option<f64>,
    pub target: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The event's id when absent.
    pub decision_id: Option<DecisionId>,
    /// An open list of types.
    pub decision_type: String,
    /// The outcome so far.
    pub outcome: DecisionOutcome,
    /// The agent's confidence.
    pub confidence: Option<UnitInterval>,
}

/// A late outcome of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    pub decision_id: DecisionId,
    pub outcome: DecisionOutcome,
    /// Further results, merged from all outcomes of the decision.
    pub outcome_data: Fields,
}

/// Metrics of an endpoint. All other fields are stored as sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndpointMetric {
    pub endpoint: Option<String>,
    pub model: Option<String>,
    pub latency_ms: Option<f64>,
    pub tokens_used: Option<f64>,
    pub cost: Option<f64>,
}
