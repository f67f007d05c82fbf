//! Validates and normalises one raw event.
//!
//! It knows the rules of a single event; the store decides whether an id is taken.

use model::{
    Body, Category, ConversationId, Event, EventId, Kind, Scope, Severity, Source, Timestamp,
    TurnId, Type, UserId,
};
use serde_json::{Map, Value};

use crate::check::{
    CaptureError, check_tags, check_texts, parse_id, parse_timestamp, parse_word, shorten,
};

/// An event as sent by a client, not validated.
#[derive(Clone, Debug, Default)]
pub struct RawEvent {
    /// Generated when absent.
    pub id: Option<String>,
    /// One of `Type::WORDS`.
    pub event_type: String,
    /// One of `Source::WORDS`.
    pub source: String,
    /// One of `Severity::WORDS`; `info` when absent.
    pub severity: Option<String>,
    /// One of `Category::WORDS`.
    pub category: String,
    pub user_id: Option<String>,
    pub session_id: Option<String>,
    pub message_id: Option<String>,
    /// Any form of `Timestamp::parse`; the current time when absent.
    pub timestamp: Option<String>,
    pub data: Map<String, Value>,
    pub tags: Vec<String>,
}

/// Validates a raw event. `fresh_id` supplies an id when it has none.
pub fn accept_event(
    scope: &Scope,
    raw: RawEvent,
    now: Timestamp,
    fresh_id: impl FnOnce() -> EventId,
) -> Result<Event, CaptureError> {
    let kind = Kind {
        event_type: parse_word("type", &raw.event_type, Type::from_word, Type::WORDS)?,
        source: parse_word("source", &raw.source, Source::from_word, Source::WORDS)?,
    };
    refuse_reserved(kind.source)?;
    let severity = match &raw.severity {
        None => Severity::Info,
        Some(text) => parse_word("severity", text, Severity::from_word, Severity::WORDS)?,
    };
    check_tags(&raw.tags)?;
    check_texts("data", &raw.data)?;
    let inner_id = raw.data.get("message_id").cloned();
    let body = Body::read(kind, raw.data)?;
    if let Body::Spans(_) = body {
        let expected = "data of another form; spans are sent to /v1/traces";
        return Err(CaptureError::new("data.spans", "spans of a trace", expected));
    }
    let message_id = message_id(raw.message_id, inner_id)?;
    Ok(Event {
        id: parse_id("id", raw.id, EventId::new)?.unwrap_or_else(fresh_id),
        scope: scope.clone(),
        kind,
        severity,
        category: parse_word("category", &raw.category, Category::from_word, Category::WORDS)?,
        user: parse_id("user_id", raw.user_id, UserId::new)?,
        conversation: parse_id("session_id", raw.session_id, ConversationId::new)?,
        turn: parse_id("message_id", message_id, TurnId::new)?,
        ts: parse_timestamp("timestamp", raw.timestamp.as_deref(), now)?,
        received_at: now,
        tags: raw.tags,
        body,
    })
}

/// Rejects event sources that are reserved for our own records, so that a client cannot forge a
/// turn, a reaction or a finding.
fn refuse_reserved(source: Source) -> Result<(), CaptureError> {
    match source {
        Source::Turn | Source::Reaction | Source::Engine => Err(CaptureError::new(
            "source",
            shorten(source.as_word()),
            "a source of your own; turn, reaction and engine are written by Uptake",
        )),
        Source::ApplicationLog
        | Source::SystemMetric
        | Source::Trace
        | Source::UserRating
        | Source::UserComment
        | Source::UserCorrection
        | Source::QueryResult
        | Source::ModelResponse
        | Source::PipelineOutput
        | Source::ApiResponse
        | Source::DatabaseQuery
        | Source::ExternalService
        | Source::UserInteraction
        | Source::SessionAnalysis => Ok(()),
    }
}

