//! Rules and profiles, as the newest event about each says.

use model::Tenant;
use serde_json::{Map, Value};

/// A tenant and what it is set to.
pub type TenantSettings = (Tenant, Map<String, Value>);
