//! What routers have learnt, as it is kept between two runs.

use model::{Position, Scope, Timestamp, TurnId};

/// A router's definition and state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRouter {
    /// Its name.
    pub name: String,
    /// As it was written.
    pub definition: String,
    /// What it has learnt.
    pub state: Vec<u8>,
}

/// A project's routers as they were at a position of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterCheckpoint {
    /// Which position.
    pub position: Position,
    /// All of them.
    pub routers: Vec<StoredRouter>,
}

/// Which of the states that were kept one after the other the latest is. Several nodes may keep theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptAt {
    /// Grows each time; 0 when nothing was ever kept.
    pub version: u64,
    /// How often something was taken out of it, which does not follow from the log.
    pub forgets: u64,
    /// The position of the log up to which it was learnt; none when nothing is kept.
    pub position: Option<Position>,
}

/// What became of keeping a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// It is the latest now.
    Kept(KeptAt),
    /// Nothing was kept: another one was kept after the one it goes on from.
    Moved(KeptAt),
}

/// A state to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextState {
    /// The version that it goes on from.
    pub from: u64,
    /// Whether something was taken out of it.
    pub forgets: bool,
    /// The routers.
    pub checkpoint: RouterCheckpoint,
    /// The turns that changed.
    pub turns: Vec<RouterTurn>,
}

/// A turn's record and its features as they were last kept.
pub type KeptTurn = (String, Vec<u8>);

/// What is known of a turn that a router may learn from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterTurn {
    /// Which turn.
    pub turn: TurnId,
    /// Which router chose who answers it, if one did.
    pub router: Option<String>,
    /// When that was.
    pub ts: Timestamp,
    /// The rest, in the words of those who learn.
    pub record: String,
    /// The features of the request: by themselves, since they go when its user is erased.
    pub features: Vec<u8>,
}

/// A project that has routers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterScope {
    /// Which.
    pub scope: Scope,
    /// Where the first of them was set: nothing before that matters to them.
    pub since: Position,
    /// Their names and definitions as they are now.
    pub definitions: Vec<(String, String)>,
}