/// The turn is named at the top level or inside `data`. Both must agree.
fn message_id(top: Option<String>, inner: Option<Value>) -> Result<Option<String>, CaptureError> {
    let inner = match inner {
        None | Some(Value::Null) => return Ok(top),
        Some(Value::String(text)) => text,
        Some(_) => return Err(CaptureError::new("data.message_id", "not a text", "a turn's id")),
    };
    match top {
        Some(outer) if outer != inner => Err(CaptureError::new(
            "data.message_id",
            shorten(&inner),
            format!("the same as message_id ({})", shorten(&outer)),
        )),
        Some(outer) => Ok(Some(outer)),
        None => Ok(Some(inner)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn rating() -> RawEvent {
        RawEvent {
            event_type: "explicit".into(),
            source: "user_rating".into(),
            category: "accuracy".into(),
            data: json!({"rating": "positive"}).as_object().unwrap().clone(),
            ..RawEvent::default()
        }
    }

    fn take(raw: RawEvent) -> Result<Event, CaptureError> {
        accept_event(&Scope::default(), raw, NOW, || EventId::new("fresh").unwrap())
    }

    #[track_caller]
    fn check_field(raw: RawEvent, expected: &str) {
        let CaptureError::BadField { field, .. } = take(raw).unwrap_err() else { panic!() };
        assert_eq!(field, expected);
    }

    #[test]
    fn absent_fields_get_defaults() {
        let event = take(rating()).unwrap();
        assert_eq!(event.id.as_str(), "fresh");
        assert_eq!((event.ts, event.received_at), (NOW, NOW));
        assert_eq!(event.severity, Severity::Info);
    }

    #[test]
    fn unknown_word_error_names_the_field() {
        check_field(RawEvent { event_type: "Explicit".into(), ..rating() }, "type");
        check_field(RawEvent { source: "nobody".into(), ..rating() }, "source");
        check_field(RawEvent { category: String::new(), ..rating() }, "category");
        check_field(RawEvent { severity: Some("bad".into()), ..rating() }, "severity");
    }

    #[test]
    fn reserved_sources_are_rejected() {
        for source in ["turn", "reaction", "engine"] {
            check_field(RawEvent { source: source.into(), ..rating() }, "source");
        }
    }

    #[test]
    fn invalid_id_error_names_the_field() {
        check_field(RawEvent { id: Some("a\nb".into()), ..rating() }, "id");
        check_field(RawEvent { user_id: Some(String::new()), ..rating() }, "user_id");
        check_field(RawEvent { session_id: Some("a\0".into()), ..rating() }, "session_id");
        check_field(RawEvent { message_id: Some("é".repeat(101)), ..rating() }, "message_id");
    }

    #[test]
    fn turn_id_in_data_must_match_the_top_level() {
        let data = json!({"rating": 1, "message_id": "m1"}).as_object().unwrap().clone();
        let inside = RawEvent { data, ..rating() };
        assert_eq!(take(inside.clone()).unwrap().turn.unwrap().as_str(), "m1");
        check_field(RawEvent { message_id: Some("m2".into()), ..inside }, "data.message_id");
    }

    #[test]
    fn far_future_and_ancient_times_are_rejected() {
        let at = |text: &str| RawEvent { timestamp: Some(text.into()), ..rating() };
        assert!(take(at("2027-01-15T08:04:59Z")).is_ok());
        check_field(at("2027-01-15T08:05:01Z"), "timestamp");
        check_field(at("1970-01-20T00:00:00Z"), "timestamp");
        check_field(at("soon"), "timestamp");
    }

    #[test]
    fn texts_are_bounded_and_without_nul() {
        let with = |data: Value| RawEvent {
            source: "trace".into(),
            event_type: "log".into(),
            data: data.as_object().unwrap().clone(),
            ..rating()
        };
        check_field(with(json!({"a": {"b": ["x", "y\0"]}})), "data.a.b[1]");
        check_field(with(json!({"a": "x".repeat(100_001)})), "data.a");
        assert!(take(with(json!({"a": "é".repeat(100_000)}))).is_ok());
        assert!(take(with(json!({"a": "'; DROP TABLE events; -- <script>"}))).is_ok());
    }
}
