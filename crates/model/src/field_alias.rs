//! Other spellings of field names. One table for every way into the store.

use serde_json::{Map, Value};

/// Names of the same field. An endpoint has at most one name of each row and accepts the others.
/// `camelCase` spellings of all names are accepted as well.
pub const FIELD_ALIASES: &[&[&str]] = &[
    &["conversation_id", "session_id", "thread_id"],
    &["turn_id", "message_id", "query_id"],
    &["ts", "timestamp"],
    &["id", "event_id", "feedback_id"],
    &["type", "feedback_type", "event_type"],
    &["source", "feedback_source"],
    &["category", "feedback_category"],
    &["text", "query_text"],
    &["query", "query_text"],
    &["response", "response_content"],
    &["model", "model_used"],
    &["error", "execution_error"],
];

/// A field that was sent under two names with different values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{alias}` is an alias of `{field}` and has another value, expected one of the two")]
pub struct AliasConflict {
    pub alias: String,
    pub field: String,
}

/// Renames aliases to the names in `known`. Unknown names stay, to be refused by the decoder.
pub fn rename_aliases(
    fields: &mut Map<String, Value>,
    known: &[&str],
) -> Result<(), AliasConflict> {
    let aliases: Vec<(String, &str)> = fields
        .keys()
        .filter_map(|name| Some((name.clone(), resolve_alias(name, known)?)))
        .collect();
    for (alias, field) in aliases.into_iter().filter(|(alias, field)| alias.as_str() != *field) {
        let value = fields.remove(&alias).unwrap_or_default();
        match fields.get(field) {
            None | Some(Value::Null) => _ = fields.insert(field.to_owned(), value),
            Some(given) if value.is_null() || *given == value => {}
            Some(_) => return Err(AliasConflict { alias, field: field.to_owned() }),
        }
    }
    Ok(())
}

/// Resolves `name` to the known name that it equals or is an alias of.
pub fn resolve_alias<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let of_known = |wanted: &str| known.iter().copied().find(|field| *field == wanted);
    if let Some(field) = of_known(name) {
        return Some(field);
    }
    let name = snake_case(name);
    of_known(&name).or_else(|| {
        let rows = FIELD_ALIASES.iter().filter(|row| row.contains(&name.as_str()));
        rows.flat_map(|row| row.iter()).find_map(|field| of_known(field))
    })
}

fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TURN: &[&str] = &["turn_id", "conversation_id", "text", "ts", "tokens_in"];
    const EVENT: &[&str] = &["id", "type", "session_id", "message_id", "timestamp"];

    #[track_caller]
    fn check(known: &[&str], sent: &Value, expected: &Value) {
        let mut fields = sent.as_object().unwrap().clone();
        rename_aliases(&mut fields, known).unwrap();
        assert_eq!(Value::Object(fields), *expected);
    }

    #[test]
    fn aliases_get_the_name_that_the_endpoint_knows() {
        let sent = json!({"sessionId": "c", "messageId": "t", "query_text": "q", "timestamp": 1, "tokensIn": 2});
        let turn =
            json!({"conversation_id": "c", "turn_id": "t", "text": "q", "ts": 1, "tokens_in": 2});
        check(TURN, &sent, &turn);
        let sent = json!({"feedbackType": "log", "conversation_id": "c", "query_id": "t", "ts": 1});
        let event = json!({"type": "log", "session_id": "c", "message_id": "t", "timestamp": 1});
        check(EVENT, &sent, &event);
        check(TURN, &json!({"txt": 1, "type": 2}), &json!({"txt": 1, "type": 2}));
    }

    #[test]
    fn two_names_must_agree() {
        check(
            TURN,
            &json!({"session_id": "c", "conversation_id": "c"}),
            &json!({"conversation_id": "c"}),
        );
        check(
            TURN,
            &json!({"session_id": "c", "conversation_id": null}),
            &json!({"conversation_id": "c"}),
        );
        check(
            TURN,
            &json!({"session_id": null, "conversation_id": "c"}),
            &json!({"conversation_id": "c"}),
        );
        let mut fields = json!({"session_id": "c", "conversation_id": "d"});
        let refused = rename_aliases(fields.as_object_mut().unwrap(), TURN).unwrap_err();
        assert_eq!(
            (refused.alias.as_str(), refused.field.as_str()),
            ("session_id", "conversation_id")
        );
    }
}
