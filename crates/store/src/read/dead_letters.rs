//! Writes that were accepted and could not be stored.

use model::{Scope, Timestamp, Write};

use crate::log::Task;

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

/// The list.
pub trait DeadLetters: Send + Sync {
    /// Those of a scope behind a number, oldest first.
    fn dead_letters(&self, scope: &Scope, after: u64, limit: usize) -> Task<'_, Vec<DeadLetter>>;

    /// One of them.
    fn dead_letter(&self, scope: &Scope, id: &str) -> Task<'_, Option<DeadLetter>>;

    /// Puts something on the list that cannot be stored as it is, in the place of an earlier one with its
    /// id.
    fn set_aside(&self, write: Write, reason: String) -> Task<'_, ()>;

    /// Takes one off the list, because it was stored after all.
    fn drop_dead_letter(&self, scope: &Scope, id: &str) -> Task<'_, ()>;
}
