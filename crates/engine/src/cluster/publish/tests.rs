//! Tests of the publisher with an in-memory sink instead of Kafka.

use std::sync::Arc;
use std::time::Duration;

use connectors::{ConnectorError, ConnectorFuture, EventSink, OutgoingMessage, RejectedMessage};
use model::Scope;
use parking_lot::Mutex;
use store::Store;

use crate::Engine;
use crate::test_engine::{TestEngine, open_test_engine};

const LEASE: &str = "publish:fickle";

/// An outlet that fails `failures` times, then refuses only messages with the key `/refused`.
#[derive(Default)]
struct FlakyOutlet {
    failures: Mutex<usize>,
    tried: Mutex<Vec<Vec<String>>>,
}

impl EventSink for FlakyOutlet {
    fn name(&self) -> String {
        "fickle".into()
    }

    fn publish(&self, messages: Vec<OutgoingMessage>) -> ConnectorFuture<'_, Vec<RejectedMessage>> {
        let names: Vec<String> =
            messages.iter().map(|message| format!("{}:{}", message.topic, message.key)).collect();
        self.tried.lock().push(names);
        let mut failures = self.failures.lock();
        let fails = *failures > 0;
        *failures -= usize::from(fails);
        let refused = messages.iter().position(|message| message.key == "/refused");
        let refused = refused.map(|index| RejectedMessage { index, reason: "too large".into() });
        Box::pin(async move {
            if fails { Err(ConnectorError::Busy) } else { Ok(refused.into_iter().collect()) }
        })
    }
}

async fn open_engine(folder: &std::path::Path) -> (Engine, Arc<Store>) {
    let TestEngine { engine, store, .. } = open_test_engine(folder).await;
    (engine, store)
}

async fn record_event(engine: &Engine, source: &str, data: serde_json::Value) {
    let raw = crate::RawEvent {
        event_type: if source == "system_metric" { "metric" } else { "explicit" }.into(),
        source: source.into(),
        category: "quality".into(),
        data: data.as_object().cloned().unwrap_or_default(),
        ..crate::RawEvent::default()
    };
    let mac = engine.core.fingerprint("event", &data);
    let trust = crate::Trust::Backend;
    let incoming = crate::IncomingEvent { raw, mac, key: None, trust };
    engine.feedback.record(&Scope::default(), incoming).await.unwrap();
}

async fn wait_until(is_met: impl Fn() -> bool) {
    for _ in 0..6000 {
        if is_met() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the condition was not met in time");
}

#[tokio::test]
async fn unconfirmed_messages_are_redelivered_before_progress_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, store) = open_engine(folder.path()).await;
    let outlet = Arc::new(FlakyOutlet { failures: Mutex::new(1), ..FlakyOutlet::default() });
    record_event(&engine, "user_rating", serde_json::json!({"rating": "positive"})).await;
    record_event(&engine, "system_metric", serde_json::json!({"endpoint": "/refused"})).await;
    assert_eq!(engine.cluster.publish_lag(), None, "nothing is published yet");
    engine
        .cluster
        .spawn_publisher(Arc::clone(&outlet) as Arc<dyn EventSink>, |_| Ok(String::new()));
    wait_until(|| engine.cluster.publish_lag().is_some_and(|lag| lag.events == 0)).await;
    assert_eq!(store.lease_position(LEASE).await.unwrap(), engine.core.head());
    let names = ["feedback-events:default", "feedback-ratings:default"];
    let more = ["feedback-events:default", "feedback-metrics:/refused"];
    let names: Vec<String> = names.iter().chain(&more).map(|name| (*name).to_owned()).collect();
    assert_eq!(*outlet.tried.lock(), [names.clone(), names], "the batch is redelivered");
    let lag = engine.cluster.publish_lag().unwrap();
    assert_eq!((lag.refused, lag.is_holder), (1, true));
    record_event(&engine, "user_rating", serde_json::json!({"rating": "positive"})).await;
    wait_until(|| outlet.tried.lock().len() == 3).await;
    wait_until(|| engine.cluster.publish_lag().is_some_and(|lag| lag.events == 0)).await;
    engine.close().await.unwrap();
}

