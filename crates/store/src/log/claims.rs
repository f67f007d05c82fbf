//! Claims that were used before.

#[cfg(feature = "scaled")]
use std::collections::HashMap;

#[cfg(feature = "scaled")]
use crate::row_keys::{Key, PackedId};

#[derive(Clone, Debug)]
pub(crate) struct UsedClaim {
    pub(crate) mac: Option<[u8; 16]>,
    pub(crate) position: i64,
    /// `None` when the event was dropped.
    pub(crate) event: Option<String>,
}

/// Prefetched claims. Each serves one lookup, because the write that finds a claim free uses it.
#[cfg(feature = "scaled")]
#[derive(Debug, Default)]
pub(crate) struct KnownClaims(HashMap<(Key, u8, String), Option<UsedClaim>>);

#[cfg(feature = "scaled")]
impl KnownClaims {
    /// Returns the prefetched state of a claim.
    pub(crate) fn take(
        &mut self,
        project: Key,
        space: u8,
        id: &PackedId,
    ) -> Option<Option<UsedClaim>> {
        if self.0.is_empty() { None } else { self.0.remove(&(project, space, id.text())) }
    }

    pub(crate) fn put(&mut self, claim: (Key, u8, String), used: Option<UsedClaim>) {
        self.0.insert(claim, used);
    }

    /// Clears the entries after the group or a rollback.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
