//! API keys: who may speak, and for whom.
//!
//! As long as there never was a key, the engine is open.

use std::sync::Arc;

use model::{Project, Role, Tenant};
use store::StoredKey;

use crate::access::Access;
use crate::error::FlowError;

/// What a new key shall be good for.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// Whose it is.
    pub tenant: Tenant,
    /// Of one project, or of all of the tenant's.
    pub project: Option<Project>,
    /// What it may do.
    pub role: Role,
    /// Requests per second, if it is limited.
    pub rate: Option<u32>,
    /// The web page's origin that it may be used from.
    pub origin: Option<String>,
}

impl Access {
    /// Whether there never was a key, so that everybody who can reach it may do everything.
    pub fn is_open(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key that this text is, if it is one and was not revoked.
    pub fn authenticate(&self, text: &str) -> Option<Arc<StoredKey>> {
        let (id, secret) = text.strip_prefix("uk_")?.split_once('_')?;
        let key = self.keys.get(id)?;
        // `blake3::Hash` compares in constant time.
        let right = blake3::hash(secret.as_bytes()) == blake3::Hash::from_bytes(key.hash);
        (right && key.revoked_at.is_none()).then_some(key)
    }

    /// Whether the key with this id is there and was not revoked.
    pub(crate) fn is_valid(&self, id: &str) -> bool {
        self.keys.get(id).is_some_and(|key| key.revoked_at.is_none())
    }

    /// All keys, oldest first, revoked ones too.
    pub fn keys(&self) -> Vec<Arc<StoredKey>> {
        self.keys.all()
    }

    /// Makes a key. The text is shown this once; only its hash is kept.
    pub async fn create_key(&self, new: NewKey) -> Result<(StoredKey, String), FlowError> {
        let now = self.core.clock.now();
        let (id, secret) =
            (self.core.ids.random_base36::<12>(), self.core.ids.random_base36::<40>());
        let key = StoredKey {
            hash: *blake3::hash(secret.as_bytes()).as_bytes(),
            tenant: new.tenant,
            project: new.project,
            role: new.role,
            rate: new.rate,
            origin: new.origin,
            created_at: now,
            revoked_at: None,
            id,
        };
        self.core.store.add_key(key.clone()).await?;
        self.keys.put(key.clone());
        self.ended_visits.wake();
        tracing::info!(key = key.id, tenant = %key.tenant, role = key.role.as_word(), "key created");
        let text = format!("uk_{}_{secret}", key.id);
        Ok((key, text))
    }

    /// Revokes a key at once; answers whether it was there and valid.
    pub async fn revoke_key(&self, id: &str) -> Result<bool, FlowError> {
        let now = self.core.clock.now();
        let revoked = self.core.store.revoke_key(id, now).await?;
        // Also when somebody had revoked it and this node has not heard of it.
        if let Some(key) = self.keys.get(id).filter(|key| key.revoked_at.is_none()) {
            self.keys.put(StoredKey { revoked_at: Some(now), ..(*key).clone() });
            self.ended_visits.wake();
            tracing::info!(key = id, "key revoked");
        }
        Ok(revoked)
    }
}