#[tokio::test]
async fn node_without_the_lease_publishes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, store) = open_engine(folder.path()).await;
    let other = store
        .acquire_lease(LEASE, "another", engine.core.clock.now(), Duration::from_secs(60))
        .await
        .unwrap()
        .unwrap();
    record_event(&engine, "user_rating", serde_json::json!({"rating": "positive"})).await;
    let outlet = Arc::new(FlakyOutlet::default());
    engine
        .cluster
        .spawn_publisher(Arc::clone(&outlet) as Arc<dyn EventSink>, |_| Ok(String::new()));
    wait_until(|| engine.cluster.publish_lag().is_some()).await;
    let lag = engine.cluster.publish_lag().unwrap();
    assert_eq!((lag.events, lag.is_holder), (1, false));
    assert!(outlet.tried.lock().is_empty());
    store.release(&other).await.unwrap();
    wait_until(|| engine.cluster.publish_lag().is_some_and(|lag| lag.events == 0)).await;
    assert_eq!(outlet.tried.lock().len(), 1);
    // A clean stop releases the lease at once.
    engine.core.tasks.stop_all().await;
    let next =
        store.acquire_lease(LEASE, "next", engine.core.clock.now(), Duration::from_secs(60)).await;
    assert_eq!(next.unwrap().map(|lease| lease.epoch), Some(3));
}

#[tokio::test]
async fn events_dropped_before_publishing_are_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, store) = open_engine(folder.path()).await;
    for _ in 0..3 {
        record_event(&engine, "user_rating", serde_json::json!({"rating": "positive"})).await;
    }
    let later = engine.core.clock.now().plus_secs(3600);
    let tenant = Scope::default().tenant;
    let old = store.old_events(&tenant, later, None).await.unwrap();
    let dropped = store.drop_events(old, crate::changes::changes_of).await.unwrap();
    assert_eq!((dropped, engine.core.head().0), (3, 3));
    let outlet = Arc::new(FlakyOutlet::default());
    engine
        .cluster
        .spawn_publisher(Arc::clone(&outlet) as Arc<dyn EventSink>, |_| Ok(String::new()));
    wait_until(|| engine.cluster.publish_lag().is_some_and(|lag| lag.events == 0)).await;
    assert!(outlet.tried.lock().is_empty());
    assert_eq!(store.lease_position(LEASE).await.unwrap(), engine.core.head());
    record_event(&engine, "user_rating", serde_json::json!({"rating": "positive"})).await;
    wait_until(|| outlet.tried.lock().len() == 1).await;
}

#[tokio::test]
async fn rating_of_a_turn_is_keyed_by_the_session_of_the_turn() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _) = open_engine(folder.path()).await;
    let raw = crate::RawOpening {
        turn_id: Some("t1".into()),
        conversation_id: Some("c1".into()),
        text: "How many?".into(),
        ..crate::RawOpening::default()
    };
    let mac = engine.core.fingerprint("turn", &serde_json::json!("t1"));
    let incoming = crate::IncomingTurn {
        opening: crate::IncomingHalf { raw, mac },
        completion: None,
        key: None,
        include: crate::Include::default(),
        router: None,
    };
    engine.turns.open_turn(&Scope::default(), incoming).await.unwrap();
    let rating = serde_json::json!({"rating": "positive", "message_id": "t1"});
    record_event(&engine, "user_rating", rating).await;
    let outlet = Arc::new(FlakyOutlet::default());
    engine
        .cluster
        .spawn_publisher(Arc::clone(&outlet) as Arc<dyn EventSink>, |_| Ok(String::new()));
    wait_until(|| engine.cluster.publish_lag().is_some_and(|lag| lag.events == 0)).await;
    let tried = outlet.tried.lock().concat();
    assert!(tried.contains(&"feedback-ratings:c1".to_owned()), "{tried:?}");
}
