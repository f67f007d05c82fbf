//! Figures that are not where they should be, and who was told.

use model::{Position, Project, Scope, Tenant, Timestamp};
use serde_json::{Map, Value};

use super::events::StoredEvent;
use crate::log::Task;

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

/// Alerts, and telling of them.
pub trait AlertStore: Send + Sync {
    /// What every tenant wants that said so.
    fn targets(&self) -> Task<'_, Vec<StoredTargets>>;

    /// Every project there is.
    fn scopes(&self) -> Task<'_, Vec<Scope>>;

    /// The newest alerts of a tenant, or of one of its projects, newest first.
    fn alerts(
        &self,
        tenant: &Tenant,
        project: Option<&Project>,
        limit: usize,
    ) -> Task<'_, Vec<StoredAlert>>;

    /// The position of the newest alert of each figure of a project, and whether it stands.
    fn newest_alerts(&self, scope: &Scope) -> Task<'_, Vec<(String, Position, bool)>>;

    /// The figures whose newest alert stands, of one tenant or of all, by project.
    fn standing_alerts(&self, tenant: Option<&Tenant>) -> Task<'_, Vec<(Scope, String)>>;

    /// What is to be told of a tenant's alerts now, in order: what nobody was told yet, unless the alert is
    /// over since before `news`, and what is to be tried again.
    fn undelivered(
        &self,
        tenant: &Tenant,
        news: Timestamp,
        now: Timestamp,
    ) -> Task<'_, Vec<Undelivered>>;

    /// What could not be told of a tenant's alerts is tried anew from now on; of what was given up, only
    /// what still stands.
    fn tell_anew(&self, tenant: &Tenant, now: Timestamp) -> Task<'_, ()>;

    /// Notes how telling of an event went.
    fn note_delivery(&self, position: Position, delivery: Delivery) -> Task<'_, ()>;
}
