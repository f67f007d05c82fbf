//! What routers have learnt, as it is kept between two runs.

use event::{Position, Scope, Timestamp, TurnId};

use crate::log::Task;

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

/// Where those who learn keep their state. It follows from the log; nothing is lost with it.
pub trait RoutingStore: Send + Sync {
    /// The projects that have routers.
    fn router_scopes(&self) -> Task<'_, Vec<RouterScope>>;

    /// A project's routers as they were last kept.
    fn router_checkpoint(&self, scope: &Scope) -> Task<'_, Option<RouterCheckpoint>>;

    /// A turn as it was last kept: its record and its features.
    fn router_turn(&self, scope: &Scope, turn: &TurnId) -> Task<'_, Option<(String, Vec<u8>)>>;

    /// Keeps routers and turns together: all of it or nothing.
    fn save_routers(
        &self,
        scope: &Scope,
        checkpoint: RouterCheckpoint,
        turns: Vec<RouterTurn>,
    ) -> Task<'_, ()>;

    /// Forgets what was kept of a project.
    fn forget_routers(&self, scope: &Scope) -> Task<'_, ()>;

    /// The turns a router served, the newest first: those not older than a moment, at most so many,
    /// behind those that were passed.
    fn router_turns(
        &self,
        scope: &Scope,
        router: &str,
        since: Timestamp,
        passed: usize,
        limit: usize,
    ) -> Task<'_, Vec<RouterTurn>>;
}
