//! Rules and profiles, as the newest event about each says.

use model::{Scope, Tenant, UserId};
use serde_json::{Map, Value};

use crate::log::Task;

/// A tenant and what it is set to.
pub type TenantSettings = (Tenant, Map<String, Value>);

/// What tenants and users are set to.
pub trait RuleReads: Send + Sync {
    /// The privacy settings of every tenant that has any.
    fn privacy(&self) -> Task<'_, Vec<TenantSettings>>;

    /// The attributes of a user, if any were set.
    fn profile(&self, scope: &Scope, user: &UserId) -> Task<'_, Option<Map<String, Value>>>;
}
