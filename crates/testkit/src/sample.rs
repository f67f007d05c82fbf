//! Small sample events to store or send.

#![expect(clippy::expect_used, reason = "a broken sample must stop the test at once")]

use model::{
    Body, Category, Change, Claim, ClaimSpace, Event, EventId, Kind, Mac, Redacted, Scope,
    Severity, Source, Timestamp, TurnChange, Type, Write,
};
use serde_json::{Value, json};

/// A log event with this id in this scope.
pub fn event(scope: &Scope, id: &str) -> Event {
    Event {
        id: EventId::new(id).expect("the sample's id is valid"),
        scope: scope.clone(),
        kind: Kind { event_type: Type::Log, source: Source::ApplicationLog },
        severity: Severity::Info,
        category: Category::Quality,
        user: None,
        conversation: None,
        turn: None,
        ts: Timestamp::from_micros(1_800_000_000_000_000),
        received_at: Timestamp::from_micros(1_800_000_000_000_001),
        tags: vec!["sample".to_owned()],
        body: other_body(&json!({"text": format!("event {id}")})),
    }
}

/// The body of an event that Uptake does not interpret.
pub fn other_body(data: &Value) -> Body {
    Body::Other(data.as_object().cloned().unwrap_or_default())
}

/// The event as if the redactor had found nothing in it.
pub fn redacted(event: Event) -> Redacted<Event> {
    Redacted::assert_redacted(event)
}

/// The change of a question without labels.
pub fn opening_change() -> Change {
    Change::Turn(TurnChange::Open {
        track: None,
        bundle: None,
        user_type: None,
        intent: None,
        language: None,
    })
}

/// Changes an event that was already marked as redacted.
pub fn edit_event(event: &mut Redacted<Event>, change: impl FnOnce(&mut Event)) {
    let mut edited = Event::clone(event);
    change(&mut edited);
    *event = Redacted::assert_redacted(edited);
}

/// A claim on an event id with a MAC made of one byte.
pub fn claim(id: &str, body: u8) -> Claim {
    Claim { space: ClaimSpace::Event, id: id.to_owned(), mac: Some(Mac([body; 16])) }
}

pub fn write(scope: &Scope, id: &str, body: u8) -> Write {
    Write { claims: vec![claim(id, body)], ..Write::new(redacted(event(scope, id)), Vec::new()) }
}

/// The JSON of a thumb up on a turn, as a client sends it.
pub fn rating_body(turn: &str) -> Value {
    json!({
        "type": "explicit", "source": "user_rating", "category": "accuracy",
        "session_id": "c1", "message_id": turn, "user_id": "u1",
        "data": {"rating": "positive"}
    })
}
