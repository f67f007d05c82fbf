//! Demo data as clients see it.

use serde::Serialize;
use utoipa::ToSchema;

/// Whether there is any.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"loaded": true, "tenant": "demo"}))]
pub(crate) struct DemoBody {
    /// Whether the store holds demo data.
    pub(crate) loaded: bool,
    /// The tenant that it is in.
    pub(crate) tenant: Option<String>,
}

/// What was removed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"removed": true, "events": 26000}))]
pub(crate) struct DemoRemovedBody {
    /// Whether there was something.
    pub(crate) removed: bool,
    /// How many events.
    pub(crate) events: u64,
}
