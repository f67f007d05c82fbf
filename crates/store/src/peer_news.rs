//! Signals from other nodes of a shared database.

/// Changes by other nodes of a shared database that have no log entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerNews {
    /// Grows with every change of an API key and every page session that is ended.
    pub access_version: u64,
    /// True when a failover lost commits. State derived from the log is then invalid.
    pub went_back: bool,
}
