//! Retention: what is older than a tenant wants is dropped, now and then.

use std::sync::Arc;
use std::time::Duration;

use model::{Clock, Position, Tenant, Timestamp};
use store::{Store, StoreError};

use crate::cluster::leadership::Leadership;
use crate::privacy::Privacy;
use crate::privacy::scrub_signal::Unclean;
use crate::retriable::log_retriable;
use crate::routing::RouterStates;
use crate::tasks::StopSignal;
use crate::training_data::example_pool::ExampleShelf;

/// How often it is looked for.
const PAUSE: Duration = Duration::from_secs(3600);

impl Privacy {
    /// Starts dropping what is too old. Call it once, before serving.
    pub fn keep_retention(&self) {
        let (store, clock) = (Arc::clone(&self.core.store), Arc::clone(&self.core.clock));
        let (routing, examples) =
            (Arc::clone(&self.routing.states), Arc::clone(&self.training_data.examples));
        let (changed, duty) =
            (self.core.redactors.subscribe_changes(), Arc::clone(&self.cluster.leadership));
        let unclean = self.unclean.clone();
        self.core.tasks.spawn_task(|stop| {
            run(store, clock, (routing, examples, duty, unclean), changed, stop)
        });
    }
}

async fn run(
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    (routing, examples, duty, unclean): (
        Arc<RouterStates>,
        Arc<ExampleShelf>,
        Arc<Leadership>,
        Unclean,
    ),
    mut changed: tokio::sync::watch::Receiver<u64>,
    mut stop: StopSignal,
) {
    while duty.wait_until_leader(&mut stop).await {
        changed.mark_unchanged();
        match drop_all(&*store, &*clock, &routing).await {
            Ok(0) => {}
            // Made of events that are gone, in part.
            Ok(_) => {
                examples.clear();
                unclean.clear_soon(&*store).await;
            }
            Err(error) => {
                examples.clear();
                unclean.clear_soon(&*store).await;
                log_retriable(error, "old events could not be dropped; trying again later");
            }
        }
        tokio::select! {
            _ = stop.changed() => {}
            _ = changed.changed() => {}
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

async fn drop_all(
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
    // What routers learnt from events that go must outlive them.
    routing.save_checkpoints(store).await?;
    // Once for all of them: it is a copy of everybody's, and others wait to write meanwhile.
    let upto = store.copy_projections().await?;
    let mut dropped = 0;
    for (tenant, before) in due {
        dropped += drop_of(store, &tenant, before, upto).await?;
    }
    Ok(dropped)
}

async fn drop_of(
    store: &Store,
    tenant: &Tenant,
    before: Timestamp,
    upto: Position,
) -> Result<usize, StoreError> {
    let mut dropped = 0;
    loop {
        // Some at a time; others may write in between.
        let old = store.old_events(tenant, before, Some(upto)).await?;
        if old.is_empty() {
            break;
        }
        dropped += store.drop_events(old).await?;
    }
    tracing::info!(%tenant, dropped, "old events dropped");
    Ok(dropped)
}

#[cfg(test)]
mod tests {
    use crate::Engine;
    use model::Scope;
    use serde_json::json;

    use super::*;
    use crate::test_engine::{TestEngine, open_test_engine};
    use crate::{Incoming, RawEvent, Trust};

    fn rating(engine: &Engine, id: &str) -> Incoming {
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
        Incoming { raw, mac, key: None, trust: Trust::Backend }
    }

    #[tokio::test]
    async fn what_is_older_than_wanted_goes_and_its_id_stays_used() {
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
        drop_all(&*engine.core.store, &*clock, &engine.routing.states).await.unwrap();
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
