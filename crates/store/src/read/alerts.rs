//! Figures that are not where they should be, and who was told.

use model::{Position, Scope, Tenant, Timestamp};
use serde_json::{Map, Value};

use super::events::StoredEvent;

/// What a tenant wants, since when.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTargets {
    /// Whose.
    pub tenant: Tenant,
    /// Where the log says so.
    pub position: Position,
    /// As it was given.
    pub settings: Map<String, Value>,
}

/// A figure that was missed.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredAlert {
    /// Where.
    pub scope: Scope,
    /// Which figure.
    pub metric: String,
    /// What was said when it was.
    pub raised: Option<StoredEvent>,
    /// And when it no longer was.
    pub cleared: Option<StoredEvent>,
    /// How telling of the first went, if somebody is told.
    pub told: Option<Delivery>,
}

/// How telling somebody of an event goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// How often it was tried.
    pub attempts: u32,
    /// When it is tried again; done or given up without one.
    pub next_at: Option<Timestamp>,
    /// What went wrong the last time.
    pub error: Option<String>,
}

/// Something to tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Undelivered {
    /// What.
    pub stored: StoredEvent,
    /// How often it was tried.
    pub attempts: u32,
}
