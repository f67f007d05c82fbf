//! How a store knows that it holds demo data: two events, one before it and one behind it, in a tenant of
//! its own. Whoever finds only the first knows that loading did not come to its end. No client can send them, or it
//! could have a real tenant of that name removed.

use ingest::{CaptureError, RawEvent};
use model::{Event, EventId, Scope, Tenant};
use serde_json::json;

use crate::error::FlowError;
use crate::privacy::Privacy;

/// The tenant that holds demo data and nothing else.
pub const DEMO_TENANT: &str = "demo";

const BEGUN: &str = "demo.begun";
const LOADED: &str = "demo.loaded";

/// What there is of demo data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemoState {
    /// Nothing.
    Absent,
    /// A part of it: loading was interrupted.
    Begun,
    /// All of it.
    Loaded,
    /// The tenant of that name holds something that is no demo data.
    Foreign,
}

/// Where demo data is.
pub fn demo_scope() -> Scope {
    let usual = Scope::default();
    // The name is an id; if it were none, the usual tenant would be refused as foreign.
    let tenant = Tenant::new(DEMO_TENANT).unwrap_or(usual.tenant);
    Scope { tenant, project: usual.project }
}

/// Refuses a client's event that would pass for one of the two.
pub(crate) fn refuse_mark(event: &Event) -> Result<(), CaptureError> {
    let is_mark = [BEGUN, LOADED].contains(&event.id.as_str());
    if is_mark && event.scope.tenant == demo_scope().tenant {
        let expected = "an id of your own; in the tenant demo this one is written by Uptake";
        return Err(CaptureError::new("id", format!("{:?}", event.id.as_str()), expected));
    }
    Ok(())
}

impl Privacy {
    /// What there is of demo data.
    pub async fn demo_state(&self) -> Result<DemoState, FlowError> {
        if self.is_marked(LOADED).await? {
            return Ok(DemoState::Loaded);
        }
        if self.is_marked(BEGUN).await? {
            return Ok(DemoState::Begun);
        }
        let scopes = self.core.store.scopes().await?;
        let is_demo = |scope: &Scope| scope.tenant == demo_scope().tenant;
        Ok(if scopes.iter().any(is_demo) { DemoState::Foreign } else { DemoState::Absent })
    }

    /// Whether the store holds demo data: then whoever shows it says so.
    pub async fn holds_demo(&self) -> Result<bool, FlowError> {
        let state = self.demo_state().await?;
        Ok(matches!(state, DemoState::Begun | DemoState::Loaded))
    }

    /// Whether the store holds anything that is no demo data.
    pub async fn holds_other_than_demo(&self) -> Result<bool, FlowError> {
        let demo = demo_scope().tenant;
        Ok(self.core.store.scopes().await?.iter().any(|scope| scope.tenant != demo))
    }

    /// Demo data begins here, or ends here.
    pub async fn mark_demo(&self, ends: bool) -> Result<(), FlowError> {
        let id = if ends { LOADED } else { BEGUN };
        let data = json!({"demo": true, "message": "made-up conversations to look at; not real"});
        let raw = RawEvent {
            id: Some(id.to_owned()),
            event_type: "log".to_owned(),
            source: "application_log".to_owned(),
            category: "quality".to_owned(),
            data: data.as_object().cloned().unwrap_or_default(),
            tags: vec!["demo".to_owned()],
            ..RawEvent::default()
        };
        let now = self.core.clock.now();
        let event = ingest::accept(&demo_scope(), raw, now, || self.core.ids.event_id(now))?;
        let mac = self.core.fingerprint("demo", &json!(id));
        self.core.commit_one(self.core.build_write(event, mac, None)).await.map(drop)
    }

