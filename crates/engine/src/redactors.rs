//! The privacy settings of each tenant, in memory because every write needs them.

use std::collections::HashMap;

use ingest::Redactor;
use model::Tenant;
use parking_lot::RwLock;
use store::{Store, StoreError};
use tokio::sync::watch;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrivacySettings {
    pub redactor: Redactor,
    /// Days after which events are dropped. `None` keeps them forever.
    pub retention_days: Option<u32>,
}

/// Settings of tenants that changed them; all other tenants have the default.
#[derive(Debug)]
pub(crate) struct Redactors {
    known: RwLock<HashMap<Tenant, PrivacySettings>>,
    changes: watch::Sender<u64>,
}

impl Redactors {
    pub(crate) async fn load(store: &Store) -> Result<Self, StoreError> {
        let redactors = Self { known: RwLock::default(), changes: watch::channel(0).0 };
        for (tenant, settings) in store.privacy().await? {
            match ingest::accept_privacy(&settings) {
                Ok((redactor, retention_days)) => {
                    redactors.set(tenant, PrivacySettings { redactor, retention_days });
                }
                Err(error) => {
                    tracing::warn!(%tenant, %error, "unreadable privacy settings: redacting every kind, keeping events forever");
                    let redactor = Redactor::STRICTEST;
                    redactors.set(tenant, PrivacySettings { redactor, retention_days: None });
                }
            }
        }
        Ok(redactors)
    }

    pub(crate) fn settings_for(&self, tenant: &Tenant) -> PrivacySettings {
        let known = self.known.read();
        known.get(tenant).copied().unwrap_or_default()
    }

    pub(crate) fn set(&self, tenant: Tenant, privacy: PrivacySettings) {
        self.known.write().insert(tenant, privacy);
        self.changes.send_modify(|count| *count += 1);
    }

    /// Overwrites entries with newly loaded ones.
    pub(crate) fn update_from(&self, others: Self) {
        let others = others.known.into_inner();
        self.known.write().extend(others);
        self.changes.send_modify(|count| *count += 1);
    }

    pub(crate) fn remove_tenant(&self, tenant: &Tenant) {
        self.known.write().remove(tenant);
        self.changes.send_modify(|count| *count += 1);
    }

    /// A channel that changes whenever any tenant's settings change.
    pub(crate) fn subscribe_changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}
