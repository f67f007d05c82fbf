//! Copies of turn logs that are kept beside the log: where they are, and how far they have come.

use model::{Position, Scope, TurnId};

use super::leases::Lease;
use crate::log::Task;

/// A copy of one turn's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnLogCopy {
    /// Whose.
    pub scope: Scope,
    /// Which turn's.
    pub turn: TurnId,
    /// Where it is.
    pub hosted_uri: String,
    /// The document, when it is kept in the store itself.
    pub document: Option<String>,
}

/// A turn whose copy must be made again or taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueCopy {
    /// Whose.
    pub scope: Scope,
    /// Which turn's.
    pub turn: TurnId,
    /// Where the last of those who were part of the turn was erased. When it is another place, it is due once more.
    pub erased: Position,
}

/// What the mirror keeps. Copies can be made again from the log at any time, so they are not part
/// of it.
pub trait TurnLogCopies: Send + Sync {
    /// How far the mirror to this place has come.
    fn mirrored_to(&self, place: &str) -> Task<'_, Position>;

    /// Notes new copies and how far the mirror to this place has come with them.
    /// If somebody else has the lease meanwhile, the copies are due again instead.
    fn note_copies(
        &self,
        place: &str,
        copies: Vec<TurnLogCopy>,
        upto: Position,
        lease: Option<Lease>,
    ) -> Task<'_, ()>;

    /// Forgets all copies, and how far they came: nobody keeps them up to date any more.
    fn forget_copies(&self) -> Task<'_, ()>;

    /// Turns of erased users whose copies must be made again or taken away, of one scope or of all.
    fn copies_due(&self, scope: Option<Scope>, limit: usize) -> Task<'_, Vec<DueCopy>>;

    /// Notes that these copies are due no longer, together with those that were made again. If
    /// somebody else has the lease meanwhile, they stay due; so does one of whose turn somebody else was
    /// erased meanwhile, since what was made of it may be of before.
    fn settle_copies(
        &self,
        settled: Vec<DueCopy>,
        again: Vec<TurnLogCopy>,
        lease: Option<Lease>,
    ) -> Task<'_, ()>;

    /// The copy of a turn's log, if there is one.
    fn copy_of(&self, scope: &Scope, turn: &TurnId) -> Task<'_, Option<TurnLogCopy>>;
}
