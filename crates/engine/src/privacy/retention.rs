//! Retention: drops events that are older than their tenant's retention period.

use std::sync::Arc;
use std::time::Duration;

use model::Clock;
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
        // Between batches, since a pass over a backlog may take hours.
        let may_continue = {
            let (changed, stop) = (changed.clone(), stop.clone());
            let is_current = move || !*stop.borrow() && !changed.has_changed().unwrap_or(true);
            let leadership = &leadership;
            move || is_current() && leadership.is_leader()
        };
        match drop_expired_events(&store, &*clock, &routing, &may_continue).await {
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

/// Drops expired events until none is left, or `may_continue` returns false.
async fn drop_expired_events(
    store: &Store,
    clock: &dyn Clock,
    routing: &RouterStates,
    may_continue: &(dyn Fn() -> bool + Sync),
) -> Result<usize, StoreError> {
    let mut due = Vec::new();
    for (tenant, settings) in store.privacy().await? {
        let Ok((_, Some(days))) = ingest::accept_privacy(&settings) else { continue };
        let before = clock.now().plus_secs(-i64::from(days) * 86_400);
        if store.prepare_drop(&tenant, before, changes_of).await? {
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
        let mut of_tenant = 0;
        while may_continue() {
            let old = store.old_events(&tenant, before, Some(upto)).await?;
            if old.is_empty() {
                break;
            }
            of_tenant += store.drop_events(old, changes_of).await?;
        }
        tracing::info!(%tenant, dropped = of_tenant, "expired events dropped");
        dropped += of_tenant;
    }
    Ok(dropped)
}

#[cfg(test)]
mod tests {
    use crate::Engine;
    use model::{Scope, Tenant};
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
        let (store, routing) = (&engine.core.store, &engine.routing.states);
        drop_expired_events(store, &*clock, routing, &|| true).await.unwrap();
        let id = |text: &str| model::EventId::new(text).unwrap();
        for scope in [&scope, &other] {
            assert!(engine.feedback.event(scope, &id("old")).await.unwrap().is_none(), "{scope:?}");
        }
        assert!(engine.feedback.event(&scope, &id("new")).await.unwrap().is_some());
        let again = engine.feedback.record(&scope, rating(&engine, "old")).await.unwrap();
        assert!(again.replayed && again.id == id("old"), "{again:?}");
        assert!(!engine.rebuild(|_, _| {}).await.unwrap().changed);
    }

    #[tokio::test]
    async fn retention_ends_between_batches_when_it_must_not_continue() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, clock, .. } = open_test_engine(folder.path()).await;
        let scope = Scope::default();
        for n in 0..1200 {
            engine.feedback.record(&scope, rating(&engine, &format!("old{n}"))).await.unwrap();
        }
        clock.advance_secs(40 * 86_400);
        let settings = json!({"retention_days": {"events": 30}});
        let settings = settings.as_object().unwrap().clone();
        engine.privacy.set_privacy(&scope.tenant, settings).await.unwrap();
        let checks = std::sync::atomic::AtomicUsize::new(0);
        let once = || checks.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
        let (store, routing) = (&engine.core.store, &engine.routing.states);
        let dropped = drop_expired_events(store, &*clock, routing, &once).await.unwrap();
        assert!((1..1200).contains(&dropped), "{dropped}");
        let rest = drop_expired_events(store, &*clock, routing, &|| true).await.unwrap();
        assert_eq!(dropped + rest, 1200);
    }
}
