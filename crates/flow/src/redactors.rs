//! Each tenant's redactor, in memory: every write asks.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use capture::Redactor;
use event::Tenant;
use store::{Store, StoreError};

/// Those of tenants that set something; the others have the default.
#[derive(Debug, Default)]
pub(crate) struct Redactors(RwLock<HashMap<Tenant, Redactor>>);

impl Redactors {
    /// As the store has them.
    pub(crate) async fn load(store: &dyn Store) -> Result<Self, StoreError> {
        let redactors = Self::default();
        for (tenant, settings) in store.privacy().await? {
            let unreadable =
                |error| StoreError::Corrupt(format!("the privacy settings of {tenant}: {error}"));
            let redactor = capture::accept_privacy(&settings).map_err(unreadable)?;
            redactors.set(tenant.clone(), redactor);
        }
        Ok(redactors)
    }

    /// The tenant's.
    pub(crate) fn of(&self, tenant: &Tenant) -> Redactor {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(tenant).copied().unwrap_or_default()
    }

    /// From now on.
    pub(crate) fn set(&self, tenant: Tenant, redactor: Redactor) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(tenant, redactor);
    }
}
