//! Receives messages from other systems, as a member of a consumer group.

use std::time::Duration;

use crate::error::ConnectorError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    pub topic: String,
    pub partition: i32,
    pub offset: i64,
    /// The partitioning key; `None` when it is not UTF-8.
    pub key: Option<String>,
    /// `None` is a tombstone.
    pub value: Option<Vec<u8>>,
    /// Headers that are UTF-8.
    pub headers: Vec<(String, String)>,
}

impl ReceivedMessage {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A source of messages. Its calls block. Kafka is the only implementation; the trait lets `uptake
/// consume` compile without the feature `scaled`.
pub trait EventSource: Send {
    /// Returns up to `most` messages, or none after waiting for `wait`.
    fn take(&mut self, most: usize, wait: Duration)
    -> Result<Vec<ReceivedMessage>, ConnectorError>;

    /// Commits the offsets of processed messages, so that they are not delivered again.
    fn done(&mut self, messages: &[ReceivedMessage]) -> Result<(), ConnectorError>;

    /// Keeps the membership alive during long processing, without receiving messages.
    fn stay(&mut self) -> Result<(), ConnectorError>;

    /// Leaves the group, so that its other members take over at once.
    fn leave(&mut self);
}
