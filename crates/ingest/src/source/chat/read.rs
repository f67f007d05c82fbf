//! Parses a chat record of any known format: OpenAI-style `messages`, ShareGPT, LMSYS, WildChat,
//! Langfuse traces, LangSmith runs and our own turns.

use model::{Correction, Timestamp, rename_aliases};
use serde_json::{Map, Value};

use super::message::read_message;
use super::{ChatMessage, ChatRecord, Speaker, langfuse, langsmith};
use crate::check::CaptureError;
use crate::source::fields::{is_error, list_field, text_field, time_field};
use crate::source::signs::{self, Sign};

/// Parses a record of any known format.
pub fn read_chat(record: &Map<String, Value>) -> Result<ChatRecord, CaptureError> {
    let read = if langsmith::is_run(record) {
        langsmith::read_run(record)
    } else if let Some(messages) = list_field(record, "messages") {
        read_conversation(record, messages)
    } else if let Some(messages) =
        list_field(record, "conversations").or_else(|| list_field(record, "conversation"))
    {
        read_conversation(record, messages)
    } else if let Some(data) = record.get("data").and_then(Value::as_object) {
        own_event(record, data)
    } else if record.contains_key("input") || record.contains_key("output") {
        langfuse::read_trace(record)
    } else if let Some(turn) = rename_turn_fields(record)? {
        own_turn(&turn)
    } else {
        return Err(CaptureError::new(
            "record",
            "of an unknown shape",
            "messages, conversation(s), input and output, inputs and outputs, or text and response",
        ));
    };
    if read.messages.iter().filter_map(|message| message.at).any(is_out_of_range) {
        return Err(CaptureError::new(
            "timestamp",
            "beyond the year 9999",
            "seconds or milliseconds since 1970, or an RFC 3339 time",
        ));
    }
    Ok(read)
}

/// True for numbers outside the range of representable times.
fn is_out_of_range(at: Timestamp) -> bool {
    const YEAR_9999: u64 = 253_370_764_800_000_000;
    at.as_micros().unsigned_abs() >= YEAR_9999
}

/// The record with the names of `POST /api/v1/turns`, if it has a question or an answer.
fn rename_turn_fields(
    record: &Map<String, Value>,
) -> Result<Option<Map<String, Value>>, CaptureError> {
    const KNOWN: &[&str] = &[
        "turn_id",
        "conversation_id",
        "user_id",
        "text",
        "response",
        "ts",
        "model",
        "error",
        "status",
        "started_at",
        "completed_at",
        "latency_ms",
    ];
    let mut turn = record.clone();
    rename_aliases(&mut turn, KNOWN)?;
    Ok(text_field(&turn, &["text", "response"]).is_some().then_some(turn))
}

fn read_conversation(record: &Map<String, Value>, messages: &[Value]) -> ChatRecord {
    let model = text_field(record, &["model", "model_name"]);
    let mut messages: Vec<ChatMessage> = messages.iter().filter_map(read_message).collect();
    for answer in messages.iter_mut().filter(|m| m.speaker == Speaker::Assistant) {
        answer.model = answer.model.take().or_else(|| model.clone());
    }
    let names = ["conversation_id", "conversation_hash", "id", "hash", "session_id"];
    ChatRecord {
        conversation: text_field(record, &names),
        user: text_field(record, &["user_id", "hashed_ip", "user"]),
        messages,
        remarks: Vec::new(),
        is_turn: false,
    }
}

/// A turn as accepted by POST /api/v1/turns.
fn own_turn(record: &Map<String, Value>) -> ChatRecord {
    let at = time_field(record, &["ts", "timestamp", "started_at"]);
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
    let measured = record.get("latency_ms").and_then(Value::as_f64).map(|ms| ms / 1000.0);
    answer.latency_seconds = measured.or_else(|| {
        let started = time_field(record, &["started_at"])?;
        let completed = time_field(record, &["completed_at"])?;
        Some((completed.as_micros() - started.as_micros()) as f64 / 1e6)
    });
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
fn own_event(record: &Map<String, Value>, data: &Map<String, Value>) -> ChatRecord {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_messages(record: Value) -> Vec<(Speaker, String)> {
        let Value::Object(fields) = record else { panic!() };
        read_chat(&fields).unwrap().messages.into_iter().map(|m| (m.speaker, m.text)).collect()
    }

    #[test]
    fn known_formats_yield_the_same_messages() {
        let expected = [(Speaker::User, "hi".to_owned()), (Speaker::Assistant, "hello".to_owned())];
        let records = [
            json!({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}),
            json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}, {"role": "assistant", "content": "hello"}]}),
            json!({"id": "x", "conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}]}),
            json!({"conversation_id": "x", "model": "m", "conversation": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}),
            json!({"id": "t", "sessionId": "s", "input": "hi", "output": "hello"}),
            json!({"id": "t", "input": {"messages": [{"role": "user", "content": "hi"}]}, "output": {"role": "assistant", "content": "hello"}}),
            json!({"id": "t", "input": {"question": "hi"}, "output": {"answer": "hello"}}),
            json!({"conversation_id": "c", "text": "hi", "response": "hello"}),
        ];
        for record in records {
            assert_eq!(read_messages(record.clone()), expected, "{record}");
        }
    }

    #[test]
    fn unknown_format_is_refused() {
        let Value::Object(fields) = json!({"foo": 1}) else { panic!() };
        assert!(read_chat(&fields).unwrap_err().to_string().contains("record"));
    }

    #[test]
    fn numbers_out_of_the_time_range_are_refused() {
        let read = |ts: Value| {
            let said = json!({"messages": [{"role": "user", "content": "hi", "ts": ts}]});
            read_chat(said.as_object().unwrap())
        };
        for odd in [json!(1e300), json!(-1e300), json!(1_800_000_000_000_000_000_i64)] {
            let refused = read(odd.clone()).unwrap_err().to_string();
            assert!(refused.contains("timestamp"), "{odd}: {refused}");
        }
        let known = Timestamp::parse("2027-01-15T08:00:00Z").ok();
        let rows = [
            (json!(1_800_000_000), known),
            (json!("1800000000000"), known),
            (json!("nan"), None),
            (json!("inf"), None),
        ];
        for (ts, expected) in rows {
            assert_eq!(read(ts.clone()).unwrap().messages[0].at, expected, "{ts}");
        }
    }

    #[test]
    fn malformed_messages_are_skipped() {
        let odd = json!({"messages": [1, null, {"role": 3}, {"content": "x"}, {"role": "tool", "content": null}]});
        assert!(
            read_messages(odd)
                .iter()
                .all(|(speaker, text)| *speaker == Speaker::Other && text.is_empty())
        );
    }
}
