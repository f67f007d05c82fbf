//! Converts a chat log to events for each question and answer.
//!
//! Ids are derived from the record and its line number. Importing a file twice stores nothing
//! twice, and lines of one file never collide.

use model::{ConversationId, Timestamp};
use serde_json::{Map, Value, json};

use super::chat::{ChatMessage, ChatRecord, ChatUsage};

/// The events of a record as lines of an export. `place` is the record's line number; `now`
/// replaces missing times.
pub fn chat_events(record: &ChatRecord, place: u64, now: Timestamp) -> Vec<Map<String, Value>> {
    let conversation = conversation_name(record);
    let mut lines = Vec::new();
    for (number, (asked, answered)) in record.exchanges().into_iter().enumerate() {
        let turn = turn_name(record, &conversation, (place, number), &asked);
        let line = |message: &ChatMessage, data: &Value| {
            event_line(record, &conversation, &turn, message, data, now)
        };
        lines.extend(line(&asked, &json!({"phase": "opened", "text": asked.text})));
        if let Some(answered) = answered {
            lines.extend(line(&answered, &completion_data(&answered)));
        }
    }
    lines
}

fn completion_data(message: &ChatMessage) -> Value {
    let status = if message.error.is_some() { "error" } else { "success" };
    let mut data = json!({"phase": "completed", "response": message.text, "status": status});
    if let Value::Object(fields) = &mut data {
        fields.extend(message.model.clone().map(|model| ("model".to_owned(), json!(model))));
        fields.extend(message.error.clone().map(|error| ("error".to_owned(), json!(error))));
        let millis = message.latency_seconds.filter(|s| *s >= 0.0).map(|s| s * 1000.0);
        fields.extend(millis.map(|ms| ("latency_ms".to_owned(), json!(ms))));
        let ChatUsage { tokens_in, tokens_out, cost } = message.usage;
        fields.extend(tokens_in.map(|count| ("tokens_in".to_owned(), json!(count))));
        fields.extend(tokens_out.map(|count| ("tokens_out".to_owned(), json!(count))));
        fields.extend(cost.map(|cost| ("cost".to_owned(), json!(cost))));
    }
    data
}

fn event_line(
    record: &ChatRecord,
    conversation: &str,
    turn: &str,
    message: &ChatMessage,
    data: &Value,
    now: Timestamp,
) -> Option<Map<String, Value>> {
    let phase = data["phase"].as_str().unwrap_or_default();
    let line = json!({
        "id": hash_name("chat", &[turn, phase]),
        "type": "query",
        "source": "turn",
        "category": "quality",
        "user_id": record.user.as_deref().map(fit_id),
        "session_id": conversation,
        "message_id": turn,
        "timestamp": message.at.unwrap_or(now).to_string(),
        "data": data,
    });
    line.as_object().cloned()
}

/// The log's name if it is a valid id, otherwise a hash of it or of the text.
pub fn conversation_name(record: &ChatRecord) -> String {
    match &record.conversation {
        Some(name) => fit_id(name),
        None => {
            let texts: Vec<&str> = record.messages.iter().map(|m| m.text.as_str()).collect();
            hash_name("chat", &texts)
        }
    }
}

/// Names the only turn of a record, because it may later be joined with others.
pub fn name_turn(record: &mut ChatRecord, place: u64) {
    let asked = record.messages.first().filter(|asked| record.is_turn && asked.turn.is_none());
    let Some(asked) = asked else { return };
    let name = turn_name(record, &conversation_name(record), (place, 0), asked);
    record.messages.iter_mut().for_each(|message| message.turn = Some(name.clone()));
}

/// The log's name for a turn, otherwise a hash of its position and question.
pub fn turn_name(
    record: &ChatRecord,
    conversation: &str,
    (place, number): (u64, usize),
    asked: &ChatMessage,
) -> String {
    match (&asked.turn, asked.at, record.is_turn) {
        (Some(turn), _, _) => fit_id(turn),
        (None, Some(at), true) => hash_name("turn", &[conversation, &at.to_string(), &asked.text]),
        (None, None, true) => hash_name("turn", &[conversation, &place.to_string(), &asked.text]),
        (None, _, false) => hash_name("turn", &[conversation, &number.to_string(), &asked.text]),
    }
}

/// The name if it is a valid id, otherwise a hash of it.
pub(super) fn fit_id(name: &str) -> String {
    let fits = ConversationId::new(name).is_ok();
    if fits { name.to_owned() } else { hash_name("id", &[name]) }
}

pub(super) fn hash_name(kind: &str, parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    format!("{kind}_{}", &hasher.finalize().to_hex()[..24])
}
