//! Other spellings of field names. One table for every way into the store.

use serde_json::{Map, Value};

/// Names of the same field. An endpoint has at most one name of each row and accepts the others.
/// `camelCase` spellings of all names are accepted as well.
pub const FIELD_ALIASES: &[FieldAliases] = &[
    everywhere(&["conversation_id", "session_id", "thread_id"]),
    everywhere(&["turn_id", "message_id", "query_id"]),
    // Elsewhere, a response may have an id beside that of its turn.
    FieldAliases {
        names: &["turn_id", "response_id"],
        requests: AliasedRequests::With("met_expectations"),
    },
    everywhere(&["ts", "timestamp"]),
    everywhere(&["started_at", "request_start_time"]),
    everywhere(&["completed_at", "response_complete_time"]),
    everywhere(&["id", "event_id", "feedback_id"]),
    everywhere(&["type", "feedback_type", "event_type"]),
    everywhere(&["source", "feedback_source"]),
    everywhere(&["category", "feedback_category"]),
    // The `text` of a reaction is a comment.
    FieldAliases {
        names: &["text", "query", "query_text"],
        requests: AliasedRequests::Without("reaction"),
    },
    FieldAliases { names: &["comment", "text"], requests: AliasedRequests::With("comment") },
    everywhere(&["response", "response_text", "response_content"]),
    everywhere(&["model", "model_id", "model_used"]),
    // The `status` of a review is a verdict.
    FieldAliases {
        names: &["status", "execution_status"],
        requests: AliasedRequests::With("response"),
    },
    everywhere(&["error", "execution_error"]),
    everywhere(&["accepted", "latency_accepted"]),
];

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct FieldAliases {
    pub names: &'static [&'static str],
    pub requests: AliasedRequests,
}

/// The requests in which the names of a row mean the same, by another field of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AliasedRequests {
    All,
    With(&'static str),
    Without(&'static str),
}

const fn everywhere(names: &'static [&'static str]) -> FieldAliases {
    FieldAliases { names, requests: AliasedRequests::All }
}

impl FieldAliases {
    fn applies_to(&self, known: &[&str]) -> bool {
        match self.requests {
            AliasedRequests::All => true,
            AliasedRequests::With(field) => known.contains(&field),
            AliasedRequests::Without(field) => !known.contains(&field),
        }
    }
}

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
        let of_name = |row: &&FieldAliases| row.names.contains(&name.as_str());
        let rows = FIELD_ALIASES.iter().filter(of_name).filter(|row| row.applies_to(known));
        rows.flat_map(|row| row.names).find_map(|field| of_known(field))
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
    fn aliases_depend_on_the_request() {
        let rows: [(&[&str], &str, Option<&str>); 8] = [
            (TURN, "query", Some("text")),
            (&["reaction", "text"], "query", None),
            (&["reaction", "comment"], "text", Some("comment")),
            (TURN, "comment", None),
            (&["query", "k"], "text", Some("query")),
            (&["response", "status"], "execution_status", Some("status")),
            (&["status", "assignment"], "execution_status", None),
            (&["turn_id", "met_expectations"], "response_id", Some("turn_id")),
        ];
        for (known, name, expected) in rows {
            assert_eq!(resolve_alias(name, known), expected, "{name} of {known:?}");
        }
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
