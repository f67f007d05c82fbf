//! Redis keys of query histories.

use std::fmt::Write;

use model::Scope;

use crate::query_history::HistoryKey;

pub(super) const PREFIX: &str = "uptake:history:";

/// `<prefix><tenant>:<project>:<user>`, or `<prefix><tenant>:<project>::<conversation>`. A user id
/// is never empty.
pub(super) fn history_key(prefix: &str, author: &HistoryKey) -> String {
    let (Scope { tenant, project }, mark, id) = match author {
        HistoryKey::User(scope, user) => (scope, "", user.as_str()),
        HistoryKey::Conversation(scope, conversation) => (scope, ":", conversation.as_str()),
    };
    let (tenant, project) = (escaped(tenant.as_str()), escaped(project.as_str()));
    format!("{prefix}{tenant}:{project}:{mark}{}", escaped(id))
}

/// Escapes special characters and `%` as `%` and two hex digits, so that ids cannot collide.
fn escaped(id: &str) -> String {
    let mut name = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'@' => {
                name.push(byte as char);
            }
            other => {
                // Writing to a string cannot fail.
                let _ = write!(name, "%{other:02X}");
            }
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use model::ConversationId;

    use crate::query_history::contract::{scope, user};

    use super::*;

    #[test]
    fn redis_keys_do_not_collide() {
        let rows = [
            (user("acme", "ann"), "uptake:history:acme:p:ann"),
            (user("acme", "a:b{c}*"), "uptake:history:acme:p:a%3Ab%7Bc%7D%2A"),
            (user("acme", "a%3Ab"), "uptake:history:acme:p:a%253Ab"),
            (
                HistoryKey::Conversation(scope("acme"), ConversationId::new("ann").unwrap()),
                "uptake:history:acme:p::ann",
            ),
            (user("acme", ":ann"), "uptake:history:acme:p:%3Aann"),
        ];
        for (author, expected) in rows {
            assert_eq!(history_key(PREFIX, &author), expected);
        }
    }
}
