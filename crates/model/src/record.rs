//! An event as the log keeps it.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::id::{ConversationId, EventId, Scope, TurnId, UserId};
use crate::time::Timestamp;
use crate::word::{Category, Kind, Severity};

/// One thing that happened: checked, redacted, ready to be kept for ever.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Unique in its scope.
    pub id: EventId,
    /// Whose it is.
    pub scope: Scope,
    /// Type and source.
    pub kind: Kind,
    /// How bad it is.
    pub severity: Severity,
    /// What it is about.
    pub category: Category,
    /// The end user, when known.
    pub user: Option<UserId>,
    /// The conversation, when known.
    pub conversation: Option<ConversationId>,
    /// The turn, when known; it may arrive later than the event.
    pub turn: Option<TurnId>,
    /// When it happened, by the client's word.
    pub ts: Timestamp,
    /// When we took it in, by our clock.
    pub received_at: Timestamp,
    /// Free labels.
    pub tags: Vec<String>,
    /// The particulars, in the shape that `Body` reads by kind; unknown keys are kept.
    pub data: Map<String, Value>,
}

impl Event {
    /// One of our own records as an event's data.
    ///
    /// # Panics
    /// When the record is not a struct with named fields, which no input can bring about.
    #[expect(clippy::panic, reason = "a record of ours has named fields, whatever they hold")]
    pub fn data_of(record: &impl Serialize) -> Map<String, Value> {
        match serde_json::to_value(record) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) | Err(_) => panic!("a record that is not written as a JSON object"),
        }
    }
}
