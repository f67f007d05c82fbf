//! Where something happened since somebody last looked.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use event::Scope;

/// Projects in which something happened since they were looked at.
#[derive(Debug, Default)]
pub(crate) struct Watched(Mutex<HashSet<Scope>>);

impl Watched {
    /// Something happened.
    pub(crate) fn note(&self, scope: &Scope) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !noted.contains(scope) {
            noted.insert(scope.clone());
        }
    }

    /// All of them; they count as looked at.
    pub(crate) fn take(&self) -> HashSet<Scope> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
