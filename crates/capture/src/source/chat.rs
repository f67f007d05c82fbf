//! Chat logs as others write them: what was said, by whom, when.
//!
//! Knows OpenAI-style `messages`, ShareGPT, LMSYS and WildChat, Langfuse traces, and our own turns.

use event::Timestamp;
use serde_json::{Map, Value};

use crate::check::CaptureError;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The user.
    User,
    /// The application.
    Assistant,
    /// A system prompt or a tool.
    Other,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatMessage {
    /// Who says it.
    pub speaker: Speaker,
    /// What is said.
    pub text: String,
    /// When, if the log says so.
    pub at: Option<Timestamp>,
}

/// A record of a log: a whole conversation, or one turn of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRecord {
    /// The conversation's name, if it has one.
    pub conversation: Option<String>,
    /// The user's name, if given.
    pub user: Option<String>,
    /// The model that answered, if given.
    pub model: Option<String>,
    /// What was said, in order.
    pub messages: Vec<ChatMessage>,
    /// Only a part of the conversation: the next record may go on with it.
    pub is_turn: bool,
    /// The application says that the answer failed.
    pub error: Option<String>,
    /// How long the answer took, if the log says so.
    pub latency_seconds: Option<f64>,
}

/// Reads a record of any of the known shapes.
pub fn read_chat(record: &Map<String, Value>) -> Result<ChatRecord, CaptureError> {
    let mut read = if let Some(messages) = list(record, "messages") {
        conversation(record, messages)
    } else if let Some(messages) =
        list(record, "conversations").or_else(|| list(record, "conversation"))
    {
        conversation(record, messages)
    } else if record.contains_key("input") || record.contains_key("output") {
        trace(record)
    } else if record.contains_key("text") || record.contains_key("response") {
        own_turn(record)
    } else if let Some(data) = record.get("data").and_then(Value::as_object) {
        own_event(record, data)
    } else {
        return Err(CaptureError::new(
            "record",
            "of an unknown shape",
            "messages, conversation(s), input and output, or text and response",
        ));
    };
    read.messages
        .retain(|message| !message.text.trim().is_empty() || message.speaker == Speaker::Assistant);
    Ok(read)
}

fn list<'a>(record: &'a Map<String, Value>, name: &str) -> Option<&'a Vec<Value>> {
    record.get(name)?.as_array()
}

fn text(record: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match record.get(*name)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    })
}

fn conversation(record: &Map<String, Value>, messages: &[Value]) -> ChatRecord {
    ChatRecord {
        conversation: text(
            record,
            &["conversation_id", "conversation_hash", "id", "hash", "session_id"],
        ),
        user: text(record, &["user_id", "hashed_ip", "user"]),
        model: text(record, &["model", "model_name"]),
        messages: messages.iter().filter_map(message).collect(),
        ..ChatRecord::default()
    }
}

fn message(value: &Value) -> Option<ChatMessage> {
    let fields = value.as_object()?;
    let who = text(fields, &["role", "from", "author", "speaker"])?;
    let said = ["content", "value", "text", "message"].iter().find_map(|name| fields.get(*name));
    Some(ChatMessage {
        speaker: speaker(&who),
        text: said.map(said_in).unwrap_or_default(),
        at: text(fields, &["timestamp", "ts", "created_at"])
            .and_then(|at| Timestamp::parse(&at).ok()),
    })
}

fn speaker(who: &str) -> Speaker {
    match who.to_ascii_lowercase().as_str() {
        "user" | "human" | "prompter" | "customer" => Speaker::User,
        "assistant" | "gpt" | "chatgpt" | "bot" | "ai" | "model" | "bing" | "bard" | "claude"
        | "agent" => Speaker::Assistant,
        _ => Speaker::Other,
    }
}

/// Text, a list of parts, or an object with either.
fn said_in(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().map(said_in).filter(|t| !t.is_empty()).collect();
            texts.join("\n")
        }
        Value::Object(fields) => ["text", "content", "value", "answer", "output"]
            .iter()
            .find_map(|name| fields.get(*name))
            .map(said_in)
            .unwrap_or_default(),
        Value::Null | Value::Bool(_) => String::new(),
        Value::Number(number) => number.to_string(),
    }
}

