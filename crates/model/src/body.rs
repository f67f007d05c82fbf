//! Event bodies, typed by the event's kind.
//!
//! The records that Uptake writes (turns, reactions, rules, findings) have exactly the fields of
//! their types. Bodies from clients keep every field they were sent with.

mod field_reader;
mod sent;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::finding::Finding;
use crate::reaction::GivenReaction;
use crate::rule::Rule;
use crate::span::SpanBatch;
use crate::turn::{Completion, Opening, QuotedTurn, TurnHalf};
use crate::word::{Kind, Source, Type};
use field_reader::FieldReader;

pub(crate) use field_reader::ERASED;

pub use sent::{
    Comment, Correction, Decision, EndpointMetric, Fields, Interaction, Rating, Sent, SentRating,
    Settlement,
};

/// An invalid field of `data`. `field` is a path such as `data.rating`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {got}, expected {expected}")]
pub struct BadData {
    pub field: String,
    /// The received value, shortened.
    pub got: String,
    pub expected: String,
}

/// The body of an event. Code reads the typed values. The fields beside them are only stored,
/// redacted and exported.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Turn(TurnHalf),
    /// A reaction on a turn, or its clearing.
    Reaction(GivenReaction),
    Rule(Rule),
    /// A finding of a detector or reviewer.
    Finding(Finding),
    Rating(Sent<SentRating>),
    Comment(Sent<Comment>),
    Correction(Sent<Correction>),
    /// A click, a copy or a dwell time.
    Interaction(Sent<Interaction>),
    Metric(Sent<EndpointMetric>),
    Decision(Sent<Decision>),
    Settlement(Sent<Settlement>),
    /// Spans of a trace.
    Spans(SpanBatch),
    /// Any other event: stored, not interpreted.
    Other(Fields),
    /// Stored fields that do not fit the kind: an erased event, or a record of a later version.
    Unreadable(Fields),
}

/// Fields that do not fit the event's kind.
struct UnfitFields {
    error: BadData,
    fields: Fields,
}

impl Body {
    /// Validates the fields of an event of that kind. The error names the invalid field.
    pub fn read(kind: Kind, fields: Fields) -> Result<Self, BadData> {
        Self::read_fields(kind, fields).map_err(|unfit| unfit.error)
    }

    /// Reads fields that were valid when they were stored. If the rules became stricter, the event
    /// is kept and not interpreted.
    pub fn from_stored(kind: Kind, fields: Fields) -> Self {
        Self::read_fields(kind, fields).unwrap_or_else(|unfit| Self::Unreadable(unfit.fields))
    }

    /// Reads the JSON of a row. An error means that it is no JSON object.
    pub fn parse_stored(kind: Kind, json: &str) -> serde_json::Result<Self> {
        // Our own records are parsed without a map in between.
        let record = match (kind.source, kind.event_type) {
            (Source::Turn, _) => serde_json::from_str(json).map(Self::Turn).ok(),
            (Source::Reaction, _) => serde_json::from_str(json).map(Self::Reaction).ok(),
            (Source::Engine, Type::Log) => serde_json::from_str(json).map(Self::Rule).ok(),
            (Source::Engine, Type::Quality) => serde_json::from_str(json).map(Self::Finding).ok(),
            (Source::Trace, Type::Log) => serde_json::from_str(json).map(Self::Spans).ok(),
            _ => None,
        };
        match record {
            Some(body) => Ok(body),
            None => serde_json::from_str(json).map(|fields| Self::from_stored(kind, fields)),
        }
    }

