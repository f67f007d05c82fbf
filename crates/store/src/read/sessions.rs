//! Reading which conversations are going on.

use model::{ConversationId, Scope, Timestamp, TurnId};

/// A stretch of a conversation that has not ended yet.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenSession {
    /// Whose.
    pub scope: Scope,
    /// Which conversation.
    pub conversation: ConversationId,
    /// When it began.
    pub started_at: Timestamp,
    /// When something last happened in it.
    pub last_at: Timestamp,
    /// Its last turn.
    pub last_turn: TurnId,
    /// How many turns it has.
    pub turns: u64,
    /// Whether the user did anything with the last answer.
    pub used: bool,
    /// Whether the last turn has its answer.
    pub answered: bool,
}
