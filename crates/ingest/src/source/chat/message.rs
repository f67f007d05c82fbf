//! Messages, questions and answers in the formats of chat APIs and LangChain.

use serde_json::{Map, Value};

use super::{ChatMessage, Speaker};
use crate::source::fields::{decode_json, list_field, read_content, text_field, time_field};
use crate::source::signs;

pub(super) fn read_message(value: &Value) -> Option<ChatMessage> {
    let fields = unwrap_message(value.as_object()?);
    let who = text_field(fields, &["role", "from", "author", "speaker", "type"])
        .or_else(|| class_name(value))?;
    let names = ["content", "value", "text", "message", "refusal", "parts"];
    let said = names.iter().filter_map(|name| fields.get(*name)).map(read_content);
    let said = said.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    let mut message = ChatMessage::new(
        parse_speaker(&who),
        said,
        time_field(fields, &["timestamp", "ts", "created_at"]),
    );
    message.model = text_field(fields, &["model"]);
    if message.speaker == Speaker::Assistant {
        message.signs = signs::inline_signs(fields);
    }
    Some(message)
}

fn parse_speaker(who: &str) -> Speaker {
    match who.to_ascii_lowercase().as_str() {
        "user" | "human" | "humanmessage" | "prompter" | "customer" => Speaker::User,
        "assistant" | "gpt" | "chatgpt" | "bot" | "ai" | "aimessage" | "model" | "bing"
        | "bard" | "claude" | "agent" => Speaker::Assistant,
        _ => Speaker::Other,
    }
}

/// The last question in an input: text, an object, or the messages so far.
pub(super) fn read_question(given: Option<&Value>) -> String {
    let asked = find_question(&decode_json(given));
    if asked.is_empty() { given.map(read_content).unwrap_or_default() } else { asked }
}

/// The last question in a decoded input; empty when none is found.
pub(crate) fn find_question(input: &Value) -> String {
    let said: Vec<&Value> = match input {
        Value::Array(messages) => messages.iter().collect(),
        Value::Object(fields) => {
            list_field(fields, "messages").map(|m| m.iter().collect()).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    // LangChain sends a batch: a list of lists of messages.
    let said = said.into_iter().flat_map(|item| match item {
        Value::Array(batch) => batch.iter().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            vec![item]
        }
    });
    let mut users = said.filter_map(read_message).filter(|m| m.speaker == Speaker::User);
    users.next_back().map_or_else(|| last_question(input), |message| message.text)
}

pub(super) fn last_question(input: &Value) -> String {
    let named = input.as_object().and_then(|fields| {
        ["question", "query", "q", "input", "prompt", "message", "text"]
            .iter()
            .find_map(|name| fields.get(*name))
            .or_else(|| only_text(fields))
    });
    read_content(named.unwrap_or(input))
}

/// The text of an answer: generations, choices, messages, or the output's own text.
pub(crate) fn read_answer(output: &Value) -> String {
    let Value::Object(fields) = output else { return read_answer_list(output) };
    let first = |name: &str| {
        let item = list_field(fields, name)?.first()?;
        // A batch of generations is a list of lists.
        Some(item.as_array().and_then(|batch| batch.first()).unwrap_or(item))
    };
    let generated = first("generations").map(|item| {
        let text = item.get("text").map(read_content).filter(|text| !text.is_empty());
        text.or_else(|| Some(read_message(item.get("message")?)?.text)).unwrap_or_default()
    });
    let chosen = || Some(read_message(first("choices")?.get("message")?)?.text);
    let spoken = || Some(last_answer(list_field(fields, "messages")?));
    let found = generated.or_else(chosen).or_else(spoken).filter(|text| !text.is_empty());
    found.unwrap_or_else(|| {
        let text = read_content(unwrap_value(output));
        if !text.is_empty() {
            return text;
        }
        only_text(fields).map(read_content).unwrap_or_default()
    })
}

/// A list of messages or of content parts, or plain text.
fn read_answer_list(output: &Value) -> String {
    let spoken = output.as_array().map(|messages| last_answer(messages)).unwrap_or_default();
    if spoken.is_empty() { read_content(output) } else { spoken }
}

fn last_answer(messages: &[Value]) -> String {
    let answers = messages.iter().filter_map(read_message);
    let mut answers = answers.filter(|message| message.speaker == Speaker::Assistant);
    answers.next_back().map(|message| message.text).unwrap_or_default()
}

/// The fields of a message inside LangChain's wrappers (`kwargs`, `data`).
pub(super) fn unwrap_message(fields: &Map<String, Value>) -> &Map<String, Value> {
    ["kwargs", "data"].iter().find_map(|name| fields.get(*name)?.as_object()).unwrap_or(fields)
}

/// The class of a LangChain message, such as `HumanMessage`, otherwise its type.
pub(super) fn class_name(message: &Value) -> Option<String> {
    let class = message.get("id").and_then(Value::as_array).and_then(|path| path.last());
    class.or_else(|| message.get("type"))?.as_str().map(str::to_owned)
}

fn unwrap_value(value: &Value) -> &Value {
    value.get("kwargs").unwrap_or(value)
}

/// The only text of an object, for applications that name their fields freely.
pub(super) fn only_text(fields: &Map<String, Value>) -> Option<&Value> {
    let mut texts = fields.values().filter(|value| value.is_string());
    texts.next().filter(|_| texts.next().is_none())
}
