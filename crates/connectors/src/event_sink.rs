//! The way out to other systems.

use crate::error::ConnectorFuture;

/// A message for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingMessage {
    pub topic: &'static str,
    /// Messages of one key on one topic stay in order.
    pub key: String,
    /// What it says; nothing when what was said is to be forgotten.
    pub value: Option<String>,
    /// What is known of it without reading it.
    pub headers: Vec<(&'static str, String)>,
}

/// A message that will never be taken, whenever it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedMessage {
    /// Its place among those that were sent together.
    pub index: usize,
    pub reason: String,
}

/// Where messages are handed over.
pub trait EventSink: Send + Sync {
    /// What it is called: another place gets everything from the beginning.
    fn name(&self) -> String;

    /// Hands messages over in order, and returns when each of them is safe or refused. It waits as long
    /// as the other side is away; whoever drops it takes back what was not sent yet. One at a time.
    fn publish(&self, messages: Vec<OutgoingMessage>) -> ConnectorFuture<'_, Vec<RejectedMessage>>;
}
