//! Reads event lines: the output of `uptake export`, or events as clients send them.

use model::{
    Body, Category, ConversationId, Event, EventId, Kind, Project, Rule, Scope, Severity, Source,
    Tenant, Timestamp, TurnId, Type, UserId, rename_aliases,
};
use serde_json::{Map, Value};

use super::artifact::{OLD_REACTION_TAG, REACTION_TAG};
use crate::accept::{RawEvent, accept_event};
use crate::check::{CaptureError, check_tags, check_texts, parse_id, parse_timestamp, parse_word};
use crate::rule::{accept_privacy, accept_profile};

#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The event with its original times and id.
    pub event: Event,
}

/// The fields of an event, as sent by clients and written by `uptake export`.
pub const EVENT_FIELDS: &[&str] = &[
    "id",
    "type",
    "source",
    "severity",
    "category",
    "tenant_id",
    "project",
    "user_id",
    "session_id",
    "message_id",
    "timestamp",
    "received_at",
    "data",
    "tags",
    "position",
];

/// Parses a line. Our own records are accepted as well, because the importer has write access to
/// the store.
pub fn read_line(
    fields: Map<String, Value>,
    now: Timestamp,
    fresh_id: impl FnOnce() -> EventId,
) -> Result<Line, CaptureError> {
    let mut fields = fields;
    rename_aliases(&mut fields, EVENT_FIELDS)?;
    let mut fields = Fields(fields);
    let scope = Scope {
        tenant: parse_id("tenant_id", fields.text("tenant_id")?, Tenant::new)?
            .unwrap_or_else(|| Scope::default().tenant),
        project: parse_id("project", fields.text("project")?, Project::new)?
            .unwrap_or_else(|| Scope::default().project),
    };
    let received_at = parse_timestamp("received_at", fields.time("received_at")?.as_deref(), now)?;
    fields.0.remove("position");
    fields.0.remove("context");
    let raw = RawEvent {
        id: fields.text("id")?,
        event_type: fields.text("type")?.unwrap_or_default(),
        source: fields.text("source")?.unwrap_or_default(),
        severity: fields.text("severity")?,
        category: fields.text("category")?.unwrap_or_default(),
        user_id: fields.text("user_id")?,
        session_id: fields.text("session_id")?,
        message_id: fields.text("message_id")?,
        timestamp: fields.time("timestamp")?,
        data: fields.object("data")?,
        tags: fields.tags()?,
    };
    if let Some(name) = fields.0.keys().next() {
        return Err(CaptureError::new(name, "given", "only the fields of an event"));
    }
    let own = [Source::Turn, Source::Reaction, Source::Engine];
    let source = Source::from_word(&raw.source);
    // The stub of an erased user has nothing to validate.
    let is_stub = raw.user_id.is_none() && raw.data.is_empty();
    let event = if is_stub || source.is_some_and(|source| own.contains(&source)) {
        own_record(&scope, raw, now, fresh_id)?
    } else {
        accept_event(&scope, raw, now, fresh_id)?
    };
    Ok(Line { event: Event { received_at, ..event } })
}

fn own_record(
    scope: &Scope,
    raw: RawEvent,
    now: Timestamp,
    fresh_id: impl FnOnce() -> EventId,
) -> Result<Event, CaptureError> {
    let kind = Kind {
        event_type: parse_word("type", &raw.event_type, Type::from_word, Type::WORDS)?,
        source: parse_word("source", &raw.source, Source::from_word, Source::WORDS)?,
    };
    check_tags(&raw.tags)?;
    check_texts("data", &raw.data)?;
    let body = match raw.data.is_empty() {
        true => Body::from_stored(kind, raw.data),
        false => Body::read(kind, raw.data)?,
    };
    match &body {
        Body::Rule(Rule::Privacy { settings }) => drop(accept_privacy(settings)?),
        Body::Rule(Rule::Profile { attributes }) => drop(accept_profile(attributes.clone())?),
        // Router and experiment definitions and targets are validated where they are used. Invalid
        // ones change nothing.
        Body::Rule(
            Rule::Erasure { .. }
            | Rule::Targets { .. }
            | Rule::Calibration(_)
            | Rule::Router { .. }
            | Rule::RouterReset { .. }
            | Rule::HistoryForgotten
            | Rule::Experiment(_),
        )
        | Body::Finding(_)
        | Body::Turn(_)
        | Body::Reaction(_)
        | Body::Rating(_)
        | Body::Comment(_)
        | Body::Correction(_)
        | Body::Interaction(_)
        | Body::Metric(_)
        | Body::Decision(_)
        | Body::Settlement(_)
        | Body::Spans(_)
        | Body::Other(_)
        | Body::Unreadable(_) => {}
    }
    let severity = raw.severity.as_deref().unwrap_or("info");
    Ok(Event {
        id: parse_id("id", raw.id, EventId::new)?.unwrap_or_else(fresh_id),
        scope: scope.clone(),
        kind,
        severity: parse_word("severity", severity, Severity::from_word, Severity::WORDS)?,
        category: parse_word("category", &raw.category, Category::from_word, Category::WORDS)?,
        user: parse_id("user_id", raw.user_id, UserId::new)?,
        conversation: parse_id("session_id", raw.session_id, ConversationId::new)?,
        turn: parse_id("message_id", raw.message_id, TurnId::new)?,
        ts: parse_timestamp("timestamp", raw.timestamp.as_deref(), now)?,
        received_at: now,
        tags: raw.tags,
        body,
    })
}

struct Fields(Map<String, Value>);

impl Fields {
    fn text(&mut self, name: &str) -> Result<Option<String>, CaptureError> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(CaptureError::new(name, "not a text", "a text")),
        }
    }

    /// A time may be a number.
    fn time(&mut self, name: &str) -> Result<Option<String>, CaptureError> {
        match self.0.get(name) {
            Some(Value::Number(number)) => {
                let text = number.to_string();
                self.0.remove(name);
                Ok(Some(text))
            }
            Some(_) | None => self.text(name),
        }
    }

    fn object(&mut self, name: &str) -> Result<Map<String, Value>, CaptureError> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(fields)) => Ok(fields),
            Some(_) => Err(CaptureError::new(name, "not an object", "an object")),
        }
    }

    fn tags(&mut self) -> Result<Vec<String>, CaptureError> {
        let bad = || CaptureError::new("tags", "another type", "a list of texts");
        match self.0.remove("tags") {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .into_iter()
                .map(|item| match item {
                    Value::String(tag) if tag == OLD_REACTION_TAG => Ok(REACTION_TAG.to_owned()),
                    Value::String(tag) => Ok(tag),
                    Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::Array(_)
                    | Value::Object(_) => Err(bad()),
                })
                .collect(),
            Some(_) => Err(bad()),
        }
    }
}
