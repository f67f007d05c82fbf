//! Small sample events to store or send.

#![expect(clippy::expect_used, reason = "a broken sample must stop the test at once")]

use model::{
    Category, Claim, ClaimSpace, Event, EventId, Kind, Mac, Scope, Severity, Source, Timestamp,
    Type, Write,
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
        data: json!({"text": format!("event {id}")}).as_object().cloned().unwrap_or_default(),
    }
}

/// A claim on an event id with a MAC made of one byte.
pub fn claim(id: &str, body: u8) -> Claim {
    Claim { space: ClaimSpace::Event, id: id.to_owned(), mac: Some(Mac([body; 16])) }
}

pub fn write(scope: &Scope, id: &str, body: u8) -> Write {
    Write { claims: vec![claim(id, body)], ..Write::of(event(scope, id), Vec::new()) }
}

/// The JSON of a thumb up on a turn, as a client sends it.
pub fn rating_body(turn: &str) -> Value {
    json!({
        "type": "explicit", "source": "user_rating", "category": "accuracy",
        "session_id": "c1", "message_id": turn, "user_id": "u1",
        "data": {"rating": "positive"}
    })
}
