//! Reading turns.

use model::{ConversationId, Timestamp, TurnId, UserId};

use crate::read::events::StoredEvent;

/// What is known of a turn that was opened. None of it changes afterwards but `completed`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnHead {
    /// Which turn.
    pub turn: TurnId,
    /// Its conversation.
    pub conversation: Option<ConversationId>,
    /// Its user, when known.
    pub user: Option<UserId>,
    /// When it was asked.
    pub ts: Timestamp,
    /// When we took the question in; `ts` when that was dropped.
    pub received_at: Timestamp,
    /// Whether its user was erased.
    pub erased: bool,
    /// Whether its answer is there.
    pub completed: bool,
}

/// A turn with everything that happened to it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTurn {
    /// What is known of it.
    pub head: TurnHead,
    /// Where its mirrored log is.
    pub hosted_uri: Option<String>,
    /// Every event that names it, in order; if there are very many, its two halves and the newest
    /// 1000.
    pub events: Vec<StoredEvent>,
}
