//! API keys in memory, because every request asks; the store has the truth.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use store::{Store, StoreError, StoredKey};

/// The keys of one engine.
#[derive(Debug, Default)]
pub(crate) struct KeyRing(RwLock<HashMap<String, Arc<StoredKey>>>);

impl KeyRing {
    /// All keys that the store has.
    pub(crate) async fn load(store: &Store) -> Result<Self, StoreError> {
        let ring = Self::default();
        store.keys().await?.into_iter().for_each(|key| ring.insert(key));
        Ok(ring)
    }

    /// Adds a key, or puts it in the place of the one with its id.
    pub(crate) fn insert(&self, key: StoredKey) {
        let mut keys = self.0.write().unwrap_or_else(PoisonError::into_inner);
        keys.insert(key.id.clone(), Arc::new(key));
    }

    /// From now on these, as the store has them. Nothing is taken away: a key is revoked, not forgotten, and
    /// one that was revoked here while these were read stays so. Answers whether one is new, or newly revoked.
    pub(crate) fn merge(&self, ring: Self) -> bool {
        let ring = ring.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut keys = self.0.write().unwrap_or_else(PoisonError::into_inner);
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

    /// The key with this id.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<StoredKey>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Whether there never was one.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// All of them, oldest first.
    pub(crate) fn list(&self) -> Vec<Arc<StoredKey>> {
        let keys = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = keys.values().cloned().collect();
        all.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        all
    }
}
