//! Demo data, in a tenant of its own.
//!
//! Two marker events enclose it. The first alone means that loading was interrupted. Clients
//! cannot send the markers, since they allow the tenant to be removed.

use ingest::{CaptureError, RawEvent};
use model::{Body, Event, EventId, Scope, Tenant, record_fields};
use serde::Deserialize;
use serde::Serialize;
use serde_json::json;

use crate::error::EngineError;
use crate::privacy::Privacy;

/// The tenant that holds only demo data.
pub const DEMO_TENANT: &str = "demo";

const BEGUN_EVENT_ID: &str = "demo.begun";
const LOADED_EVENT_ID: &str = "demo.loaded";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemoState {
    Absent,
    /// Loading was interrupted.
    Begun,
    Loaded,
    /// The tenant of that name holds other data.
    Foreign,
}

pub fn demo_scope() -> Scope {
    let usual = Scope::default();
    // The name is a valid id. Otherwise the default tenant would be refused as foreign.
    let tenant = Tenant::new(DEMO_TENANT).unwrap_or(usual.tenant);
    Scope { tenant, project: usual.project }
}

/// The body of the events before and after the demo data.
#[derive(Debug, Serialize, Deserialize)]
struct DemoMarker {
    demo: bool,
    message: String,
}

/// Rejects a client's event with the id of a marker.
pub(crate) fn reject_demo_marker(event: &Event) -> Result<(), CaptureError> {
    let is_mark = [BEGUN_EVENT_ID, LOADED_EVENT_ID].contains(&event.id.as_str());
    if is_mark && event.scope.tenant == demo_scope().tenant {
        let expected = "an id of your own; in the tenant demo this one is written by Uptake";
        return Err(CaptureError::new("id", format!("{:?}", event.id.as_str()), expected));
    }
    Ok(())
}

impl Privacy {
    pub async fn demo_state(&self) -> Result<DemoState, EngineError> {
        if self.has_marker(LOADED_EVENT_ID).await? {
            return Ok(DemoState::Loaded);
        }
        if self.has_marker(BEGUN_EVENT_ID).await? {
            return Ok(DemoState::Begun);
        }
        let scopes = self.core.store.scopes().await?;
        let is_demo = |scope: &Scope| scope.tenant == demo_scope().tenant;
        Ok(if scopes.iter().any(is_demo) { DemoState::Foreign } else { DemoState::Absent })
    }

    /// True when the store holds demo data, which pages must point out.
    pub async fn has_demo_data(&self) -> Result<bool, EngineError> {
        let state = self.demo_state().await?;
        Ok(matches!(state, DemoState::Begun | DemoState::Loaded))
    }

    pub async fn has_other_data(&self) -> Result<bool, EngineError> {
        let demo = demo_scope().tenant;
        Ok(self.core.store.scopes().await?.iter().any(|scope| scope.tenant != demo))
    }

    /// Writes the marker before (`ends` false) or after the demo data.
    pub async fn write_demo_marker(&self, ends: bool) -> Result<(), EngineError> {
        let id = if ends { LOADED_EVENT_ID } else { BEGUN_EVENT_ID };
        let message = "generated demo conversations, not real data".to_owned();
        let marker = DemoMarker { demo: true, message };
        let raw = RawEvent {
            id: Some(id.to_owned()),
            event_type: "log".to_owned(),
            source: "application_log".to_owned(),
            category: "quality".to_owned(),
            data: record_fields(&marker),
            tags: vec!["demo".to_owned()],
            ..RawEvent::default()
        };
        let now = self.core.clock.now();
        let event = ingest::accept_event(&demo_scope(), raw, now, || self.core.ids.event_id(now))?;
        let mac = self.core.fingerprint("demo", &json!(id));
        self.core.commit_one(self.core.build_write(event, mac, None)).await.map(drop)
    }

    /// Removes the demo tenant with everything stored in it. Returns the number of events, or
    /// `None` without demo data.
    pub async fn remove_demo(&self) -> Result<Option<usize>, EngineError> {
        if !self.has_demo_data().await? {
            return Ok(None);
        }
        if self.core.store.is_shared() {
            // Other nodes hold positions of these events.
            let why = "demo data cannot be removed from Postgres; it stays in a tenant of its own";
            return Err(EngineError::PreconditionFailed(why.into()));
        }
        // A pending choice would recreate the tenant.
        self.routing.store_choices().await;
        let events = self.core.store.remove_tenant(&demo_scope().tenant).await?;
        self.clear_demo_caches().await?;
        self.scrub().await?;
        tracing::info!(events, "demo data removed");
        Ok(Some(events))
    }

