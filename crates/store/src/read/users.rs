//! Users, as far as erasing them needs.

use model::{Position, Scope, TurnId, UserId};

use crate::log::Task;

/// How much there was of a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErasedCounts {
    /// Events.
    pub events: u64,
    /// Turns that they opened.
    pub turns: u64,
    /// Reactions of theirs that stand.
    pub reactions: u64,
}

/// What there is of a user, and the end of it.
pub trait UserReads: Send + Sync {
    /// How much there is of a user, and the turns whose logs tell of them, whosever they are.
    fn whats_of(&self, scope: &Scope, user: &UserId) -> Task<'_, (ErasedCounts, Vec<TurnId>)>;

    /// The turns that are theirs, also those whose events were dropped when they were old.
    fn turns_of(&self, scope: &Scope, user: &UserId) -> Task<'_, Vec<TurnId>>;

    /// Where what is left of the events of those stands who were erased by the event at a position, in order.
    fn erased_by(&self, erasure: Position) -> Task<'_, Vec<Position>>;

    /// Makes sure that nothing of what was deleted is left in the files. `false`: not yet, because
    /// somebody reads what was; ask again.
    fn scrub(&self) -> Task<'_, bool>;

    /// The same for whoever asks again and again: hardly waits for readers, so that nobody who writes waits
    /// for those who read long.
    fn scrub_if_free(&self) -> Task<'_, bool>;
}
