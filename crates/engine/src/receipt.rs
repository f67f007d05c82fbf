//! The idempotency key of a request, and the receipt of a stored event.

use model::{EventId, Mac, Position};

/// The `Idempotency-Key` of a request, with the MAC of the whole request. A key stands for one
/// request: its route and its body.
#[derive(Clone, Debug)]
pub struct RequestKey {
    /// The key as the client sent it.
    pub id: String,
    pub mac: Mac,
}

/// Returned when the event is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The id of the event; for a repeat, the id of the first one.
    pub id: EventId,
    pub position: Position,
    /// True for a repeat of a stored event; nothing changed.
    pub replayed: bool,
    /// True when the event waits for the turn or decision it names.
    pub pending: bool,
    /// The turn that a client's event names.
    pub turn: TurnState,
}

/// The turn that an event names, before the event was stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnState {
    #[default]
    Unchecked,
    /// Sent, in the conversation that the event names.
    Sent,
    /// Unknown, or known only from feedback.
    Unsent,
    /// Of another conversation than the event names. Decided when the event was stored.
    Elsewhere,
}