    /// Clears in-memory state of the tenant, so that a new tenant of that name starts empty.
    async fn clear_demo_caches(&self) -> Result<(), EngineError> {
        self.routing.states.reload(&self.core.store).await?;
        let gone = demo_scope().tenant;
        self.core.redactors.remove_tenant(&gone);
        self.insights.targets.remove(&gone);
        self.turns.curves.remove_tenant(&gone);
        self.insights.patterns.clear();
        self.insights.drafts.clear();
        self.training_data.examples.clear();
        let (now, window) = (self.core.clock.now(), self.core.detectors.retry.window);
        Ok(self.turns.history.reload_from_log(&self.core.store, now, window).await?)
    }

    async fn has_marker(&self, id: &str) -> Result<bool, EngineError> {
        let Ok(id) = EventId::new(id) else { return Ok(false) };
        let found = self.core.store.event(&demo_scope(), &id).await?;
        let Some(Body::Other(fields)) = found.map(|found| found.event.into_inner().body) else {
            return Ok(false);
        };
        Ok(DemoMarker::deserialize(&fields).is_ok_and(|marker| marker.demo))
    }
}

#[cfg(test)]
mod tests {
    use crate::Engine;
    use std::sync::Arc;

    use detect::Platt;
    use model::{Kind, Opening, Source, Timestamp, TurnHalf, TurnId, Type, UserId};
    use serde_json::Value;
    use store::{Limits, Store};
    use testkit::TestClock;

    use super::*;
    use crate::insights::targets::Targets;
    use crate::redactors::PrivacySettings;
    use crate::test_engine::{NOW, TestEngine, open_test_engine};
    use crate::{Detectors, Embedder};

    #[tokio::test]
    async fn removing_demo_data_removes_its_tenants_settings() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Limits::default(), [7; 32]).unwrap();
        let clock = Arc::new(TestClock::new(Timestamp::from_micros(1_800_000_000_000_000)));
        let (detectors, embedder) = (Detectors::default(), Embedder::default());
        let engine =
            Engine::open(Arc::new(store), clock, [1; 32], detectors, embedder).await.unwrap();
        let (demo, tenant) = (demo_scope(), demo_scope().tenant);
        let settings = |settings: Value| settings.as_object().cloned().unwrap();
        engine.privacy.write_demo_marker(false).await.unwrap();
        let targets = settings(json!({"satisfaction": {"min": 0.85}, "min_count": 5}));
        engine.insights.set_targets(&tenant, targets).await.unwrap();
        let privacy = settings(json!({"retention_days": {"events": 30}}));
        engine.privacy.set_privacy(&tenant, privacy).await.unwrap();
        engine.turns.curves.set_curve(demo.clone(), Platt { slope: 2.0, offset: 1.0 });
        assert_ne!(engine.insights.tenant_targets(&tenant), Targets::default());
        assert_ne!(engine.core.redactors.settings_for(&tenant), PrivacySettings::default());
        assert!(engine.privacy.remove_demo().await.unwrap().is_some());
        assert_eq!(engine.insights.tenant_targets(&tenant), Targets::default());
        assert_eq!(engine.core.redactors.settings_for(&tenant), PrivacySettings::default());
        assert_eq!(engine.turns.curves.curve_for(&demo), Platt::IDENTITY);
    }

    #[tokio::test]
    async fn removing_demo_data_clears_the_question_history() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, .. } = open_test_engine(folder.path()).await;
        let (demo, user) = (demo_scope(), UserId::new("ann").unwrap());
        let half = TurnHalf::Opened(Opening { text: "What now?".into(), ..Opening::default() });
        let question = Event {
            user: Some(user.clone()),
            turn: TurnId::new("t1").ok(),
            ts: NOW,
            kind: Kind { event_type: Type::Query, source: Source::Turn },
            body: Body::Turn(half),
            ..testkit::event(&demo, "asked")
        };
        engine.privacy.write_demo_marker(false).await.unwrap();
        engine.turns.history.add_question(&question).await;
        assert_eq!(engine.turns.list_recent_questions(&demo, &user).await.unwrap().len(), 1);
        assert!(engine.privacy.remove_demo().await.unwrap().is_some());
        assert_eq!(engine.turns.list_recent_questions(&demo, &user).await.unwrap().len(), 0);
    }
}
