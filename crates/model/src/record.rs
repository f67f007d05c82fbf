//! An event as stored in the log.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::id::{ConversationId, EventId, Scope, TurnId, UserId};
use crate::time::Timestamp;
use crate::word::{Category, Kind, Severity};

/// An event: validated, redacted, ready to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Unique in its scope.
    pub id: EventId,
    pub scope: Scope,
    pub kind: Kind,
    pub severity: Severity,
    pub category: Category,
    pub user: Option<UserId>,
    pub conversation: Option<ConversationId>,
    /// The turn, when known. The event may arrive before it.
    pub turn: Option<TurnId>,
    /// Time of the event according to the client.
    pub ts: Timestamp,
    /// Time of arrival by our clock.
    pub received_at: Timestamp,
    pub tags: Vec<String>,
    /// Fields in the shape that `Body` reads by kind; unknown keys are kept.
    pub data: Map<String, Value>,
}

impl Event {
    /// Converts one of our own records to an event's data.
    ///
    /// # Panics
    /// If the record is not a struct with named fields, which no input can cause.
    #[expect(clippy::panic, reason = "a record of ours has named fields, whatever they hold")]
    pub fn data_of(record: &impl Serialize) -> Map<String, Value> {
        match serde_json::to_value(record) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) | Err(_) => panic!("a record that is not written as a JSON object"),
        }
    }
}
