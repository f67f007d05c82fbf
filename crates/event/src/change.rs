//! What one commit may do, and what became of it.

use std::fmt;

use crate::id::EventId;
use crate::record::Event;

/// Where an event stands in the log: 1, 2, 3 and so on without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A keyed hash of what the client sent. Equal bodies have equal MACs; without the store's key
/// nobody can guess a body from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mac(pub [u8; 16]);

/// The namespaces in which an id can be used once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimSpace {
    /// The id of an event.
    Event,
    /// The `Idempotency-Key` of a request.
    RequestKey,
}

impl ClaimSpace {
    /// The number in the store; never changes.
    pub const fn code(self) -> u8 {
        match self {
            Self::Event => 1,
            Self::RequestKey => 2,
        }
    }
}

/// An id that a write uses up for ever: the same id and body again is a repeat, the same id with
/// another body is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The namespace.
    pub space: ClaimSpace,
    /// The id in that namespace.
    pub id: String,
    /// What the client sent under it.
    pub mac: Mac,
}

/// One unit of change: it happens as a whole or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// Must all be unused, or all be used by the same write before.
    pub claims: Vec<Claim>,
    /// What happened.
    pub event: Event,
}

/// What became of one write, decided inside the transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is in the log and on disk.
    Stored(Position),
    /// It was stored before under this id; nothing changed.
    Replayed {
        /// Where the first one stands.
        position: Position,
        /// The first one's event id.
        id: EventId,
    },
    /// One of its ids was used for something else; nothing changed.
    Conflict(ClaimSpace),
    /// It could not be stored, although others of its group could; nothing changed.
    Failed,
}
