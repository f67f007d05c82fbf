//! The way in from other systems, as a member of a group that shares the work.

use std::time::Duration;

use crate::error::ConnectorError;

/// A message from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    pub topic: String,
    pub partition: i32,
    pub offset: i64,
    /// What messages are kept in order by; nothing when that is no text.
    pub key: Option<String>,
    /// What it says; nothing when something is to be forgotten.
    pub value: Option<Vec<u8>>,
    /// What is known of it without reading it; those that are text.
    pub headers: Vec<(String, String)>,
}

impl ReceivedMessage {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Where messages are taken from. Its calls wait, so they are not for those who must not.
pub trait EventSource: Send {
    /// The next messages: at most so many, and none when none come for that long.
    fn take(&mut self, most: usize, wait: Duration)
    -> Result<Vec<ReceivedMessage>, ConnectorError>;

    /// Says that messages were dealt with and all before them, so that nobody gets them again.
    fn done(&mut self, messages: &[ReceivedMessage]) -> Result<(), ConnectorError>;

    /// Stays in the group without taking anything, while it takes long to deal with what was taken.
    fn stay(&mut self) -> Result<(), ConnectorError>;

    /// Leaves the group, so that others go on at once.
    fn leave(&mut self);
}
