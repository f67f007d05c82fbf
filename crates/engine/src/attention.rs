//! Where something happened since somebody last looked.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use model::{Scope, Write};

/// The projects in which something was stored.
#[derive(Debug, Default)]
pub(crate) struct Attention(Mutex<HashSet<Scope>>);

impl Attention {
    /// Something happened there.
    pub(crate) fn note(&self, scopes: HashSet<Scope>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(scopes);
    }

    /// All of them, from now on none.
    pub(crate) fn take(&self) -> HashSet<Scope> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The projects that writes are in.
pub(crate) fn scopes_of(writes: &[Write]) -> HashSet<Scope> {
    let mut scopes = HashSet::new();
    for write in writes {
        let scope = &write.entry.event.scope;
        if !scopes.contains(scope) {
            scopes.insert(scope.clone());
        }
    }
    scopes
}