/// A Langfuse trace: one turn of a session, its input perhaps the whole conversation so far.
fn trace(record: &Map<String, Value>) -> ChatRecord {
    let input = record.get("input").unwrap_or(&Value::Null);
    let said: Vec<&Value> = match input {
        Value::Array(messages) => messages.iter().collect(),
        Value::Object(fields) => {
            list(fields, "messages").map(|m| m.iter().collect()).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    let at = text(record, &["timestamp", "startTime", "createdAt"])
        .and_then(|at| Timestamp::parse(&at).ok());
    let last_user =
        said.iter().rev().filter_map(|m| message(m)).find(|m| m.speaker == Speaker::User);
    let asked = last_user.map_or_else(|| question_of(input), |m| m.text);
    let answered = said_in(record.get("output").unwrap_or(&Value::Null));
    ChatRecord {
        conversation: text(record, &["sessionId", "session_id", "traceId", "id"]),
        user: text(record, &["userId", "user_id"]),
        model: text(record, &["model", "modelId"]),
        messages: vec![
            ChatMessage { speaker: Speaker::User, text: asked, at },
            ChatMessage { speaker: Speaker::Assistant, text: answered, at },
        ],
        is_turn: true,
        error: text(record, &["statusMessage", "error"]).filter(|_| is_error(record)),
        latency_seconds: record.get("latency").and_then(Value::as_f64),
    }
}

fn is_error(record: &Map<String, Value>) -> bool {
    text(record, &["level", "status"]).is_some_and(|level| level.eq_ignore_ascii_case("error"))
}

fn question_of(input: &Value) -> String {
    let named = input.as_object().and_then(|fields| {
        ["question", "query", "input", "prompt", "message"]
            .iter()
            .find_map(|name| fields.get(*name))
    });
    said_in(named.unwrap_or(input))
}

/// A turn as POST /api/v1/turns takes it.
fn own_turn(record: &Map<String, Value>) -> ChatRecord {
    let at = text(record, &["ts", "timestamp"]).and_then(|at| Timestamp::parse(&at).ok());
    let said = |speaker, name| ChatMessage {
        speaker,
        text: text(record, &[name]).unwrap_or_default(),
        at,
    };
    let millis = record.get("latency_ms").and_then(Value::as_f64);
    ChatRecord {
        conversation: text(record, &["conversation_id", "session_id"]),
        user: text(record, &["user_id"]),
        model: text(record, &["model"]),
        messages: vec![said(Speaker::User, "text"), said(Speaker::Assistant, "response")],
        is_turn: true,
        error: text(record, &["error"]).or_else(|| is_error(record).then(|| "error".to_owned())),
        latency_seconds: millis.map(|ms| ms / 1000.0),
    }
}

/// A line of `uptake export`: the opening or the completion of a turn.
fn own_event(record: &Map<String, Value>, data: &Map<String, Value>) -> ChatRecord {
    let mut turn = own_turn(data);
    turn.conversation = text(record, &["session_id"]);
    turn.user = text(record, &["user_id"]);
    let at = text(record, &["timestamp"]).and_then(|at| Timestamp::parse(&at).ok());
    let opens = text(data, &["phase"]).as_deref() == Some("opened");
    let completes = text(data, &["phase"]).as_deref() == Some("completed");
    turn.messages.retain(|m| {
        (opens && m.speaker == Speaker::User) || (completes && m.speaker == Speaker::Assistant)
    });
    turn.messages.iter_mut().for_each(|m| m.at = at);
    turn
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(record: Value) -> Vec<(Speaker, String)> {
        let Value::Object(fields) = record else { panic!() };
        read_chat(&fields).unwrap().messages.into_iter().map(|m| (m.speaker, m.text)).collect()
    }

    #[test]
    fn every_known_shape_says_the_same() {
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
            assert_eq!(said(record.clone()), expected, "{record}");
        }
    }

    #[test]
    fn what_is_no_chat_is_told() {
        let Value::Object(fields) = json!({"foo": 1}) else { panic!() };
        assert!(read_chat(&fields).unwrap_err().to_string().contains("record"));
    }

    #[test]
    fn odd_messages_do_no_harm() {
        assert!(said(json!({"messages": [1, null, {"role": 3}, {"content": "x"}, {"role": "tool", "content": null}]})).is_empty());
    }
}
