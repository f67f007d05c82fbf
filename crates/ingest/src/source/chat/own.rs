//! Reads our own turns and events as chat records.

use model::Correction;
use serde_json::{Map, Value};

use super::read::{is_error, text_field, time_field};
use super::{ChatMessage, ChatRecord, Speaker};
use crate::source::signs::{self, Sign};

/// A turn as accepted by POST /api/v1/turns.
pub(super) fn own_turn(record: &Map<String, Value>) -> ChatRecord {
    let at = time_field(record, &["ts", "timestamp"]);
    let turn = text_field(record, &["turn_id"]);
    let said = |speaker, name| {
        let mut message =
            ChatMessage::new(speaker, text_field(record, &[name]).unwrap_or_default(), at);
        message.turn.clone_from(&turn);
        message
    };
    let (question, mut answer) =
        (said(Speaker::User, "text"), said(Speaker::Assistant, "response"));
    answer.model = text_field(record, &["model"]);
    answer.error =
        text_field(record, &["error"]).or_else(|| is_error(record).then(|| "error".to_owned()));
    answer.latency_seconds = record.get("latency_ms").and_then(Value::as_f64).map(|ms| ms / 1000.0);
    answer.signs = signs::inline_signs(record);
    ChatRecord {
        conversation: text_field(record, &["conversation_id", "session_id"]),
        user: text_field(record, &["user_id"]),
        messages: vec![question, answer],
        remarks: Vec::new(),
        is_turn: true,
    }
}

/// A line of `uptake export`: an opening, a completion, or feedback on a turn. Other events yield
/// nothing.
pub(super) fn own_event(record: &Map<String, Value>, data: &Map<String, Value>) -> ChatRecord {
    let mut turn = own_turn(data);
    turn.conversation = text_field(record, &["session_id"]);
    turn.user = text_field(record, &["user_id"]);
    let at = time_field(record, &["timestamp"]);
    let (id, phase) = (text_field(record, &["message_id"]), text_field(data, &["phase"]));
    let spoken = match phase.as_deref() {
        Some("opened") => Some(Speaker::User),
        Some("completed") => Some(Speaker::Assistant),
        Some(_) | None => None,
    };
    turn.messages.retain(|message| Some(message.speaker) == spoken);
    for message in &mut turn.messages {
        message.at = at;
        message.turn.clone_from(&id);
        message.signs.clear();
    }
    if let Some(sign) = signs::event_sign(record, data) {
        match (id, sign) {
            (Some(id), sign) => turn.remarks.push((id, sign)),
            (None, Sign::Corrected(given)) => return lone_correction(record, turn, *given),
            (None, _) => {}
        }
    }
    turn
}

/// A correction without a turn becomes a conversation if it includes the question.
fn lone_correction(record: &Map<String, Value>, of: ChatRecord, given: Correction) -> ChatRecord {
    let at = time_field(record, &["timestamp"]);
    let Some(asked) = given.query.clone() else { return of };
    let mut question = ChatMessage::new(Speaker::User, asked, at);
    let original = given.original.clone().unwrap_or_default();
    let mut answer = ChatMessage::new(Speaker::Assistant, original, at);
    answer.signs.push(Sign::Corrected(Box::new(given)));
    question.turn = text_field(record, &["id"]);
    answer.turn.clone_from(&question.turn);
    let conversation = of.conversation.or_else(|| question.turn.clone());
    ChatRecord { conversation, messages: vec![question, answer], is_turn: false, ..of }
}
