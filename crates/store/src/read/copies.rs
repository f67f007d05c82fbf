//! Copies of turn logs that are kept beside the log: where they are, and how far they have come.

use model::{Position, Scope, TurnId};

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
