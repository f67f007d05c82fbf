//! What others are told of an event: on which topics, under which keys.

use connectors::OutgoingMessage;
use model::{Event, Position};
use store::StoredEvent;

use crate::cluster::publish::LineOf;
use crate::topic::Topic;

/// The headers by which a message is known without reading it.
pub(crate) const EVENT_ID: &str = "event-id";
pub(crate) const TENANT: &str = "tenant";
pub(crate) const PROJECT: &str = "project";
const POSITION: &str = "position";
const ERASED_BY: &str = "erased-by";

/// The messages that tell of an event, one for each of its topics.
pub(super) fn of(stored: StoredEvent, line: LineOf) -> Vec<OutgoingMessage> {
    let mut messages = addressed(&stored.event, stored.position);
    let position = stored.position;
    match line(stored) {
        Ok(line) => messages.iter_mut().for_each(|message| message.value = Some(line.clone())),
        Err(error) => {
            // It came out of JSON; this cannot be.
            tracing::error!(%position, %error, "an event cannot be written out");
            messages.clear();
        }
    }
    messages
}

/// The messages that say that an event is to be forgotten: without a value, and addressed as the event was
/// as far as that is still known.
pub(super) fn tombstones(stub: &StoredEvent, erasure: Position) -> Vec<OutgoingMessage> {
    let mut messages = addressed(&stub.event, stub.position);
    for message in &mut messages {
        message.headers.push((ERASED_BY, erasure.to_string()));
    }
    messages
}

fn addressed(event: &Event, position: Position) -> Vec<OutgoingMessage> {
    let headers = || {
        vec![
            (EVENT_ID, event.id.to_string()),
            (TENANT, event.scope.tenant.to_string()),
            (PROJECT, event.scope.project.to_string()),
            (POSITION, position.to_string()),
        ]
    };
    Topic::ALL
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

/// What a message is called in the log.
pub(super) fn name(message: &OutgoingMessage) -> String {
    let header = |name| message.headers.iter().find(|(known, _)| *known == name);
    let position = header(POSITION).map_or("", |(_, value)| value.as_str());
    format!("{}@{position}", message.topic)
}
