//! Typed readings of an event's data, by kind. Reading validates; the data itself is kept
//! unchanged.

mod fields;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::finding::Finding;
use crate::id::DecisionId;
use crate::number::UnitInterval;
use crate::reaction::GivenReaction;
use crate::rule::Rule;
use crate::turn::TurnHalf;
use crate::word::{DecisionOutcome, InteractionKind, Kind, Reaction, Source, Type};
use fields::Fields;

/// An invalid field of `data`. `field` is a path such as `data.rating`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {got}, expected {expected}")]
pub struct BadData {
    pub field: String,
    /// The received value, shortened.
    pub got: String,
    pub expected: String,
}

/// Marks a correction whose text was erased.
pub(crate) const ERASED: &str = "erased";

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
}

/// The typed reading of an event's data.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Rating(Rating),
    /// A comment; empty when erased.
    Comment(String),
    Correction(Correction),
    /// A click, a copy or a dwell time.
    Interaction(Interaction),
    /// Metrics of an endpoint.
    Metric,
    Decision(Decision),
    Settlement(Settlement),
    Turn(TurnHalf),
    /// A reaction on a turn, or its clearing.
    Reaction(GivenReaction),
    Rule(Rule),
    /// A finding of a detector or reviewer.
    Finding(Finding),
    /// Any other event: stored, not interpreted.
    Other,
}

impl Body {
    /// Reads the data of an event of that kind. The error names the invalid field.
    pub fn read(kind: Kind, data: &Map<String, Value>) -> Result<Self, BadData> {
        let fields = Fields(data);
        match (kind.source, kind.event_type) {
            (Source::UserRating, _) => fields.rating().map(Self::Rating),
            (Source::UserComment, _) => fields.comment().map(Self::Comment),
            (Source::UserCorrection, _) => fields.correction().map(Self::Correction),
            (Source::Turn, _) => own_record(data).map(Self::Turn),
            (Source::Engine, Type::Log) => own_record(data).map(Self::Rule),
            (Source::Engine, Type::Quality) => own_record(data).map(Self::Finding),
            (Source::Reaction, _) => own_record(data).map(Self::Reaction),
            (Source::UserInteraction, _) | (_, Type::Interaction) => {
                fields.interaction().map(Self::Interaction)
            }
            (_, Type::Metric | Type::Performance) => fields.metric(),
            (Source::ModelResponse, Type::Query) if data.contains_key("decision_type") => {
                fields.decision().map(Self::Decision)
            }
            (Source::ModelResponse, Type::Query)
                if data.contains_key("decision_id") && data.contains_key("outcome") =>
            {
                fields.settlement().map(Self::Settlement)
            }
            _ => Ok(Self::Other),
        }
    }
}

/// Reads one of our own records. An error names no field of a client.
fn own_record<T: for<'de> Deserialize<'de>>(data: &Map<String, Value>) -> Result<T, BadData> {
    T::deserialize(data).map_err(|error| BadData {
        field: "data".to_owned(),
        got: error.to_string(),
        expected: "a record written by Uptake".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(event_type: Type, source: Source, data: &Value) -> Result<Body, BadData> {
        Body::read(Kind { event_type, source }, data.as_object().unwrap())
    }

    #[track_caller]
    fn rating(data: &Value) -> Result<Body, String> {
        read(Type::Explicit, Source::UserRating, data).map_err(|bad| bad.field)
    }

    #[test]
    fn rating_is_a_thumb_stars_or_a_score() {
        assert_eq!(rating(&json!({"rating": "positive"})), Ok(Body::Rating(Rating::Positive)));
        assert_eq!(rating(&json!({"rating": 5})), Ok(Body::Rating(Rating::Stars(5))));
        let third = UnitInterval::new(0.3).unwrap();
        assert_eq!(rating(&json!({"score": 0.3})), Ok(Body::Rating(Rating::Score(third))));
    }

    #[test]
    fn rating_out_of_range_names_its_field() {
        for bad in [json!({"rating": 0}), json!({"rating": 6}), json!({"rating": 4.5})] {
            assert_eq!(rating(&bad), Err("data.rating".to_owned()));
        }
        for bad in [json!({"score": 1.1}), json!({"score": "1"}), json!({"score": 1, "rating": 1})]
        {
            assert_eq!(rating(&bad), Err("data.score".to_owned()));
        }
        assert_eq!(rating(&json!({})), Err("data.rating".to_owned()));
        for name in ["comment", "text"] {
            let bad = json!({"rating": 1, name: 5});
            assert_eq!(rating(&bad), Err(format!("data.{name}")));
        }
    }

    #[test]
    fn ratings_map_to_reactions_at_the_documented_boundaries() {
        let score = |value: f64| Rating::Score(UnitInterval::new(value).unwrap());
        let rows = [
            (Rating::Positive, Reaction::Ok),
            (Rating::Negative, Reaction::NotOk),
            (Rating::Stars(5), Reaction::Ok),
            (Rating::Stars(4), Reaction::Ok),
            (Rating::Stars(3), Reaction::Neutral),
            (Rating::Stars(2), Reaction::NotOk),
            (Rating::Stars(1), Reaction::NotOk),
            (score(0.7), Reaction::Ok),
            (score(0.699), Reaction::Neutral),
            (score(0.301), Reaction::Neutral),
            (score(0.3), Reaction::NotOk),
        ];
        for (rating, expected) in rows {
            assert_eq!(rating.reaction(), expected, "{rating:?}");
        }
    }

    #[test]
    fn correction_needs_a_corrected_text() {
        let good = json!({"original_sql": "a", "corrected_sql": "b", "explanation": "c"});
        let body = read(Type::Explicit, Source::UserCorrection, &good).unwrap();
        let expected = Correction {
            original: Some("a".into()),
            corrected: "b".into(),
            explanation: Some("c".into()),
            query: None,
        };
        assert_eq!(body, Body::Correction(expected));
        let bad = read(Type::Explicit, Source::UserCorrection, &json!({"original": "a"}));
        assert_eq!(bad.unwrap_err().field, "data.corrected");
    }

    #[test]
    fn interaction_needs_a_known_kind() {
        let good = read(Type::Implicit, Source::UserInteraction, &json!({"kind": "copy"}));
        assert!(matches!(good, Ok(Body::Interaction(_))));
        let bad = read(Type::Interaction, Source::Trace, &json!({"kind": "stare"})).unwrap_err();
        assert!(bad.to_string().contains("\"stare\", expected one of query_refinement"), "{bad}");
    }

    #[test]
    fn unknown_keys_and_kinds_are_accepted() {
        let data = json!({"endpoint": "/x", "latency_ms": 12.5, "anything": {"else": [1]}});
        assert_eq!(read(Type::Performance, Source::SystemMetric, &data), Ok(Body::Metric));
        assert_eq!(read(Type::Log, Source::Trace, &json!({"a": 1})), Ok(Body::Other));
    }
}
