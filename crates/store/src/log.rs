//! The log: one writer thread appends events in groups, one transaction per group.

mod append;
mod claims;
pub(crate) mod dead_letters;
mod fallback_turn;
mod group_commit;
pub(crate) mod own_positions;
pub(crate) mod packed_write;
mod preconditions;
#[cfg(feature = "scaled")]
mod prefetch;
mod queue;
mod verify_commit;
pub(crate) mod writer;
mod writer_state;
mod writer_thread;

use crate::similarity::SimilarityLimits;

/// Limits of the store's memory and connections.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of queued writes. Beyond this limit `commit` returns `StoreError::Busy`.
    pub queue_bytes: usize,
    pub group_writes: usize,
    pub readers: usize,
    pub similar: SimilarityLimits,
}

impl Default for Limits {
    fn default() -> Self {
        let similar = SimilarityLimits::default();
        Self { queue_bytes: 64 << 20, group_writes: 1024, readers: 4, similar }
    }
}
