//! Publishes messages to other systems.

use crate::error::ConnectorFuture;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingMessage {
    pub topic: &'static str,
    /// Messages with the same key keep their order within a topic.
    pub key: String,
    /// `None` is a tombstone.
    pub value: Option<String>,
    pub headers: Vec<(&'static str, String)>,
}

/// A message that the sink will never accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedMessage {
    /// Its index in the published batch.
    pub index: usize,
    pub reason: String,
}

pub trait EventSink: Send + Sync {
    /// Identifies the sink. Under another name publishing starts from the beginning of the log.
    fn name(&self) -> String;

    /// Publishes messages in order and returns when each is acknowledged or rejected. Waits while
    /// the other side is unavailable. Dropping the future withdraws unsent messages. One call at a
    /// time.
    fn publish(&self, messages: Vec<OutgoingMessage>) -> ConnectorFuture<'_, Vec<RejectedMessage>>;
}
