//! Claims that somebody used before.

#[cfg(feature = "scaled")]
use std::collections::HashMap;

#[cfg(feature = "scaled")]
use crate::row_keys::{Key, PackedId};

/// How a claim was used.
#[derive(Clone, Debug)]
pub(crate) struct UsedClaim {
    pub(crate) mac: Option<[u8; 16]>,
    pub(crate) position: i64,
    /// The id of the event, unless it was dropped.
    pub(crate) event: Option<String>,
}

/// Claims that were asked for ahead: each is known once, since whoever hears that it is free uses it.
#[cfg(feature = "scaled")]
#[derive(Debug, Default)]
pub(crate) struct KnownClaims(HashMap<(Key, u8, String), Option<UsedClaim>>);

#[cfg(feature = "scaled")]
impl KnownClaims {
    /// Whether a claim is used, if that is known.
    pub(crate) fn take(
        &mut self,
        project: Key,
        space: u8,
        id: &PackedId,
    ) -> Option<Option<UsedClaim>> {
        if self.0.is_empty() { None } else { self.0.remove(&(project, space, id.text())) }
    }

    /// A claim is used, or it is not.
    pub(crate) fn put(&mut self, claim: (Key, u8, String), used: Option<UsedClaim>) {
        self.0.insert(claim, used);
    }

    /// Forgets them: the group is over, or was taken back.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
