//! Dead letters: accepted writes that could not be stored.

use model::{ClaimSpace, Event, Mac};
use serde_json::{Value, json};
use sql::Connection;

use crate::row_keys::Key;

/// Inserts a dead letter, or replaces the one with the same id.
pub(crate) fn insert(
    connection: &Connection,
    project: Key,
    event: &Event,
    reason: &str,
    letter: &Value,
) -> sql::Result<()> {
    let at = event.received_at.as_micros();
    connection.execute_cached(
        "INSERT INTO dead_letters (project, id, reason, at, letter) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (project, id) DO UPDATE SET reason = excluded.reason,
             at = excluded.at, letter = excluded.letter",
        (project, event.id.as_str(), reason, at, letter.to_string()),
    )?;
    Ok(())
}

pub(crate) fn claim_json(space: ClaimSpace, id: &str, mac: Option<Mac>) -> Value {
    json!({"space": space.code(), "id": id, "mac": mac.map(|mac| mac.0)})
}

/// An event as stored in a dead letter. `data` is the serialized data.
pub(crate) fn event_json(event: &Event, data: &str) -> Value {
    json!({
        "id": event.id.as_str(), "type": event.kind.event_type, "source": event.kind.source,
        "severity": event.severity, "category": event.category,
        "user": event.user.as_ref().map(|id| id.as_str()),
        "conversation": event.conversation.as_ref().map(|id| id.as_str()),
        "turn": event.turn.as_ref().map(|id| id.as_str()),
        "ts": event.ts.as_micros(), "received_at": event.received_at.as_micros(),
        "tags": event.tags, "data": serde_json::from_str::<Value>(data).unwrap_or_default(),
    })
}
