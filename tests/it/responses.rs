//! Whole responses of the main routes, as snapshots. A snapshot that changes is a change of the API.
//!
//! Ids that the server makes, times, detector versions and the random parts of names are replaced by
//! placeholders.
//! `INSTA_UPDATE=always cargo test --test it responses` writes the snapshots anew.

use serde_json::{Value, json};

use crate::feedback_calls::react;
use crate::server::{Answer, Server};

/// Fields whose values differ between two runs.
const VOLATILE: [&str; 14] = [
    "detector",
    "id",
    "event_id",
    "ts",
    "timestamp",
    "received_at",
    "asked_at",
    "answered_at",
    "made_at",
    "settled_at",
    "created_at",
    "request_id",
    "next_cursor",
    "decision_id",
];

fn mask(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_given = value.as_str().is_some_and(|text| text.len() < 4);
                if VOLATILE.contains(&name.as_str()) && value.is_string() && !is_given {
                    *value = json!(format!("<{name}>"));
                } else {
                    mask(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::String(text) => mask_text(text),
        // Two decimals: a model may be fitted anew.
        Value::Number(number) if number.is_f64() => {
            *value = json!((number.as_f64().unwrap() * 100.0).round() / 100.0);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Replaces the artifact id in a resource name, and the times in a rendered log.
fn mask_text(text: &mut String) {
    if let Some((start, _)) = text.split_once("artifact-") {
        *text = format!("{start}artifact-<id>");
    }
    if text.starts_with("[turn.log") {
        let lines = text.lines().map(|line| match line.split_once("] ") {
            Some((stamp, rest)) if stamp.starts_with("[2") => format!("[<ts>] {rest}"),
            Some(_) | None => line.to_owned(),
        });
        *text = lines.collect::<Vec<_>>().join("\n");
    }
}

#[track_caller]
fn masked((status, mut body): Answer) -> Value {
    mask(&mut body);
    json!({"status": status, "body": body})
}

/// A conversation with an answer that is rejected in the next message and rated.
fn conversation(server: &Server) -> [Value; 2] {
    let first = json!({"conversation_id": "c1", "turn_id": "t1", "user_id": "u1",
        "text": "Which laptops do you have?", "response": "We have office laptops.", "model": "m1",
        "latency_ms": 1200, "tokens_in": 20, "tokens_out": 30,
        "retrieved": [{"entity_id": "doc-1", "content": "office laptops", "rank": 1}]});
    let second = json!({"conversation_id": "c1", "turn_id": "t2", "user_id": "u1",
        "text": "No, that is wrong, I meant gaming laptops", "include": ["context"]});
    let answers = [first, second].map(|turn| masked(server.post("/api/v1/turns", &turn)));
    let given = json!({"reaction": "not_ok", "text": "the wrong kind"});
    assert_eq!(react(server, "c1", "t1", &given).0, 200);
    answers
}

#[test]
fn turn_responses_are_as_recorded() {
    let server = Server::start();
    let [first, second] = conversation(&server);
    insta::assert_json_snapshot!("turn_with_answer", first);
    insta::assert_json_snapshot!("turn_that_rejects", second);
    insta::assert_json_snapshot!("turn_log", masked(server.get("/api/v1/turns/t1/log")));
    let report = "/conversations/default/default/c1/turns-with-feedbacks";
    insta::assert_json_snapshot!("conversation_report", masked(server.get(report)));
    insta::assert_json_snapshot!("events", masked(server.get("/api/v1/events?limit=20")));
}

#[test]
fn decision_and_error_responses_are_as_recorded() {
    let server = Server::start();
    let made = json!({"decision_id": "d1", "session_id": "c1", "decision_type": "sql_generation",
        "decision_data": {"sql": "SELECT 1"}, "confidence": 0.8});
    insta::assert_json_snapshot!("decision_made", masked(server.post("/api/v1/decisions", &made)));
    let outcome = json!({"outcome": "success", "outcome_data": {"rows": 1}});
    let settled = server.client().patch("/api/v1/decisions/d1", &outcome);
    insta::assert_json_snapshot!("decision_settled", masked(settled));
    insta::assert_json_snapshot!("decision", masked(server.get("/api/v1/decisions/d1")));
    let bad = json!({"type": "explicit", "source": "user_rating", "category": "accuracy",
        "data": {"rating": 9}});
    insta::assert_json_snapshot!("invalid_rating", masked(server.post("/api/v1/events", &bad)));
    insta::assert_json_snapshot!("unknown_turn", masked(server.get("/api/v1/turns/none/log")));
}
