//! Each tenant's privacy settings, in memory: every write asks.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use ingest::Redactor;
use model::Tenant;
use store::{Store, StoreError};
use tokio::sync::watch;

/// What a tenant wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrivacySettings {
    /// What is removed from its texts.
    pub redactor: Redactor,
    /// After how many days its events are dropped; never when absent.
    pub retention_days: Option<u32>,
}

/// Those of tenants that set something; the others have the default.
#[derive(Debug)]
pub(crate) struct Redactors {
    known: RwLock<HashMap<Tenant, PrivacySettings>>,
    changes: watch::Sender<u64>,
}

impl Redactors {
    /// As the store has them.
    pub(crate) async fn load(store: &Store) -> Result<Self, StoreError> {
        let redactors = Self { known: RwLock::default(), changes: watch::channel(0).0 };
        for (tenant, settings) in store.privacy().await? {
            match ingest::accept_privacy(&settings) {
                Ok((redactor, retention_days)) => {
                    redactors.set(tenant, PrivacySettings { redactor, retention_days });
                }
                // The strictest is safe; not starting would help nobody.
                Err(error) => {
                    tracing::warn!(%tenant, %error, "unreadable privacy settings; all is removed");
                }
            }
        }
        Ok(redactors)
    }

    /// The tenant's.
    pub(crate) fn settings_for(&self, tenant: &Tenant) -> PrivacySettings {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(tenant).copied().unwrap_or_default()
    }

    /// From now on.
    pub(crate) fn set(&self, tenant: Tenant, privacy: PrivacySettings) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).insert(tenant, privacy);
        self.changes.send_modify(|count| *count += 1);
    }

    /// From now on these, as the store has them.
    pub(crate) fn update_from(&self, others: Self) {
        let others = others.known.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.known.write().unwrap_or_else(PoisonError::into_inner).extend(others);
        self.changes.send_modify(|count| *count += 1);
    }

    /// A tenant that was removed wants nothing any more.
    pub(crate) fn remove_tenant(&self, tenant: &Tenant) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).remove(tenant);
        self.changes.send_modify(|count| *count += 1);
    }

    /// Tells when somebody changed theirs.
    pub(crate) fn subscribe_changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}
