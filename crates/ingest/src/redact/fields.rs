//! Redacts every text of an event: data, field names and tags.

use std::borrow::Cow;
use std::collections::HashMap;

use model::{Body, EntityId, Event, EventId, Redacted, Source};
use serde_json::{Map, Value};

use super::Redactor;

/// Values of these fields are ids. Changing one would break references.
const IDS: [&str; 4] = ["message_id", "decision_id", "entity_id", "query_id"];
/// Ids in the spans of a trace, which come through a decoder of their own.
const SPAN_IDS: [&str; 3] = ["span_id", "parent_id", "entity_id"];
/// True when the value of a field is an id.
type IsId = fn(&str, &str) -> bool;

/// Values of these fields are secrets. Names are compared by letters and digits only.
const SECRET_NAMES: [&str; 12] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "clientsecret",
    "secretkey",
    "apikey",
    "accesstoken",
    "refreshtoken",
    "privatekey",
    "authorization",
];

impl Redactor {
    /// Redacts an event's body, including the field names of clients, and its tags.
    pub fn redact_event(&self, mut event: Event) -> Redacted<Event> {
        for tag in &mut event.tags {
            self.redact_text(tag);
        }
        let is_id: IsId = if let Body::Spans(_) = event.body {
            |name, text| SPAN_IDS.contains(&name) && EntityId::new(text).is_ok()
        } else {
            is_id_of(event.kind.source)
        };
        let mut fields = event.body.to_fields();
        if self.redact_fields(&mut fields, is_id) {
            event.body = Body::from_stored(event.kind, fields);
        }
        Redacted::assert_redacted(event)
    }

    /// Returns true when it changed a name or a value.
    fn redact_fields(&self, fields: &mut Map<String, Value>, is_id: IsId) -> bool {
        let renamed: Vec<(String, String)> = fields
            .keys()
            .filter_map(|name| match self.redact(name) {
                Cow::Borrowed(_) => None,
                Cow::Owned(redacted) => Some((name.clone(), redacted)),
            })
            .collect();
        let mut changed = !renamed.is_empty();
        // Redaction can make names equal; all their values are kept.
        let mut last: HashMap<String, usize> = HashMap::new();
        for (name, redacted) in renamed {
            let Some(value) = fields.remove(&name) else { continue };
            let mut free = redacted.clone();
            while fields.contains_key(&free) {
                let number = last.entry(redacted.clone()).or_insert(1);
                *number += 1;
                free = format!("{redacted} {number}");
            }
            fields.insert(free, value);
        }
        for (name, value) in fields {
            let is_id_here = value.as_str().is_some_and(|text| is_id(name, text));
            if self.secret && is_secret_name(name) && value.is_string() {
                *value = Value::String("[secret]".to_owned());
                changed = true;
            } else if !is_id_here {
                changed |= self.redact_value(value, is_id);
            }
        }
        changed
    }

    fn redact_value(&self, value: &mut Value, is_id: IsId) -> bool {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
            Value::String(text) => self.redact_text(text),
            Value::Array(items) => {
                let mut changed = false;
                for item in items {
                    changed |= self.redact_value(item, is_id);
                }
                changed
            }
            Value::Object(fields) => self.redact_fields(fields, is_id),
        }
    }

    fn redact_text(&self, text: &mut String) -> bool {
        let Cow::Owned(redacted) = self.redact(text) else { return false };
        *text = redacted;
        true
    }
}

/// The fields of an event from this source that hold ids.
fn is_id_of(source: Source) -> IsId {
    match source {
        // In our own records, ids are already validated and may have any form. A webhook URL
        // is not a text.
        Source::Engine => {
            |name, text| (IDS.contains(&name) || name == "url") && EntityId::new(text).is_ok()
        }
        Source::Turn => |name, text| IDS.contains(&name) && EntityId::new(text).is_ok(),
        // In client data, only values that look like ids are treated as such.
        Source::ApplicationLog
        | Source::SystemMetric
        | Source::Trace
        | Source::UserRating
        | Source::UserComment
        | Source::UserCorrection
        | Source::QueryResult
        | Source::ModelResponse
        | Source::PipelineOutput
        | Source::ApiResponse
        | Source::DatabaseQuery
        | Source::ExternalService
        | Source::UserInteraction
        | Source::SessionAnalysis
        | Source::Reaction => |name, text| IDS.contains(&name) && EventId::new(text).is_ok(),
    }
}

fn is_secret_name(name: &str) -> bool {
    let plain = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase());
    let plain: String = plain.collect();
    SECRET_NAMES.contains(&plain.as_str())
}
