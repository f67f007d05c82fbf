//! Claims that somebody used before.

#[cfg(feature = "scaled")]
use std::collections::HashMap;

#[cfg(feature = "scaled")]
use super::keys::{Key, PackedId};

/// How a claim was used.
#[derive(Clone, Debug)]
pub(super) struct UsedClaim {
    pub(super) mac: Option<[u8; 16]>,
    pub(super) position: i64,
    /// The id of the event, unless it was dropped.
    pub(super) event: Option<String>,
}

/// Claims that were asked for ahead: each is known once, since whoever hears that it is free uses it.
#[cfg(feature = "scaled")]
#[derive(Debug, Default)]
pub(super) struct KnownClaims(HashMap<(Key, u8, String), Option<UsedClaim>>);

#[cfg(feature = "scaled")]
impl KnownClaims {
    /// Whether a claim is used, if that is known.
    pub(super) fn take(
        &mut self,
        project: Key,
        space: u8,
        id: &PackedId,
    ) -> Option<Option<UsedClaim>> {
        if self.0.is_empty() { None } else { self.0.remove(&(project, space, id.text())) }
    }

    /// A claim is used, or it is not.
    pub(super) fn put(&mut self, claim: (Key, u8, String), used: Option<UsedClaim>) {
        self.0.insert(claim, used);
    }

    /// Forgets them: the group is over, or was taken back.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