    fn read_fields(kind: Kind, fields: Fields) -> Result<Self, Box<UnfitFields>> {
        let reader = FieldReader(&fields);
        match (kind.source, kind.event_type) {
            (Source::UserRating, _) => client_body(reader.rating(), fields, Self::Rating),
            (Source::UserComment, _) => client_body(reader.comment(), fields, Self::Comment),
            (Source::UserCorrection, _) => {
                client_body(reader.correction(), fields, Self::Correction)
            }
            (Source::Turn, _) => own_record(fields, Self::Turn),
            (Source::Engine, Type::Log) => own_record(fields, Self::Rule),
            (Source::Engine, Type::Quality) => own_record(fields, Self::Finding),
            (Source::Reaction, _) => own_record(fields, Self::Reaction),
            (Source::UserInteraction, _) | (_, Type::Interaction) => {
                client_body(reader.interaction(), fields, Self::Interaction)
            }
            (_, Type::Metric | Type::Performance) => {
                client_body(reader.metric(), fields, Self::Metric)
            }
            (Source::ModelResponse, Type::Query) if fields.contains_key("decision_type") => {
                client_body(reader.decision(), fields, Self::Decision)
            }
            (Source::ModelResponse, Type::Query)
                if fields.contains_key("decision_id") && fields.contains_key("outcome") =>
            {
                client_body(reader.settlement(), fields, Self::Settlement)
            }
            // Clients may use the kind for data of their own.
            (Source::Trace, Type::Log) => Ok(match SpanBatch::deserialize(&fields) {
                Ok(batch) => Self::Spans(batch),
                Err(_) => Self::Other(fields),
            }),
            _ => Ok(Self::Other(fields)),
        }
    }

    /// The question, if the event opens a turn.
    pub fn opening(&self) -> Option<&Opening> {
        if let Self::Turn(TurnHalf::Opened(opening)) = self { Some(opening) } else { None }
    }

    /// The answer, if the event completes a turn.
    pub fn completion(&self) -> Option<&Completion> {
        if let Self::Turn(TurnHalf::Completed(done)) = self { Some(done) } else { None }
    }

    /// The question and answer that a rating, comment or correction quotes.
    pub fn quoted_turn(&self) -> Option<QuotedTurn> {
        match self {
            Self::Rating(sent) => sent.quoted.clone(),
            Self::Comment(sent) => sent.quoted.clone(),
            Self::Correction(sent) => sent.quoted(),
            Self::Turn(_)
            | Self::Reaction(_)
            | Self::Rule(_)
            | Self::Finding(_)
            | Self::Interaction(_)
            | Self::Metric(_)
            | Self::Decision(_)
            | Self::Settlement(_)
            | Self::Spans(_)
            | Self::Other(_)
            | Self::Unreadable(_) => None,
        }
    }

    /// The body as the JSON text of a row.
    ///
    /// # Panics
    /// If the body cannot be written as JSON, which no input can cause. A row without its body would
    /// be an acknowledged loss.
    #[expect(clippy::panic, reason = "every body has string keys, so serialization cannot fail")]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self)
            .unwrap_or_else(|error| panic!("serializing an event body failed: {error}"))
    }

    /// The body as JSON fields, in the shape that `read` accepts.
    pub fn to_fields(&self) -> Fields {
        record_fields(self)
    }
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Turn(half) => half.serialize(serializer),
            Self::Reaction(given) => given.serialize(serializer),
            Self::Rule(rule) => rule.serialize(serializer),
            Self::Finding(finding) => finding.serialize(serializer),
            Self::Rating(sent) => sent.fields().serialize(serializer),
            Self::Comment(sent) => sent.fields().serialize(serializer),
            Self::Correction(sent) => sent.fields().serialize(serializer),
            Self::Interaction(sent) => sent.fields().serialize(serializer),
            Self::Metric(sent) => sent.fields().serialize(serializer),
            Self::Decision(sent) => sent.fields().serialize(serializer),
            Self::Settlement(sent) => sent.fields().serialize(serializer),
            Self::Spans(batch) => batch.serialize(serializer),
            Self::Other(fields) | Self::Unreadable(fields) => fields.serialize(serializer),
        }
    }
}

