//! Dead letters and demo data.

use engine::DeadLetter;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A write that was accepted but not stored.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeadLetterBody {
    id: String,
    reason: String,
    at: String,
    #[serde(rename = "type")]
    event_type: &'static str,
    source: &'static str,
    #[schema(value_type = Object)]
    data: Map<String, Value>,
}

impl From<DeadLetter> for DeadLetterBody {
    fn from(letter: DeadLetter) -> Self {
        let event = letter.write.entry.event;
        Self {
            id: letter.id,
            reason: letter.reason,
            at: letter.at.to_string(),
            event_type: event.kind.event_type.as_word(),
            source: event.kind.source.as_word(),
            data: event.body.to_fields(),
        }
    }
}

/// A page of dead letters; `next` continues it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeadLettersBody {
    pub(crate) items: Vec<DeadLetterBody>,
    pub(crate) next: u64,
}

/// Response to a replay.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReplayedBody {
    pub(crate) id: String,
    pub(crate) stored: bool,
}

/// Status of the demo data.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"loaded": true, "tenant": "demo"}))]
pub(crate) struct DemoBody {
    /// True when the store holds demo data.
    pub(crate) loaded: bool,
    /// Tenant of the demo data.
    pub(crate) tenant: Option<String>,
}

/// Result of removing the demo data.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"removed": true, "events": 26000}))]
pub(crate) struct DemoRemovedBody {
    /// False when there was no demo data.
    pub(crate) removed: bool,
    /// Number of removed events.
    pub(crate) events: u64,
}
