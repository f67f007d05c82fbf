//! API keys.

use model::{Project, Role, Tenant, Timestamp};

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
