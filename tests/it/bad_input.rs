//! Invalid requests get a 4xx that names the problem; nothing is stored and the server continues.

use serde_json::{Value, json};
use testkit::rating_body;

use crate::server::Server;

#[test]
fn invalid_fields_are_named_and_nothing_is_stored() {
    let server = Server::start();
    let with = |name: &str, value: Value| {
        let mut body = rating_body("t1");
        body[name] = value;
        body
    };
    let rows = [
        (with("type", json!("nonsense")), "type"),
        (with("type", json!(1)), "type"),
        (with("source", json!(null)), "source"),
        (with("category", json!([])), "category"),
        (with("severity", json!("awful")), "severity"),
        (with("id", json!("a\nb")), "id"),
        (with("user_id", json!("a\tb")), "user_id"),
        (with("session_id", json!("")), "session_id"),
        (with("message_id", json!("x".repeat(201))), "message_id"),
        (with("tenant_id", json!("a:b")), "tenant_id"),
        (with("timestamp", json!("9999-12-31T23:59:59Z")), "timestamp"),
        (with("timestamp", json!("0001-01-01T00:00:00Z")), "timestamp"),
        (with("timestamp", json!(1_700_000)), "timestamp"),
        (with("timestamp", json!(true)), "timestamp"),
        (with("data", json!("text")), "data"),
        (with("data", json!({"rating": 6})), "data.rating"),
        (with("data", json!({"rating": 1, "note": "a\0b"})), "data.note"),
        (with("data", json!({"rating": 1, "comment": 5})), "data.comment"),
        (with("data", json!({"rating": 1, "text": true})), "data.text"),
        (with("tags", json!([1])), "tags[0]"),
        (with("colour", json!("red")), "colour"),
        (json!({"type": "log", "source": "trace"}), "category"),
        (json!([]), "body"),
    ];
    for (body, field) in rows {
        let (status, problem) = server.post("/api/v1/feedback", &body);
        assert_eq!((status, problem["field"].as_str()), (422, Some(field)), "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(field), "{problem}");
        assert!(problem["request_id"].is_string(), "{problem}");
    }
    assert_eq!(server.get("/api/v1/events").1["items"], json!([]));
    assert_eq!(server.post("/api/v1/feedback", &rating_body("t1")).0, 201);
}

#[test]
fn bodies_that_are_not_json_are_refused_with_the_reason() {
    let server = Server::start();
    let client = server.client();
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let large = format!("{{\"a\": \"{}\"}}", "x".repeat(1 << 20));
    let rows: [(&str, &[u8], u16); 8] = [
        ("application/json", b"{\"type\": ", 400),
        ("application/json", b"", 400),
        ("application/json", b"{'a': 1}", 400),
        ("application/json", b"{\"a\": \"\xff\xfe\"}", 400),
        ("application/json", deep.as_bytes(), 422),
        ("application/json", large.as_bytes(), 413),
        ("text/plain", b"{}", 415),
        ("", b"{}", 415),
    ];
    for (media, body, expected) in rows {
        let (status, problem) = client.send("/api/v1/feedback", media, body).unwrap();
        let shown = String::from_utf8_lossy(&body[..body.len().min(20)]).into_owned();
        assert_eq!((status, &problem["status"]), (expected, &json!(expected)), "{shown}");
    }
    assert_eq!(server.get("/api/v1/events").1["items"], json!([]));
}

#[test]
fn unknown_routes_methods_and_parameters_get_distinct_errors() {
    let server = Server::start();
    let rows = [
        ("/nowhere", 404),
        ("/api/v1/feedback/unknown", 404),
        ("/api/v1/feedback/%ff", 404),
        ("/api/v1/feedback", 405),
        ("/api/v1/events?limit=0", 422),
        ("/api/v1/events?limit=1001", 422),
        ("/api/v1/events?after=-1", 422),
        ("/api/v1/events?after=18446744073709551615", 422),
        ("/api/v1/events?type=nonsense", 422),
        ("/api/v1/events?colour=red", 422),
    ];
    for (path, expected) in rows {
        let (status, problem) = server.get(path);
        assert_eq!((status, &problem["status"]), (expected, &json!(expected)), "{path}: {problem}");
    }
}

#[test]
fn oversized_or_malformed_batches_are_refused_as_a_whole() {
    let server = Server::start();
    let many = Value::Array(vec![json!({}); 10_001]);
    assert_eq!(server.post("/api/v1/feedback/batch", &many).0, 413);
    assert_eq!(server.post("/api/v1/feedback/batch", &json!({})).0, 422);
}
