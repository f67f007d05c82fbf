//! Questions and answers in the inputs and outputs of spans.

use serde_json::{Value, json};

use super::attributes::Attributes;
use crate::source::{decode_json, find_question, read_answer};

const MAX_NUMBERED: usize = 1000;

/// The user's last message, or the text of a plain input. Empty when there is none.
pub(super) fn question_text(input: &Value) -> String {
    let input = decode_json(Some(input));
    find_question(unwrap_call(&input))
}

/// The text of an answer. Empty for a call of tools.
pub(super) fn answer_text(output: &Value) -> String {
    let output = decode_json(Some(output));
    if calls_tools(&output) {
        return String::new();
    }
    // Of a message without content, no other text is the answer.
    match output.get("role") {
        Some(_) => read_answer(&Value::Array(vec![output])),
        None => read_answer(&output),
    }
}

/// The arguments of a decorated function: the first one, or those with names.
fn unwrap_call(input: &Value) -> &Value {
    let Some(fields) = input.as_object().filter(|fields| fields.contains_key("args")) else {
        return input;
    };
    let first = fields["args"].as_array().and_then(|args| args.first());
    first.or_else(|| fields.get("kwargs")).unwrap_or(input)
}

/// True for an output that calls tools instead of answering.
fn calls_tools(output: &Value) -> bool {
    let message = match output {
        Value::Array(messages) => messages.last(),
        Value::Object(fields) => match fields.get("choices") {
            Some(choices) => choices.get(0).and_then(|choice| choice.get("message")),
            None => Some(output),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    };
    let Some(message) = message else { return false };
    let listed = |name: &str| message.get(name).and_then(Value::as_array);
    let is_call = |part: &Value| {
        let kind = part.get("type").and_then(Value::as_str);
        matches!(kind, Some("tool_call" | "tool_use" | "tool-call" | "function_call"))
    };
    listed("tool_calls").is_some_and(|calls| !calls.is_empty())
        || ["parts", "content"]
            .iter()
            .any(|name| listed(name).is_some_and(|parts| parts.iter().any(is_call)))
}

impl Attributes<'_> {
    /// Messages with a number in the name of each field, as a list.
    pub(super) fn numbered_messages(self, names: &[(&str, &str)]) -> Option<Value> {
        names.iter().find_map(|(name, field)| {
            let messages: Vec<Value> =
                (0..MAX_NUMBERED).map_while(|n| self.numbered_message(name, field, n)).collect();
            (!messages.is_empty()).then_some(Value::Array(messages))
        })
    }

    fn numbered_message(self, name: &str, field: &str, n: usize) -> Option<Value> {
        let get = |rest: &str| self.0.get(&format!("{name}.{n}.{field}{rest}"));
        let role = get("role");
        let is_call = get("tool_calls.0.tool_call.function.name")
            .or_else(|| get("tool_calls.0.name"))
            .is_some();
        let part = |m: usize| {
            let part = format!("{name}.{n}.{field}contents.{m}.message_content");
            let text = self.0.get(&format!("{part}.text"));
            // An image has no text.
            text.cloned().or_else(|| self.0.get(&format!("{part}.type")).map(|_| Value::Null))
        };
        let content = get("content").cloned().or_else(|| {
            let parts: Vec<Value> = (0..MAX_NUMBERED).map_while(part).collect();
            (!parts.is_empty()).then_some(Value::Array(parts))
        });
        if role.is_none() && content.is_none() && !is_call {
            return None;
        }
        let calls = if is_call { json!([{}]) } else { json!([]) };
        // An output without a role is the model's.
        let role = role.cloned().unwrap_or_else(|| "assistant".into());
        Some(json!({"role": role, "content": content, "tool_calls": calls}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_is_the_users_last_message() {
        let rows = [
            (json!("What is x?"), "What is x?"),
            (json!({"q": "What is x?"}), "What is x?"),
            (json!({"args": ["hi"], "kwargs": {}}), "hi"),
            (json!({"args": [], "kwargs": {"question": "hi"}}), "hi"),
            (
                json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
                {"role": "user", "content": [{"type": "text", "text": "c"}]}]),
                "c",
            ),
            (
                json!([{"role": "system", "parts": [{"type": "text", "content": "brief"}]},
                {"role": "user", "parts": [{"type": "text", "content": "What is x?"}]},
                {"role": "tool", "parts": [{"type": "tool_call_response", "response": "42"}]}]),
                "What is x?",
            ),
            (json!({"model": "m", "messages": [{"role": "user", "content": "x"}]}), "x"),
            (json!({"system": "brief", "messages": [{"role": "user", "content": "x"}]}), "x"),
            (json!({"a": 1}), ""),
        ];
        for (input, expected) in rows {
            assert_eq!(question_text(&input), expected, "{input}");
            assert_eq!(question_text(&json!(input.to_string())).trim_matches('"'), expected);
        }
    }

    #[test]
    fn answer_is_never_a_call_of_tools() {
        let rows = [
            (json!("Hello"), "Hello"),
            (json!({"role": "assistant", "content": "X is y"}), "X is y"),
            (json!({"content": "Hello", "type": "ai", "tool_calls": []}), "Hello"),
            (json!({"choices": [{"message": {"role": "assistant", "content": "Hello"}}]}), "Hello"),
            (
                json!([{"role": "assistant", "parts": [{"type": "text", "content": "Hello"}]}]),
                "Hello",
            ),
            (json!([{"type": "text", "text": "Hello"}]), "Hello"),
            (json!({"role": "assistant", "content": null, "tool_calls": [{"id": "1"}]}), ""),
            (json!({"role": "assistant", "content": null}), ""),
            (json!([{"role": "assistant", "parts": [{"type": "tool_call", "name": "f"}]}]), ""),
            (
                json!({"choices": [{"message": {"role": "assistant", "content": "I look.",
                "tool_calls": [{"id": "1"}]}}]}),
                "",
            ),
        ];
        for (output, expected) in rows {
            assert_eq!(answer_text(&output), expected, "{output}");
        }
    }
}
