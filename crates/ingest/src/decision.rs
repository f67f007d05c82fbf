//! Checks a decision and its late outcome.

use model::{
    Body, Category, ConversationId, DecisionId, Event, EventId, Kind, Scope, Severity, Source,
    Timestamp, TurnId, Type,
};
use serde_json::{Map, Value, json};

use crate::check::{CaptureError, check_texts, id};

/// A decision as a client sent it.
#[derive(Clone, Debug, Default)]
pub struct RawDecision {
    /// Chosen by the client, or made by us.
    pub decision_id: Option<String>,
    /// The conversation.
    pub session_id: Option<String>,
    /// The turn.
    pub turn_id: Option<String>,
    /// What was decided; an open list.
    pub decision_type: String,
    /// The particulars.
    pub decision_data: Map<String, Value>,
    /// How it turned out, if that is known already.
    pub outcome: Option<String>,
    /// How sure the agent was.
    pub confidence: Option<f64>,
}

/// An outcome as a client sent it.
#[derive(Clone, Debug, Default)]
pub struct RawOutcome {
    /// How it turned out.
    pub outcome: String,
    /// What is known about it.
    pub outcome_data: Map<String, Value>,
}

/// Other names for the same decision.
const ALIASES: [(&str, &str); 2] = [("routing", "intent_routing"), ("visualization", "chart_type")];

/// Checks a decision and makes its event. `fresh` is used when it brings no id.
pub fn accept_decision(
    scope: &Scope,
    raw: RawDecision,
    event: EventId,
    now: Timestamp,
    fresh: impl FnOnce() -> DecisionId,
) -> Result<(DecisionId, Event), CaptureError> {
    check_texts("decision_data", &raw.decision_data)?;
    let decision = id("decision_id", raw.decision_id, DecisionId::new)?.unwrap_or_else(fresh);
    let alias = ALIASES.iter().find(|(alias, _)| *alias == raw.decision_type);
    let mut data = Map::new();
    data.insert("decision_id".into(), json!(decision.as_str()));
    data.insert(
        "decision_type".into(),
        json!(alias.map_or(raw.decision_type.as_str(), |(_, name)| name)),
    );
    data.insert("decision_data".into(), Value::Object(raw.decision_data));
    data.insert("outcome".into(), json!(raw.outcome.unwrap_or_else(|| "unknown".to_owned())));
    if let Some(confidence) = raw.confidence {
        data.insert("confidence".into(), json!(confidence));
    }
    let place = Place {
        conversation: id("session_id", raw.session_id, ConversationId::new)?,
        turn: id("turn_id", raw.turn_id, TurnId::new)?,
    };
    Ok((decision, decision_event(scope, place, event, now, data)?))
}

/// Checks a late outcome and makes its event, in the place of the event that made the decision.
pub fn accept_outcome(
    made: &Event,
    decision: &DecisionId,
    raw: RawOutcome,
    event: EventId,
    now: Timestamp,
) -> Result<Event, CaptureError> {
    check_texts("outcome_data", &raw.outcome_data)?;
    let mut data = Map::new();
    data.insert("decision_id".into(), json!(decision.as_str()));
    data.insert("outcome".into(), json!(raw.outcome));
    data.insert("outcome_data".into(), Value::Object(raw.outcome_data));
    let place = Place { conversation: made.conversation.clone(), turn: made.turn.clone() };
    decision_event(&made.scope, place, event, now, data)
}

struct Place {
    conversation: Option<ConversationId>,
    turn: Option<TurnId>,
}

fn decision_event(
    scope: &Scope,
    place: Place,
    event: EventId,
    now: Timestamp,
    data: Map<String, Value>,
) -> Result<Event, CaptureError> {
    let kind = Kind { event_type: Type::Query, source: Source::ModelResponse };
    // The same reading as at the events' door; here the fields are not inside `data`.
    Body::read(kind, &data).map_err(|bad| {
        let field = bad.field.trim_start_matches("data.").to_owned();
        CaptureError::BadField { field, got: bad.got, expected: bad.expected }
    })?;
    Ok(Event {
        id: event,
        scope: scope.clone(),
        kind,
        severity: Severity::Info,
        category: Category::Accuracy,
        user: None,
        conversation: place.conversation,
        turn: place.turn,
        ts: now,
        received_at: now,
        tags: Vec::new(),
        data,
    })
}
