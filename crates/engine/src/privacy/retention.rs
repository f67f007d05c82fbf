//! Retention: drops events that are older than their tenant's retention period.

use std::sync::Arc;
use std::time::Duration;

use model::{Clock, Position, Tenant, Timestamp};
use store::{Store, StoreError};

use crate::changes::changes_of;
use crate::cluster::leadership::Leadership;
use crate::privacy::Privacy;
use crate::privacy::scrub_signal::ScrubSignal;
use crate::retriable::log_retriable;
use crate::routing::RouterStates;
use crate::tasks::StopSignal;
use crate::training_data::example_pool::ExamplePoolCache;

const CHECK_INTERVAL: Duration = Duration::from_secs(3600);

impl Privacy {
    /// Starts the retention job. Call it once, before serving.
    pub fn spawn_retention(&self) {
        let (store, clock) = (Arc::clone(&self.core.store), Arc::clone(&self.core.clock));
        let (routing, examples) =
            (Arc::clone(&self.routing.states), Arc::clone(&self.training_data.examples));
        let (changed, leadership) =
            (self.core.redactors.subscribe_changes(), Arc::clone(&self.cluster.leadership));
        let scrub_signal = self.scrub_signal.clone();
        self.core.tasks.spawn_task(|stop| {
            run_retention(
                store,
                clock,
                (routing, examples, leadership, scrub_signal),
                changed,
                stop,
            )
        });
    }
}

async fn run_retention(
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    (routing, examples, leadership, scrub_signal): (
        Arc<RouterStates>,
        Arc<ExamplePoolCache>,
        Arc<Leadership>,
        ScrubSignal,
    ),
    mut changed: tokio::sync::watch::Receiver<u64>,
    mut stop: StopSignal,
) {
    while leadership.wait_until_leader(&mut stop).await {
        changed.mark_unchanged();
        match drop_expired_events(&store, &*clock, &routing).await {
            Ok(0) => {}
            // Cached examples may come from dropped events.
            Ok(_) => {
                examples.clear();
                scrub_signal.scrub_or_signal(&store).await;
            }
            Err(error) => {
                examples.clear();
                scrub_signal.scrub_or_signal(&store).await;
                log_retriable(error, "dropping expired events failed; retrying later");
            }
        }
        tokio::select! {
            _ = stop.changed() => {}
            _ = changed.changed() => {}
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
        }
    }
}

async fn drop_expired_events(
    store: &Store,
    clock: &dyn Clock,
    routing: &RouterStates,
) -> Result<usize, StoreError> {
    let mut due = Vec::new();
    for (tenant, settings) in store.privacy().await? {
        let Ok((_, Some(days))) = ingest::accept_privacy(&settings) else { continue };
        let before = clock.now().plus_secs(-i64::from(days) * 86_400);
        if !store.old_events(&tenant, before, None).await?.is_empty() {
            due.push((tenant, before));
        }
    }
    if due.is_empty() {
        return Ok(0);
    }
    let upto = store.head();
    // Store what routers learnt from these events before they are dropped.
    routing.save_checkpoints(store).await?;
    let mut dropped = 0;
    for (tenant, before) in due {
        dropped += drop_tenant_events(store, &tenant, before, upto).await?;
    }
    Ok(dropped)
}

async fn drop_tenant_events(
    store: &Store,
    tenant: &Tenant,
    before: Timestamp,
    upto: Position,
) -> Result<usize, StoreError> {
    let mut dropped = 0;
    loop {
        let old = store.old_events(tenant, before, Some(upto)).await?;
        if old.is_empty() {
            break;
        }
        dropped += store.drop_events(old, changes_of).await?;
    }
    tracing::info!(%tenant, dropped, "expired events dropped");
    Ok(dropped)
}

#[cfg(test)]
mod tests {
    use crate::Engine;
    use model::Scope;
    use serde_json::json;

    use super::*;
    use crate::test_engine::{TestEngine, open_test_engine};
    use crate::{IncomingEvent, RawEvent, Trust};

    fn rating(engine: &Engine, id: &str) -> IncomingEvent {
        let data = json!({"rating": "positive"});
        let raw = RawEvent {
            id: Some(id.into()),
            event_type: "explicit".into(),
            source: "user_rating".into(),
            category: "quality".into(),
            message_id: Some("t1".into()),
            data: data.as_object().cloned().unwrap_or_default(),
            ..RawEvent::default()
        };
        let mac = engine.core.fingerprint("event", &json!([id, data]));
        IncomingEvent { raw, mac, key: None, trust: Trust::Backend }
    }

    #[tokio::test]
    async fn retention_drops_old_events_and_keeps_their_ids_claimed() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, clock, .. } = open_test_engine(folder.path()).await;
        let scope = Scope::default();
        let other = Scope { tenant: Tenant::new("other").unwrap(), ..Scope::default() };
        for scope in [&scope, &other] {
            engine.feedback.record(scope, rating(&engine, "old")).await.unwrap();
        }
        clock.advance_secs(40 * 86_400);
        engine.feedback.record(&scope, rating(&engine, "new")).await.unwrap();
        for (tenant, days) in [(&scope.tenant, 30), (&other.tenant, 20)] {
            let settings = json!({"retention_days": {"events": days}});
            let settings = settings.as_object().unwrap().clone();
            engine.privacy.set_privacy(tenant, settings).await.unwrap();
        }
        drop_expired_events(&engine.core.store, &*clock, &engine.routing.states).await.unwrap();
        let id = |text: &str| model::EventId::new(text).unwrap();
        for scope in [&scope, &other] {
            assert!(engine.feedback.event(scope, &id("old")).await.unwrap().is_none(), "{scope:?}");
        }
        assert!(engine.feedback.event(&scope, &id("new")).await.unwrap().is_some());
        let again = engine.feedback.record(&scope, rating(&engine, "old")).await.unwrap();
        assert!(again.replayed && again.id == id("old"), "{again:?}");
        assert!(!engine.rebuild(|_, _| {}).await.unwrap().changed);
    }
}
