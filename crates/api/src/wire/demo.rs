//! Demo data.

use serde::Serialize;
use utoipa::ToSchema;

/// Status of the demo data.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"loaded": true, "tenant": "demo"}))]
pub(crate) struct DemoBody {
    /// True when the store holds demo data.
    pub(crate) loaded: bool,
    /// Tenant of the demo data.
    pub(crate) tenant: Option<String>,
}

/// Result of removing the demo data.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"removed": true, "events": 26000}))]
pub(crate) struct DemoRemovedBody {
    /// False when there was no demo data.
    pub(crate) removed: bool,
    /// Number of removed events.
    pub(crate) events: u64,
}