fn client_body<T>(
    value: Result<T, BadData>,
    fields: Fields,
    body: fn(Sent<T>) -> Body,
) -> Result<Body, Box<UnfitFields>> {
    match value {
        Ok(value) => Ok(body(Sent::new(value, fields))),
        Err(error) => Err(Box::new(UnfitFields { error, fields })),
    }
}

/// Parses a record that Uptake wrote. Its error names `data`, because clients never send these
/// fields.
fn own_record<T: for<'de> Deserialize<'de>>(
    fields: Fields,
    body: fn(T) -> Body,
) -> Result<Body, Box<UnfitFields>> {
    T::deserialize(&fields).map(body).map_err(|error| {
        let got = error.to_string();
        let expected = "a record written by Uptake".to_owned();
        let error = BadData { field: "data".to_owned(), got, expected };
        Box::new(UnfitFields { error, fields })
    })
}

/// Converts one of our own records to JSON fields.
///
/// # Panics
/// If the record is not a struct with named fields, which no input can cause.
#[expect(clippy::panic, reason = "every record is a struct with named fields")]
pub fn record_fields(record: &impl Serialize) -> Fields {
    match serde_json::to_value(record) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => panic!("a record did not serialize to a JSON object"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::number::UnitInterval;
    use crate::word::Reaction;

    fn read(event_type: Type, source: Source, data: &Value) -> Result<Body, BadData> {
        Body::read(Kind { event_type, source }, data.as_object().unwrap().clone())
    }

    #[track_caller]
    fn rating(data: &Value) -> Result<Rating, String> {
        let body = read(Type::Explicit, Source::UserRating, data).map_err(|bad| bad.field)?;
        let Body::Rating(given) = body else { panic!("{body:?}") };
        Ok(given.rating)
    }

    #[test]
    fn rating_is_a_thumb_stars_or_a_score() {
        assert_eq!(rating(&json!({"rating": "positive"})), Ok(Rating::Positive));
        assert_eq!(rating(&json!({"rating": 5})), Ok(Rating::Stars(5)));
        let third = UnitInterval::new(0.3).unwrap();
        assert_eq!(rating(&json!({"score": 0.3})), Ok(Rating::Score(third)));
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
            response: None,
        };
        let Body::Correction(correction) = body else { panic!("{body:?}") };
        assert_eq!(*correction, expected);
        assert_eq!(Value::Object(correction.fields().clone()), good);
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
        let metric = read(Type::Performance, Source::SystemMetric, &data).unwrap();
        assert!(matches!(&metric, Body::Metric(sent) if sent.endpoint.as_deref() == Some("/x")));
        assert_eq!(Value::Object(metric.to_fields()), data);
        let other = read(Type::Log, Source::Trace, &json!({"a": 1})).unwrap();
        assert!(matches!(&other, Body::Other(fields) if fields["a"] == 1));
    }

    #[test]
    fn rows_round_trip_and_unfit_rows_are_kept() {
        let kind = |event_type, source| Kind { event_type, source };
        let rows = [
            (kind(Type::Query, Source::Turn), json!({"phase": "opened", "text": "q"})),
            (kind(Type::Log, Source::Engine), json!({"rule": "history_forgotten"})),
            (kind(Type::Explicit, Source::UserRating), json!({"rating": 4, "extra": [1]})),
            // A record of a later version, and the stub of an event of unknown shape.
            (kind(Type::Quality, Source::Engine), json!({"finding": "later", "a": 1})),
            (kind(Type::Explicit, Source::UserRating), json!({})),
        ];
        for (kind, data) in rows {
            let body = Body::parse_stored(kind, &data.to_string()).unwrap();
            assert_eq!(Value::Object(body.to_fields()), data);
            assert_eq!(Body::parse_stored(kind, &body.to_json()).unwrap(), body);
        }
        assert!(Body::parse_stored(kind(Type::Query, Source::Turn), "[1]").is_err());
    }
}
