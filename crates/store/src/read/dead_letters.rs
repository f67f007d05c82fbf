//! Writes that were accepted and could not be stored.

use model::{Timestamp, Write};

/// One of them. Its id is that of its first event.
#[derive(Clone, Debug, PartialEq)]
pub struct DeadLetter {
    /// Its place in the list.
    pub number: u64,
    /// The id of its first event.
    pub id: String,
    /// Why it could not be stored.
    pub reason: String,
    /// When that was, by the event's own arrival.
    pub at: Timestamp,
    /// The whole of it; the changes that follow from its events are not in it.
    pub write: Write,
}
