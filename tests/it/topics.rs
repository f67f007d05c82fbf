//! Topics: parts of the log, as pages and as a stream.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};
use testkit::rating_body;

use crate::feedback_calls::{react, turn};
use crate::server::Server;

/// One event of every topic.
fn mixed_event(n: usize) -> Value {
    let mut body = match n % 4 {
        0 => rating_body(&format!("t{n}")),
        1 => json!({"type": "metric", "source": "system_metric", "category": "cost"}),
        2 => json!({"type": "explicit", "source": "user_correction", "category": "accuracy",
            "data": {"corrected": "SELECT 2"}}),
        _ => json!({"type": "log", "source": "trace", "category": "quality"}),
    };
    body["id"] = json!(format!("e{n}"));
    body
}

#[test]
fn ten_thousand_events_arrive_once_and_in_order_across_a_kill() {
    let mut server = Server::start();
    for start in (0..10_000).step_by(2500) {
        let batch: Value = (start..start + 2500).map(mixed_event).collect();
        assert_eq!(server.post("/api/v1/feedback/batch", &batch).1["accepted"], 2500);
    }
    let topics = [
        ("feedback-events", 0..4),
        ("feedback-ratings", 0..1),
        ("feedback-metrics", 1..2),
        ("feedback-corrections", 2..3),
    ];
    for (topic, kinds) in topics {
        let (mut ids, mut after, mut pages) = (Vec::new(), 0, 0);
        loop {
            let path = format!("/api/v1/topics/{topic}?after={after}&limit=700");
            let (status, page) = server.get(&path);
            assert_eq!(status, 200, "{page}");
            let items = page["items"].as_array().unwrap();
            ids.extend(items.iter().map(|item| item["id"].as_str().unwrap().to_owned()));
            after = page["next"].as_u64().unwrap();
            if items.is_empty() {
                break;
            }
            pages += 1;
            if pages == 2 {
                server = server.kill_and_restart();
            }
        }
        let expected: Vec<String> =
            (0..10_000).filter(|n| kinds.contains(&(n % 4))).map(|n| format!("e{n}")).collect();
        assert!(ids == expected, "{topic}: {} of {}", ids.len(), expected.len());
    }
}

#[test]
fn ratings_topic_contains_user_reactions_only() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    react(&server, "c1", "t1", &json!({"reaction": "ok"}));
    react(&server, "c1", "t1", &json!({"reaction": "ok", "origin": "machine", "confidence": 0.9}));
    react(&server, "c1", "t1", &json!({"reaction": null}));
    let ratings = server.get("/api/v1/topics/feedback-ratings").1;
    let said: Vec<&Value> =
        ratings["items"].as_array().unwrap().iter().map(|e| &e["data"]["reaction"]).collect();
    assert_eq!(said, [&json!("ok"), &Value::Null]);
    assert_eq!(server.get("/api/v1/topics/feedback-secrets").0, 404);
    assert_eq!(server.get("/api/v1/topics/feedback-events?type=log").0, 422);
}

/// Reads a stream until `count` events have come. Returns their positions and ids.
fn read_stream(server: &Server, path: &str, last: Option<u64>, count: usize) -> Vec<(u64, String)> {
    let mut stream = server.connect();
    let last = last.map_or(String::new(), |last| format!("Last-Event-ID: {last}\r\n"));
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{last}\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let (mut found, mut position) = (Vec::new(), 0);
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap();
        if let Some(id) = line.strip_prefix("id: ") {
            position = id.parse().unwrap();
        } else if let Some(data) = line.strip_prefix("data: ") {
            let event: Value = serde_json::from_str(data).unwrap();
            found.push((position, event["id"].as_str().unwrap().to_owned()));
            if found.len() == count {
                break;
            }
        }
    }
    found
}

#[test]
fn stream_returns_stored_events_then_new_ones() {
    let server = Server::start();
    for n in 0..4 {
        assert_eq!(server.post("/api/v1/feedback", &mixed_event(n)).0, 201);
    }
    let path = "/api/v1/topics/feedback-metrics?after=0";
    assert_eq!(read_stream(&server, path, None, 1), [(2, "e1".to_owned())]);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| read_stream(&server, "/api/v1/events", Some(3), 5));
        for n in 4..8 {
            assert_eq!(server.post("/api/v1/feedback", &mixed_event(n)).0, 201);
        }
        let expected: Vec<(u64, String)> = (3..8).map(|n| (n + 1, format!("e{n}"))).collect();
        assert_eq!(waiting.join().unwrap(), expected);
    });
}

#[test]
fn open_stream_does_not_block_shutdown() {
    let server = Server::start();
    let mut stream = server.connect();
    let head =
        "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    assert_eq!(server.stop().0.code(), Some(0));
}

#[test]
fn stream_ends_when_its_key_is_revoked() {
    let server = Server::start();
    let key = crate::keys::create(&server, &["--tenant", "default", "--role", "read"]);
    let writer = crate::keys::create(&server, &["--tenant", "default", "--role", "ingest"]);
    let mut stream = server.connect();
    let head = format!(
        "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\nConnection: close\r\n\
         Accept: text/event-stream\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("HTTP/1.1 200"));
    let id = key.split('_').nth(1).unwrap();
    let (code, _, _) = crate::server::uptake(server.folder(), &["keys", "revoke", id]);
    assert_eq!(code, Some(0));
    let client = server.client().with_header("X-API-Key", &writer);
    assert_eq!(client.post("/api/v1/feedback", &mixed_event(0)).0, 201);
    assert!(!lines.any(|line| line.unwrap().starts_with("data:")), "it went on");
}

#[test]
fn event_with_only_a_message_id_carries_the_context_of_its_turn() {
    let server = Server::start();
    let profile = json!({"attributes": {"plan": "gold"}});
    assert_eq!(server.client().put("/api/v1/users/u1", &profile).0, 200);
    let asked = json!({"conversation_id": "c1", "turn_id": "t1", "user_id": "u1", "text": "How many?",
        "response": "Seven of them.", "model": "m1", "prompt": {"id": "shop", "version": "3"}});
    assert_eq!(server.post("/api/v1/turns", &asked).0, 201);
    let rating = |id: &str, user: Option<&str>| {
        json!({"id": id, "type": "explicit", "source": "user_rating", "category": "quality",
            "message_id": "t1", "user_id": user, "data": {"rating": "positive"}})
    };
    assert_eq!(server.post("/api/v1/feedback", &rating("e1", None)).0, 201);
    let batch = json!([rating("e2", Some("bob"))]);
    assert_eq!(server.post("/api/v1/feedback/batch", &batch).1["accepted"], 1);
    let check = |server: &Server| {
        let (_, page) = server.get("/api/v1/topics/feedback-ratings");
        let (own, other) = (&page["items"][0], &page["items"][1]);
        assert_eq!((&own["session_id"], &own["user_id"]), (&json!("c1"), &json!("u1")), "{own}");
        assert_eq!(own["data"], json!({"rating": "positive"}), "data stays as sent");
        let context = json!({"model": "m1", "prompt": "shop@3", "profile": {"plan": "gold"}});
        assert_eq!(own["context"], context);
        assert_eq!((&other["session_id"], &other["user_id"]), (&json!("c1"), &json!("bob")));
        assert_eq!(other["context"]["profile"], json!({}), "the profile is not bob's");
        assert_eq!(server.get("/api/v1/feedback/e1").1["context"], context);
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
    assert_eq!(server.client().delete("/api/v1/users/u1").0, 200);
    let (_, page) = server.get("/api/v1/topics/feedback-ratings");
    assert!(!page.to_string().contains("gold"), "{page}");
}
