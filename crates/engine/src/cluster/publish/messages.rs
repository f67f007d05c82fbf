//! Broker messages of an event: topics, keys and headers.

use connectors::OutgoingMessage;
use model::{Event, Position};
use store::StoredEvent;

use crate::cluster::publish::EventFormatter;
use crate::topic::Topic;

/// Header names, for consumers that do not parse the value.
pub(crate) const EVENT_ID_HEADER: &str = "event-id";
pub(crate) const TENANT_HEADER: &str = "tenant";
pub(crate) const PROJECT_HEADER: &str = "project";
const POSITION_HEADER: &str = "position";
const ERASED_BY_HEADER: &str = "erased-by";

/// One message for each topic of the event.
pub(super) fn event_messages(stored: StoredEvent, line: EventFormatter) -> Vec<OutgoingMessage> {
    let mut messages = build_messages(&stored.event, stored.position);
    let position = stored.position;
    match line(stored) {
        Ok(line) => messages.iter_mut().for_each(|message| message.value = Some(line.clone())),
        Err(error) => {
            // Unreachable in practice: the event was parsed from JSON.
            tracing::error!(%position, %error, "event could not be serialised for publishing");
            messages.clear();
        }
    }
    messages
}

/// Tombstones of an erased event: the keys that the stub still has, and no value.
pub(super) fn tombstone_messages(stub: &StoredEvent, erasure: Position) -> Vec<OutgoingMessage> {
    let mut messages = build_messages(&stub.event, stub.position);
    for message in &mut messages {
        message.headers.push((ERASED_BY_HEADER, erasure.to_string()));
    }
    messages
}

fn build_messages(event: &Event, position: Position) -> Vec<OutgoingMessage> {
    let headers = || {
        vec![
            (EVENT_ID_HEADER, event.id.to_string()),
            (TENANT_HEADER, event.scope.tenant.to_string()),
            (PROJECT_HEADER, event.scope.project.to_string()),
            (POSITION_HEADER, position.to_string()),
        ]
    };
    Topic::ALL_TOPICS
        .iter()
        .filter(|(_, topic)| topic.contains(event))
        .map(|(name, topic)| OutgoingMessage {
            topic: name,
            key: topic.partition_key(event),
            value: None,
            headers: headers(),
        })
        .collect()
}

/// The message's label in logs: `topic@position`.
pub(super) fn message_label(message: &OutgoingMessage) -> String {
    let header = |name| message.headers.iter().find(|(known, _)| *known == name);
    let position = header(POSITION_HEADER).map_or("", |(_, value)| value.as_str());
    format!("{}@{position}", message.topic)
}
