//! Where something happened since somebody last looked.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use model::Scope;

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
