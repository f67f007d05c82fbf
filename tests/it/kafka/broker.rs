//! Helpers for Kafka and for servers that publish to it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use connectors::kafka::KafkaSource;
use connectors::{EventSource, ReceivedMessage};
use serde_json::Value;
use store::Stopwatch;
use tempfile::TempDir;
use testkit::servers::Kafka;

use crate::server::{Client, Server};

pub(super) const TOPICS: [&str; 4] =
    ["feedback-events", "feedback-ratings", "feedback-corrections", "feedback-metrics"];

/// Enough for a slow machine.
pub(super) const WAIT_TIMEOUT: Duration = Duration::from_secs(90);

/// A server that publishes to topics with its own prefix.
pub(super) fn publishing(kafka: &Kafka, prefix: &str, more: &[(&str, &str)]) -> Server {
    publishing_in(tempfile::tempdir().unwrap(), kafka, prefix, more)
}

pub(super) fn publishing_in(
    folder: TempDir,
    kafka: &Kafka,
    prefix: &str,
    more: &[(&str, &str)],
) -> Server {
    let mut settings = vec![
        ("UPTAKE__KAFKA__BROKERS", kafka.bootstrap()),
        ("UPTAKE__KAFKA__PREFIX", prefix),
        ("UPTAKE__KAFKA__PARTITIONS", "3"),
    ];
    settings.extend(more);
    Server::start_with(folder, &settings)
}

/// The value of a metric without labels; `None` when it is missing.
pub(super) fn metric(client: &Client, name: &str) -> Option<f64> {
    let (status, page) = client.get("/metrics");
    assert_eq!(status, 200);
    let page = page.as_str().unwrap().to_owned();
    let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.map(|value| value.parse().unwrap())
}

/// Polls until the condition holds.
#[track_caller]
pub(super) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let watch = Stopwatch::start();
    while !is_so() {
        assert!(watch.elapsed() < WAIT_TIMEOUT, "{what}: not within {WAIT_TIMEOUT:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until everything is published.
#[track_caller]
pub(super) fn until_published(server: &Server) {
    let client = server.client();
    until("the lag is gone", || metric(&client, "uptake_kafka_lag_events") == Some(0.0));
}

pub(super) fn join(kafka: &Kafka, prefix: &str, topics: &[&str]) -> KafkaSource {
    let topics: Vec<String> = topics.iter().map(|topic| format!("{prefix}{topic}")).collect();
    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
    KafkaSource::join(kafka.bootstrap(), &(kafka.prefix() + "reader"), &topics).unwrap()
}

/// Reads topics from the beginning until there is enough.
#[track_caller]
pub(super) fn read(
    kafka: &Kafka,
    prefix: &str,
    topics: &[&str],
    mut is_enough: impl FnMut(&[ReceivedMessage]) -> bool,
) -> Vec<ReceivedMessage> {
    let mut inlet = join(kafka, prefix, topics);
    let mut found = Vec::new();
    until("what is on the topics", || {
        found.extend(inlet.take(1000, Duration::from_millis(200)).unwrap());
        is_enough(&found)
    });
    found
}

/// Number of distinct events.
pub(super) fn distinct(messages: &[ReceivedMessage]) -> usize {
    messages.iter().map(|message| (&message.topic, id(message))).collect::<BTreeSet<_>>().len()
}

pub(super) fn id(message: &ReceivedMessage) -> &str {
    message.header("event-id").unwrap()
}

pub(super) fn value(message: &ReceivedMessage) -> Value {
    serde_json::from_slice(message.value.as_deref().unwrap()).unwrap()
}

/// The ids on one topic by key, each at its first position.
pub(super) fn by_key(messages: &[ReceivedMessage], topic: &str) -> BTreeMap<String, Vec<String>> {
    let (mut found, mut seen) = (BTreeMap::<String, Vec<String>>::new(), BTreeSet::new());
    for message in messages.iter().filter(|message| message.topic.ends_with(topic)) {
        if seen.insert(id(message)) {
            let key = message.key.clone().unwrap();
            found.entry(key).or_default().push(id(message).to_owned());
        }
    }
    found
}

/// The whole topic as the server's API returns it.
pub(super) fn as_served(server: &Server, topic: &str) -> Vec<Value> {
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let (status, page) = server.get(&format!("/api/v1/topics/{topic}?after={after}"));
        assert_eq!(status, 200, "{page}");
        let items = page["items"].as_array().unwrap();
        if items.is_empty() {
            return found;
        }
        found.extend(items.iter().cloned());
        after = page["next"].as_u64().unwrap();
    }
}

/// Checks that Kafka and the server agree: each event once after deduplication, in order per key.
#[track_caller]
pub(super) fn check_everything_arrived(server: &Server, messages: &[ReceivedMessage]) {
    for topic in TOPICS {
        let mut expected = BTreeMap::<String, Vec<String>>::new();
        for event in as_served(server, topic) {
            let id = event["id"].as_str().unwrap().to_owned();
            expected.entry(key_of(topic, &event)).or_default().push(id);
        }
        let found = by_key(messages, topic);
        assert!(found == expected, "{topic}: {} keys of {}", found.len(), expected.len());
    }
}

/// Kafka's murmur2 partitioner, from the reference implementation.
pub(super) fn key_of(topic: &str, event: &Value) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let key = match topic {
        "feedback-ratings" => text(&event["session_id"]),
        "feedback-metrics" => return text(&event["data"]["endpoint"]).unwrap_or("unknown".into()),
        _ => None,
    };
    key.or_else(|| text(&event["tenant_id"])).unwrap()
}
