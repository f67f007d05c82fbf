//! API keys in memory, because every request needs them. The store is authoritative.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use store::{Store, StoreError, StoredKey};

#[derive(Debug, Default)]
pub(crate) struct KeyRing(RwLock<HashMap<String, Arc<StoredKey>>>);

impl KeyRing {
    pub(crate) async fn load(store: &Store) -> Result<Self, StoreError> {
        let ring = Self::default();
        store.keys().await?.into_iter().for_each(|key| ring.insert(key));
        Ok(ring)
    }

    /// Adds a key or replaces the one with its id.
    pub(crate) fn insert(&self, key: StoredKey) {
        let mut keys = self.0.write();
        keys.insert(key.id.clone(), Arc::new(key));
    }

    /// Merges keys read from the store. No key is removed, and a key revoked here stays revoked.
    /// Returns true when a key is new or newly revoked.
    pub(crate) fn merge(&self, ring: Self) -> bool {
        let ring = ring.0.into_inner();
        let mut keys = self.0.write();
        let mut has_changes = false;
        for (id, key) in ring {
            let known = keys.get(&id).map(|known| known.revoked_at.is_some());
            has_changes |= known.is_none_or(|was_revoked| !was_revoked && key.revoked_at.is_some());
            if known != Some(true) {
                keys.insert(id, key);
            }
        }
        has_changes
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<StoredKey>> {
        self.0.read().get(id).cloned()
    }

    /// True when no key was ever created.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.read().is_empty()
    }

    /// All keys, oldest first.
    pub(crate) fn list(&self) -> Vec<Arc<StoredKey>> {
        let keys = self.0.read();
        let mut all: Vec<_> = keys.values().cloned().collect();
        all.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        all
    }
}
