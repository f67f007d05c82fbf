//! Projects with commits since a job last processed them.

use std::collections::HashSet;

use model::Scope;
use parking_lot::Mutex;

/// A set of projects that a periodic job must look at.
#[derive(Debug, Default)]
pub(crate) struct DirtyScopes(Mutex<HashSet<Scope>>);

impl DirtyScopes {
    pub(crate) fn mark_dirty(&self, scopes: HashSet<Scope>) {
        self.0.lock().extend(scopes);
    }

    /// Returns all marked projects and clears the set.
    pub(crate) fn take_all(&self) -> HashSet<Scope> {
        std::mem::take(&mut *self.0.lock())
    }
}
