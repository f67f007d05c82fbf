//! Where something happened since somebody last looked.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use model::Scope;

/// The projects in which something was stored.
#[derive(Debug, Default)]
pub(crate) struct DirtyScopes(Mutex<HashSet<Scope>>);

impl DirtyScopes {
    /// Something happened there.
    pub(crate) fn mark_dirty(&self, scopes: HashSet<Scope>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(scopes);
    }

    /// All of them, from now on none.
    pub(crate) fn take_all(&self) -> HashSet<Scope> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