    /// Takes demo data away, and whatever else was stored in its tenant since. Answers how many events
    /// there were; `None` when there was no demo data.
    pub async fn remove_demo(&self) -> Result<Option<usize>, FlowError> {
        if !self.holds_demo().await? {
            return Ok(None);
        }
        if self.core.store.is_shared() {
            // Other nodes know numbers of what would be gone.
            let why =
                "demo data that was moved to Postgres stays there; it is in a tenant of its own";
            return Err(FlowError::NotPossible(why.into()));
        }
        // A choice that waits would bring the tenant back.
        self.routing.store_choices().await;
        let events = self.core.store.remove_tenant(&demo_scope().tenant).await?;
        self.forget_what_is_gone().await?;
        self.scrub().await?;
        tracing::info!(events, "demo data removed");
        Ok(Some(events))
    }

    /// What is kept in memory to answer quickly goes too: whoever uses the name next asked for nothing yet.
    async fn forget_what_is_gone(&self) -> Result<(), FlowError> {
        self.routing.states.reload(&*self.core.store).await?;
        let gone = demo_scope().tenant;
        self.core.redactors.remove_tenant(&gone);
        self.insights.targets.forget(&gone);
        self.turns.curves.remove_tenant(&gone);
        self.insights.patterns.clear();
        self.insights.drafts.clear();
        self.training_data.examples.clear();
        let (now, window) = (self.core.clock.now(), self.core.detectors.retry.window);
        Ok(self.turns.history.reload_from_log(&*self.core.store, now, window).await?)
    }

    async fn is_marked(&self, id: &str) -> Result<bool, FlowError> {
        let Ok(id) = EventId::new(id) else { return Ok(false) };
        let found = self.core.store.event(&demo_scope(), &id).await?;
        Ok(found.is_some_and(|found| found.event.data.get("demo") == Some(&json!(true))))
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
    async fn what_its_tenant_wanted_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Limits::default(), [7; 32]).unwrap();
        let clock = Arc::new(TestClock::new(Timestamp::from_micros(1_800_000_000_000_000)));
        let (detectors, embedder) = (Detectors::default(), Embedder::default());
        let engine =
            Engine::open(Arc::new(store), clock, [1; 32], detectors, embedder).await.unwrap();
        let (demo, tenant) = (demo_scope(), demo_scope().tenant);
        let settings = |settings: Value| settings.as_object().cloned().unwrap();
        engine.privacy.mark_demo(false).await.unwrap();
        let targets = settings(json!({"satisfaction": {"min": 0.85}, "min_count": 5}));
        engine.insights.set_targets(&tenant, targets).await.unwrap();
        let privacy = settings(json!({"retention_days": {"events": 30}}));
        engine.privacy.set_privacy(&tenant, privacy).await.unwrap();
        engine.turns.curves.set_curve(demo.clone(), Platt { slope: 2.0, offset: 1.0 });
        assert_ne!(engine.insights.targets_of(&tenant), Targets::default());
        assert_ne!(engine.core.redactors.settings_for(&tenant), PrivacySettings::default());
        assert!(engine.privacy.remove_demo().await.unwrap().is_some());
        assert_eq!(engine.insights.targets_of(&tenant), Targets::default());
        assert_eq!(engine.core.redactors.settings_for(&tenant), PrivacySettings::default());
        assert_eq!(engine.turns.curves.curve_for(&demo), Platt::IDENTITY);
    }

    #[tokio::test]
    async fn what_was_asked_in_it_is_not_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, .. } = open_test_engine(folder.path()).await;
        let (demo, user) = (demo_scope(), UserId::new("ann").unwrap());
        let half = TurnHalf::Opened(Opening { text: "What now?".into(), ..Opening::default() });
        let question = Event {
            user: Some(user.clone()),
            turn: TurnId::new("t1").ok(),
            ts: NOW,
            kind: Kind { event_type: Type::Query, source: Source::Turn },
            data: Event::data_of(&half),
            ..testkit::event(&demo, "asked")
        };
        engine.privacy.mark_demo(false).await.unwrap();
        engine.turns.history.add_question(&question).await;
        assert_eq!(engine.turns.list_recent_questions(&demo, &user).await.unwrap().len(), 1);
        assert!(engine.privacy.remove_demo().await.unwrap().is_some());
        assert_eq!(engine.turns.list_recent_questions(&demo, &user).await.unwrap().len(), 0);
    }
}
