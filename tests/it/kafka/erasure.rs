//! Erasure is published as tombstones, and consumers erase too.

use std::collections::BTreeSet;

use serde_json::json;
use testkit::rating_body;
use testkit::servers::{Kafka, or_skip};

use super::broker::{id, metric, publishing, read, until, until_published};
use super::consume::{Consumer, stored_in};
use crate::server::Server;

#[test]
fn erasure_publishes_tombstones_and_consumers_erase() {
    let Some(kafka) = or_skip(Kafka::shared()) else { return };
    let prefix = kafka.prefix();
    let server = publishing(kafka, &prefix, &[]);
    let send = |user: &str, n: usize| {
        let mut body = rating_body("t1");
        body["id"] = json!(format!("{user}{n}"));
        body["user_id"] = json!(user);
        body["session_id"] = json!(format!("c-{user}"));
        body["data"]["comment"] = json!(format!("words of {user}"));
        assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
    };
    for n in 0..5 {
        send("ann", n);
        send("bob", n);
    }
    let copy = Consumer::start(kafka, &prefix, &["feedback-events"]);
    until("the copy is there", || stored_in(&copy) >= 10);
    assert_eq!(server.client().delete("/api/v1/users/ann").0, 200);
    send("ann", 5);
    send("bob", 5);
    until_published(&server);
    let ratings = ["feedback-ratings"];
    let messages = read(kafka, &prefix, &ratings, |found| found.len() >= 17);
    let tombs: Vec<_> = messages.iter().filter(|message| message.value.is_none()).collect();
    let of: BTreeSet<&str> = tombs.iter().map(|message| id(message)).collect();
    assert_eq!(of, BTreeSet::from(["ann0", "ann1", "ann2", "ann3", "ann4"]));
    for tomb in tombs {
        assert_eq!(tomb.key.as_deref(), Some("c-ann"), "where the event was");
        assert!(tomb.header("erased-by").is_some() && tomb.header("position").is_some());
        let at = |message: &connectors::ReceivedMessage| (message.partition, message.offset);
        let is_event = |m: &&connectors::ReceivedMessage| m.value.is_some() && id(m) == id(tomb);
        let event = messages.iter().find(is_event).unwrap();
        assert!(at(event) < at(tomb), "behind it, in the same partition");
    }
    // Five events and one more of each, the erasure, and a tombstone for each of five.
    let all = read(kafka, &prefix, &["feedback-events"], |found| found.len() >= 18);
    assert_eq!(all.iter().filter(|message| message.value.is_none()).count(), 5);
    until("the copy has heard of it", || stored_in(&copy) >= 14);
    let (text, folder) = copy.stop();
    let expected = "stored 13 events, 0 already stored, 0 dead letters, 1 users erased";
    assert_eq!(text.trim(), expected);
    let copy = Server::start_in(folder);
    let user = |id: &str| copy.get(&format!("/api/v1/feedback/{id}")).1;
    for n in 0..5 {
        let (ann, bob) = (user(&format!("ann{n}")), user(&format!("bob{n}")));
        assert!(ann["user_id"].is_null() && ann["data"].get("comment").is_none(), "{ann}");
        assert_eq!(bob["data"]["comment"], "words of bob", "{bob}");
    }
    assert_eq!(user("ann5")["user_id"], "ann", "an erased user id can be used anew");
    assert_eq!(metric(&server.client(), "uptake_kafka_lag_events"), Some(0.0));
}
