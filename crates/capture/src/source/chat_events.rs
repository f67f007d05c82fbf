//! A chat log as the events that would have come through the doors: each question and each answer.
//!
//! Ids are made from what the record says, so that the same file brings nothing twice.

use event::Timestamp;
use serde_json::{Map, Value, json};

use super::chat::{ChatMessage, ChatRecord, Speaker};

/// The events of a record, as lines of an export. `now` stands in for times that the log lacks.
pub fn chat_events(record: &ChatRecord, now: Timestamp) -> Vec<Map<String, Value>> {
    let conversation = conversation_id(record);
    let mut lines = Vec::new();
    let mut question: Option<(String, String)> = None;
    for (number, message) in record.messages.iter().enumerate() {
        match message.speaker {
            Speaker::User => {
                let turn = turn_id(record, &conversation, number, message);
                let data = json!({"phase": "opened", "text": message.text});
                lines.extend(line(record, &conversation, &turn, message, &data, now));
                question = Some((turn, message.text.clone()));
            }
            Speaker::Assistant => {
                let Some((turn, _)) = question.take() else { continue };
                let data = completion(record, message);
                lines.extend(line(record, &conversation, &turn, message, &data, now));
            }
            Speaker::Other => {}
        }
    }
    lines
}

fn completion(record: &ChatRecord, message: &ChatMessage) -> Value {
    let status = if record.error.is_some() { "error" } else { "success" };
    let mut data = json!({"phase": "completed", "response": message.text, "status": status});
    if let Value::Object(fields) = &mut data {
        fields.extend(record.model.clone().map(|model| ("model".to_owned(), json!(model))));
        fields.extend(record.error.clone().map(|error| ("error".to_owned(), json!(error))));
        let millis = record.latency_seconds.filter(|s| *s >= 0.0).map(|s| s * 1000.0);
        fields.extend(millis.map(|ms| ("latency_ms".to_owned(), json!(ms))));
    }
    data
}

fn line(
    record: &ChatRecord,
    conversation: &str,
    turn: &str,
    message: &ChatMessage,
    data: &Value,
    now: Timestamp,
) -> Option<Map<String, Value>> {
    let phase = data["phase"].as_str().unwrap_or_default().to_owned();
    let user = record.user.as_deref().map(fit);
    let line = json!({
        "id": named("chat", &[turn, &phase]),
        "type": "query",
        "source": "turn",
        "category": "quality",
        "user_id": user,
        "session_id": conversation,
        "message_id": turn,
        "timestamp": message.at.unwrap_or(now).to_string(),
        "data": data,
    });
    line.as_object().cloned()
}

/// The log's own name where it fits as an id, else one made from it; without a name, from the text.
fn conversation_id(record: &ChatRecord) -> String {
    match &record.conversation {
        Some(name) => fit(name),
        None => {
            let texts: Vec<&str> = record.messages.iter().map(|m| m.text.as_str()).collect();
            named("chat", &texts)
        }
    }
}

fn turn_id(
    record: &ChatRecord,
    conversation: &str,
    number: usize,
    message: &ChatMessage,
) -> String {
    let at = message.at.map(|at| at.to_string()).unwrap_or_default();
    // A single turn does not know its number; what it says tells it from others.
    let place = if record.is_turn { at } else { number.to_string() };
    named("turn", &[conversation, &place, &message.text])
}

fn fit(name: &str) -> String {
    let fits = (1..=200).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
    if fits { name.to_owned() } else { named("id", &[name]) }
}

fn named(kind: &str, parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    format!("{kind}_{}", &hasher.finalize().to_hex()[..24])
}
