//! Validates decisions and their late outcomes.

use model::{
    Body, Category, ConversationId, DecisionId, Event, EventId, Kind, Scope, Source, Timestamp,
    TurnId, Type,
};
use serde_json::{Map, Value, json};

use crate::check::{CaptureError, check_texts, parse_id};

#[derive(Clone, Debug, Default)]
pub struct RawDecision {
    /// Generated when absent.
    pub decision_id: Option<String>,
    pub session_id: Option<String>,
    pub turn_id: Option<String>,
    /// The decision's type; an open list.
    pub decision_type: String,
    pub decision_data: Map<String, Value>,
    /// The outcome, if already known.
    pub outcome: Option<String>,
    /// The agent's confidence.
    pub confidence: Option<f64>,
}

#[derive(Clone, Debug, Default)]
pub struct RawOutcome {
    pub outcome: String,
    pub outcome_data: Map<String, Value>,
}

/// Aliases of decision types.
const ALIASES: [(&str, &str); 2] = [("routing", "intent_routing"), ("visualization", "chart_type")];

/// Validates a decision and builds its event. `fresh` supplies an id when it has none.
pub fn accept_decision(
    scope: &Scope,
    raw: RawDecision,
    event: EventId,
    now: Timestamp,
    fresh: impl FnOnce() -> DecisionId,
) -> Result<(DecisionId, Event), CaptureError> {
    check_texts("decision_data", &raw.decision_data)?;
    let decision = parse_id("decision_id", raw.decision_id, DecisionId::new)?.unwrap_or_else(fresh);
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
    let place = DecisionIds {
        conversation: parse_id("session_id", raw.session_id, ConversationId::new)?,
        turn: parse_id("turn_id", raw.turn_id, TurnId::new)?,
    };
    Ok((decision, decision_event(scope, place, event, now, data)?))
}

/// Validates an outcome and builds its event. `made` is the decision's event, if it is known.
pub fn accept_outcome(
    scope: &Scope,
    made: Option<&Event>,
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
    let place = DecisionIds {
        conversation: made.and_then(|made| made.conversation.clone()),
        turn: made.and_then(|made| made.turn.clone()),
    };
    decision_event(scope, place, event, now, data)
}

struct DecisionIds {
    conversation: Option<ConversationId>,
    turn: Option<TurnId>,
}

fn decision_event(
    scope: &Scope,
    place: DecisionIds,
    event: EventId,
    now: Timestamp,
    data: Map<String, Value>,
) -> Result<Event, CaptureError> {
    let kind = Kind { event_type: Type::Query, source: Source::ModelResponse };
    // The same parsing as for events, whose fields are inside `data`.
    let body = Body::read(kind, data).map_err(|bad| {
        let field = bad.field.trim_start_matches("data.").to_owned();
        CaptureError::BadField { field, got: bad.got, expected: bad.expected }
    })?;
    let DecisionIds { conversation, turn } = place;
    let kind = (kind, Category::Accuracy);
    Ok(Event { conversation, turn, ..Event::new(scope.clone(), event, kind, now, body) })
}
