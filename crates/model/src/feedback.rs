//! What an event's data says, by kind. Reading checks; the data itself stays as it came.

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

/// A field of `data` that does not fit. `field` is a path such as `data.rating`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {got}, expected {expected}")]
pub struct BadData {
    /// Which field.
    pub field: String,
    /// What it held, shortened.
    pub got: String,
    /// What would have fitted.
    pub expected: String,
}

/// The field of a correction whose words were erased.
pub(crate) const ERASED: &str = "erased";

/// How a user rated an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rating {
    /// Thumb up.
    Positive,
    /// Thumb down.
    Negative,
    /// One to five stars.
    Stars(u8),
    /// Zero to one.
    Score(UnitInterval),
}

impl Rating {
    /// How good, from 0 to 1.
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

    /// A rating on a turn is a reaction to it.
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

/// A better answer, by a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// What was answered; the turn's answer when absent.
    pub original: Option<String>,
    /// What should have been answered; empty when that was erased.
    pub corrected: String,
    /// Why.
    pub explanation: Option<String>,
    /// The question, for corrections without a turn.
    pub query: Option<String>,
}

/// Something a user did with an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Interaction {
    /// What it was.
    pub kind: InteractionKind,
    /// How long, for dwell times.
    pub dwell_ms: Option<f64>,
    /// On what.
    pub target: Option<String>,
}

/// A choice an agent made.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Its id; the event's own when absent.
    pub decision_id: Option<DecisionId>,
    /// What was decided; an open list.
    pub decision_type: String,
    /// How it turned out so far.
    pub outcome: DecisionOutcome,
    /// How sure the agent was.
    pub confidence: Option<UnitInterval>,
}

/// How a decision turned out, learnt later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Which decision.
    pub decision_id: DecisionId,
    /// How it turned out.
    pub outcome: DecisionOutcome,
}

/// The typed reading of an event's data.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A thumb, stars or a score.
    Rating(Rating),
    /// A remark in words; empty when those were erased.
    Comment(String),
    /// A better answer.
    Correction(Correction),
    /// A click, a copy, a dwell time.
    Interaction(Interaction),
    /// Numbers about an endpoint.
    Metric,
    /// A choice and its outcome.
    Decision(Decision),
    /// The outcome of an earlier choice.
    Settlement(Settlement),
    /// Half of a turn.
    Turn(TurnHalf),
    /// A reaction on a turn, or its clearing.
    Reaction(GivenReaction),
    /// A setting.
    Rule(Rule),
    /// What a detector or a reviewer found.
    Finding(Finding),
    /// Anything else: kept, not interpreted.
    Other,
}

impl Body {
    /// Reads the data of an event of that kind, or says which field does not fit.
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

/// Our own records were written by us; one that cannot be read names no field of a client's.
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
    fn a_rating_is_a_thumb_stars_or_a_score() {
        assert_eq!(rating(&json!({"rating": "positive"})), Ok(Body::Rating(Rating::Positive)));
        assert_eq!(rating(&json!({"rating": 5})), Ok(Body::Rating(Rating::Stars(5))));
        let third = UnitInterval::new(0.3).unwrap();
        assert_eq!(rating(&json!({"score": 0.3})), Ok(Body::Rating(Rating::Score(third))));
    }

    #[test]
    fn a_rating_out_of_range_names_its_field() {
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
    fn ratings_become_reactions_at_the_boundaries_of_chapter_one() {
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
    fn a_correction_needs_what_is_right() {
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
    fn an_interaction_has_a_known_kind() {
        let good = read(Type::Implicit, Source::UserInteraction, &json!({"kind": "copy"}));
        assert!(matches!(good, Ok(Body::Interaction(_))));
        let bad = read(Type::Interaction, Source::Trace, &json!({"kind": "stare"})).unwrap_err();
        assert!(bad.to_string().contains("\"stare\", expected one of query_refinement"), "{bad}");
    }

    #[test]
    fn unknown_keys_and_unknown_kinds_are_no_error() {
        let data = json!({"endpoint": "/x", "latency_ms": 12.5, "anything": {"else": [1]}});
        assert_eq!(read(Type::Performance, Source::SystemMetric, &data), Ok(Body::Metric));
        assert_eq!(read(Type::Log, Source::Trace, &json!({"a": 1})), Ok(Body::Other));
    }
}
