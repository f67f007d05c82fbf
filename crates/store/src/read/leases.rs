//! Leases: which of several nodes does what only one may do, and how far it has come.

use std::time::Duration;

use model::{Position, Timestamp};

use crate::log::Task;

/// A lease that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// What is leased.
    pub name: String,
    /// Who has it.
    pub holder: String,
    /// Which holder this is, counted from the first; a later one has a higher number.
    pub epoch: u64,
    /// How far the work has come.
    pub position: Position,
}

/// Who may do what, for a while.
pub trait Leases: Send + Sync {
    /// Takes a lease that is free or over, or renews one's own. `None`: somebody else has it. Where the
    /// store has a clock that all nodes share, that one counts and not `now`.
    fn hold(
        &self,
        name: &str,
        holder: &str,
        now: Timestamp,
        lasts: Duration,
    ) -> Task<'_, Option<Lease>>;

    /// Notes how far the work has come. `false`: somebody else has the lease meanwhile, or was further
    /// already, and nothing was noted.
    fn advance(&self, lease: &Lease, to: Position) -> Task<'_, bool>;

    /// Gives a lease back before its time, if it still is one's own.
    fn release(&self, lease: &Lease) -> Task<'_, ()>;

    /// How far the work has come, whoever does it.
    fn reached(&self, name: &str) -> Task<'_, Position>;
}
