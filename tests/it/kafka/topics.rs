//! Contents of the topics.

use serde_json::{Value, json};
use testkit::rating_body;
use testkit::servers::{Kafka, Postgres, or_skip};

use super::broker::{
    TOPICS, as_served, check_everything_arrived, distinct, join, key_of, metric, publishing, read,
    until, until_published, value,
};
use crate::feedback_calls::{react, turn};
use crate::server::Server;

/// Sends one of every kind of data, with a turn of this name.
fn send_every_kind(server: &Server, name: &str) {
    let mut rating = rating_body(name);
    let loose = json!({"type": "explicit", "source": "user_rating", "category": "accuracy",
        "data": {"rating": "negative"}});
    let metric = |data: Value| {
        json!({"type": "performance", "source": "system_metric",
        "category": "latency", "data": data})
    };
    let correction = json!({"type": "explicit", "source": "user_correction",
        "category": "accuracy", "data": {"corrected": "SELECT 2"}});
    turn(server, "c1", name);
    react(server, "c1", name, &json!({"reaction": "ok"}));
    for n in 0..20 {
        rating["session_id"] = json!(format!("c{}", n % 5));
        let all = [&rating, &loose, &metric(json!({"endpoint": format!("/e{}", n % 3)}))];
        let more = [&metric(json!({"value": n})), &correction];
        for body in all.into_iter().chain(more) {
            assert_eq!(server.post("/api/v1/feedback", body).0, 201);
        }
    }
}

#[test]
fn topics_contain_the_events_of_the_api() {
    let Some(kafka) = or_skip(Kafka::shared()) else { return };
    let prefix = kafka.prefix();
    let server = publishing(kafka, &prefix, &[]);
    send_every_kind(&server, "t1");
    until_published(&server);
    let counts = TOPICS.map(|topic| as_served(&server, topic).len());
    assert!(counts.iter().all(|count| *count >= 20), "{counts:?}");
    let messages = read(kafka, &prefix, &TOPICS, |found| distinct(found) >= counts.iter().sum());
    check_everything_arrived(&server, &messages);
    for topic in TOPICS {
        for event in as_served(&server, topic) {
            let is_it = |message: &&connectors::ReceivedMessage| {
                message.topic == format!("{prefix}{topic}") && value(message)["id"] == event["id"]
            };
            let message = messages.iter().find(is_it).unwrap();
            assert_eq!(value(message), event, "the value is what the API says");
            assert_eq!(message.key, Some(key_of(topic, &event)));
            let headers = ["event-id", "tenant", "project", "position"];
            let headers = headers.map(|name| message.header(name).map(str::to_owned));
            let text = |name: &str| event[name].as_str().map(str::to_owned);
            let position = event["position"].to_string();
            let expected = [text("id"), text("tenant_id"), text("project"), Some(position)];
            assert_eq!(headers, expected);
        }
    }
    assert_eq!(metric(&server.client(), "uptake_kafka_publisher"), Some(1.0));
    assert_eq!(metric(&server.client(), "uptake_kafka_refused_total"), Some(0.0));
}

/// Rates a turn by its id alone, before and after a crash, and reads both messages.
fn check_context_of_published_event(kafka: &Kafka, store: &[(&str, &str)]) {
    let prefix = kafka.prefix();
    let server = publishing(kafka, &prefix, store);
    let profile = json!({"attributes": {"plan": "gold"}});
    assert_eq!(server.client().put("/api/v1/users/u7", &profile).0, 200);
    let asked = json!({"conversation_id": "c7", "turn_id": "t7", "user_id": "u7",
        "text": "How many?", "response": "Seven of them.", "model": "m1"});
    assert_eq!(server.post("/api/v1/turns", &asked).0, 201);
    let rate = |server: &Server, id: &str| {
        let body = json!({"id": id, "type": "explicit", "source": "user_rating",
            "category": "accuracy", "message_id": "t7", "data": {"rating": "negative"}});
        assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
        until_published(server);
    };
    rate(&server, "before");
    let folder = server.kill_and_leave();
    let server = super::broker::publishing_in(folder, kafka, &prefix, store);
    rate(&server, "after a crash");
    let messages = read(kafka, &prefix, &["feedback-ratings"], |found| distinct(found) >= 2);
    for id in ["before", "after a crash"] {
        let message = messages.iter().find(|one| value(one)["id"] == id).unwrap();
        let event = value(message);
        assert_eq!(message.key.as_deref(), Some("c7"));
        assert_eq!((&event["session_id"], &event["user_id"]), (&json!("c7"), &json!("u7")));
        let context = json!({"model": "m1", "profile": {"plan": "gold"}, "prompt": null});
        assert_eq!(event["context"], context, "{event}");
    }
}

#[test]
fn event_that_names_only_its_message_is_published_with_the_context_of_its_turn() {
    let Some(kafka) = or_skip(Kafka::shared()) else { return };
    check_context_of_published_event(kafka, &[]);
    let Some(postgres) = or_skip(Postgres::shared()) else { return };
    let database = postgres.database().unwrap();
    check_context_of_published_event(kafka, &[("UPTAKE__STORE__POSTGRES", database.url())]);
}

#[test]
fn publishing_resumes_after_a_restart() {
    let Some(kafka) = or_skip(Kafka::shared()) else { return };
    let prefix = kafka.prefix();
    let server = publishing(kafka, &prefix, &[]);
    send_every_kind(&server, "t1");
    until_published(&server);
    let (status, folder) = server.stop();
    assert_eq!(status.code(), Some(0));
    let server = super::broker::publishing_in(folder, kafka, &prefix, &[]);
    send_every_kind(&server, "t2");
    until_published(&server);
    let count = as_served(&server, "feedback-events").len();
    let all = read(kafka, &prefix, &["feedback-events"], |found| found.len() >= count);
    assert_eq!(all.len(), count, "nothing twice after an orderly stop");
    assert_eq!(distinct(&all), count);
}

#[test]
fn slow_consumer_blocks_nothing_and_misses_nothing() {
    use connectors::EventSource;
    let Some(kafka) = or_skip(Kafka::shared()) else { return };
    let prefix = kafka.prefix();
    let server = publishing(kafka, &prefix, &[]);
    send_every_kind(&server, "t1");
    until_published(&server);
    let mut reader = join(kafka, &prefix, &["feedback-events"]);
    let mut found = Vec::new();
    until("the first message", || {
        found.extend(reader.take(1, std::time::Duration::from_millis(200)).unwrap());
        !found.is_empty()
    });
    for start in (0..6000).step_by(2000) {
        let batch: Value = (start..start + 2000)
            .map(|n| {
                json!({"id": format!("slow{n}"), "type": "metric", "source": "system_metric",
                "category": "cost"})
            })
            .collect();
        assert_eq!(server.post("/api/v1/feedback/batch", &batch).1["accepted"], 2000);
        found.extend(reader.take(10, std::time::Duration::from_millis(200)).unwrap());
    }
    until_published(&server);
    let count = as_served(&server, "feedback-events").len();
    assert!(found.len() < count / 2, "it is behind: {} of {count}", found.len());
    until("the rest", || {
        found.extend(reader.take(100, std::time::Duration::from_millis(200)).unwrap());
        found.len() >= count
    });
    let positions: Vec<u64> =
        found.iter().map(|message| message.header("position").unwrap().parse().unwrap()).collect();
    let expected: Vec<u64> = (1..=count as u64).collect();
    assert_eq!(positions, expected, "one key, so the order of the log");
}
