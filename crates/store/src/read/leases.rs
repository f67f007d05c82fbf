//! Leases: which of several nodes does what only one may do, and how far it has come.

use model::Position;

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
