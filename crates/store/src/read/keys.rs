//! API keys.

use model::{Project, Role, Tenant, Timestamp};

use crate::log::Task;

/// A key as it is kept: without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredKey {
    /// Its public part.
    pub id: String,
    /// The hash of its secret part.
    pub hash: [u8; 32],
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
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// Keys are no part of the log: they say who may speak, not what happened.
pub trait KeyStore: Send + Sync {
    /// All of them, revoked ones too, oldest first.
    fn keys(&self) -> Task<'_, Vec<StoredKey>>;

    /// Adds one.
    fn add_key(&self, key: StoredKey) -> Task<'_, ()>;

    /// Revokes one; answers whether it was there and valid.
    fn revoke_key(&self, id: &str, at: Timestamp) -> Task<'_, bool>;

    /// Notes that a visit was ended which would have lasted until then. Forgets those that are over now.
    fn end_visit(&self, id: &str, until: Timestamp, now: Timestamp) -> Task<'_, ()>;

    /// Visits that were ended, and until when they would have lasted.
    fn ended_visits(&self) -> Task<'_, Vec<(String, Timestamp)>>;

    /// When the store was made from a backup, if it was. Of visits from before nobody knows whether they were
    /// ended.
    fn restored_at(&self) -> Task<'_, Option<Timestamp>>;
}
