//! Reading turns as a conversation: what was asked, what was answered, how that was taken.

use model::{
    Completion, Contrast, ConversationId, Opening, Position, Scope, Timestamp, TurnId,
    UnitInterval, UserId, ValidationOutcome, VerdictStatus,
};

/// How an answer was taken, as far as is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Rejected, accepted or neutral, by whoever's word counts.
    pub status: VerdictStatus,
    /// How sure.
    pub confidence: UnitInterval,
    /// The turn whose message rejected it.
    pub rejection_detected_in: Option<TurnId>,
    /// What the application's validator said.
    pub validation_outcome: Option<ValidationOutcome>,
    /// The validator's score.
    pub quality: Option<UnitInterval>,
    /// The conversation went silent after it.
    pub silent: bool,
    /// The finding that counts among what messages say of it.
    pub verdict: Option<Position>,
    /// What the user said with it: with their reaction, else in the message that was read.
    pub user_said: Option<String>,
    /// What a person said, and where that is.
    pub review: Option<(VerdictStatus, Position)>,
}

/// A turn with its two halves.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredExchange {
    /// Which turn.
    pub turn: TurnId,
    /// Its conversation.
    pub conversation: Option<ConversationId>,
    /// Its user, when known.
    pub user: Option<UserId>,
    /// When it was asked.
    pub ts: Timestamp,
    /// What was asked; empty when that was dropped or erased.
    pub opening: Opening,
    /// When it was answered.
    pub answered_at: Option<Timestamp>,
    /// The answer; absent when there is none yet, or it was dropped.
    pub completion: Option<Completion>,
    /// Where it was opened.
    pub opened: Position,
    /// How it was taken.
    pub standing: Standing,
}

/// Which turns are wanted.
#[derive(Clone, Debug)]
pub struct ExchangeQuery {
    /// Whose.
    pub scope: Scope,
    /// Of this conversation,
    pub conversation: Option<ConversationId>,
    /// and of this user.
    pub user: Option<UserId>,
    /// Asked no later than this.
    pub until: Timestamp,
    /// Opened, and answered where that is wanted, before the event at this position.
    pub before: Option<Position>,
    /// Behind this one, when they are read page by page: its time and where it was opened.
    pub older_than: Option<(Timestamp, Position)>,
    /// Whether those that have no answer yet are left out.
    pub only_answered: bool,
    /// At most so many.
    pub limit: usize,
}

/// How somebody was answered and how they took it, in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Habit {
    /// The name of the strategy, if it was told.
    pub strategy: Option<String>,
    /// How it was taken.
    pub status: VerdictStatus,
    /// What they wanted instead, if they said so.
    pub contrast: Option<Contrast>,
}
