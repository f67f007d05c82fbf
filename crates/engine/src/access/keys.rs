//! API keys. Without any key the engine is open to every caller.

use std::sync::Arc;

use model::{Project, Role, Tenant};
use store::StoredKey;

use crate::access::Access;
use crate::error::EngineError;

#[derive(Clone, Debug)]
pub struct NewKey {
    pub tenant: Tenant,
    /// `None` grants all projects of the tenant.
    pub project: Option<Project>,
    pub role: Role,
    /// Requests per second; `None` is unlimited.
    pub rate: Option<u32>,
    /// The web origin that may use the key.
    pub origin: Option<String>,
}

impl Access {
    /// True when no key was ever created. Every caller may then do everything.
    pub fn is_open(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the key if the secret matches and the key is not revoked.
    pub fn authenticate(&self, text: &str) -> Option<Arc<StoredKey>> {
        let (id, secret) = text.strip_prefix("uk_")?.split_once('_')?;
        let key = self.keys.get(id)?;
        // `blake3::Hash` compares in constant time.
        let right = blake3::hash(secret.as_bytes()) == blake3::Hash::from_bytes(key.hash);
        (right && key.revoked_at.is_none()).then_some(key)
    }

    pub(crate) fn is_key_valid(&self, id: &str) -> bool {
        self.keys.get(id).is_some_and(|key| key.revoked_at.is_none())
    }

    /// All keys, oldest first, including revoked ones.
    pub fn list_keys(&self) -> Vec<Arc<StoredKey>> {
        self.keys.list()
    }

    /// Creates a key. Its text is returned only once; the store keeps a hash.
    pub async fn create_key(&self, new: NewKey) -> Result<(StoredKey, String), EngineError> {
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
        self.keys.insert(key.clone());
        self.ended_sessions.notify_watchers();
        tracing::info!(key = key.id, tenant = %key.tenant, role = key.role.as_word(), "key created");
        let text = format!("uk_{}_{secret}", key.id);
        Ok((key, text))
    }

    /// Revokes a key immediately. Returns true if it existed and was valid.
    pub async fn revoke_key(&self, id: &str) -> Result<bool, EngineError> {
        let now = self.core.clock.now();
        let revoked = self.core.store.revoke_key(id, now).await?;
        // The store may have revoked it on behalf of another node.
        if let Some(key) = self.keys.get(id).filter(|key| key.revoked_at.is_none()) {
            self.keys.insert(StoredKey { revoked_at: Some(now), ..(*key).clone() });
            self.ended_sessions.notify_watchers();
            tracing::info!(key = id, "key revoked");
        }
        Ok(revoked)
    }
}
