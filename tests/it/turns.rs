//! Turns in one or two steps, and feedback that arrives before its turn.

use serde_json::{Value, json};
use testkit::rating_body;

use crate::feedback_calls::{counts, react, turn};
use crate::server::Server;

#[test]
fn turn_sent_in_two_steps_is_complete_after_a_kill() {
    let server = Server::start();
    let (status, opened) = server.post(
        "/api/v1/turns",
        &json!({"text": "Laptops under $1000?", "user_id": "u1", "track_id": "A"}),
    );
    assert_eq!(status, 201, "{opened}");
    let id = opened["turn_id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("turn_1") && opened["conversation_id"].is_string(), "{opened}");
    let half = server.get(&format!("/api/v1/turns/{id}")).1;
    assert_eq!((&half["completed"], &half["assistant"]), (&json!(false), &Value::Null));
    let answer = json!({"response": "These: …", "status": "success", "model": "m1",
        "strategy": {"name": "search", "params": {"q": "laptops"}},
        "prompt": {"id": "shop", "version": "3"}, "validation_outcome": "APPROVE",
        "retrieved": [{"entity_id": "e1", "name": "X1", "rank": 1, "score": 0.8}],
        "started_at": "2026-01-01T00:00:00Z", "completed_at": "2026-01-01T00:00:01.25Z",
        "quality_score": 0.85, "tokens_in": 900, "tokens_out": 120, "cost": 0.0011,
        "accepted": true, "error": null, "latency_ms": null, "decision_id": null,
        "time_to_first_token_ms": 310});
    let path = format!("/api/v1/turns/{id}/complete");
    let completed = server.post(&path, &answer);
    assert_eq!((completed.0, &completed.1["replayed"]), (200, &json!(false)), "{completed:?}");
    assert_eq!(completed.1["signals"]["latency"]["seconds"], 1.25);
    let whole = server.get(&format!("/api/v1/turns/{id}")).1;
    for name in ["response", "model", "strategy", "prompt", "retrieved", "tokens_in", "accepted"] {
        assert_eq!(whole["assistant"][name], answer[name], "{name}");
    }
    assert_eq!(whole["assistant"]["latency_ms"], 1250.0);
    assert_eq!(whole["user"]["text"], "Laptops under $1000?");
    let server = server.kill_and_restart();
    assert_eq!(server.get(&format!("/api/v1/turns/{id}")).1, whole);
    assert_eq!(server.post(&path, &answer).1["replayed"], true);
    assert_eq!(server.post(&path, &json!({"response": "other"})).0, 409);
}

#[test]
fn turn_sent_in_one_call_is_idempotent() {
    let server = Server::start();
    let opening = json!({"turn_id": "t1", "text": "q"});
    let both = json!({"turn_id": "t1", "text": "q", "response": "a"});
    let (status, first) = server.post("/api/v1/turns", &both);
    assert_eq!((status, &first["completed"]["replayed"]), (201, &json!(false)), "{first}");
    let (status, again) = server.post("/api/v1/turns", &both);
    assert_eq!((status, &again["replayed"]), (200, &json!(true)), "{again}");
    assert_eq!(
        again["conversation_id"], first["conversation_id"],
        "the first one's, not a new one"
    );
    assert_eq!(server.post("/api/v1/turns", &opening).0, 200, "the same question");
    let answer = json!({"response": "a"});
    assert_eq!(server.post("/api/v1/turns/t1/complete", &answer).1["replayed"], true);
    let rows = [
        json!({"turn_id": "t1", "text": "another question"}),
        json!({"turn_id": "t1", "text": "q", "response": "another answer"}),
    ];
    for body in rows {
        assert_eq!(server.post("/api/v1/turns", &body).0, 409, "{body}");
    }
    assert_eq!(server.get("/api/v1/events").1["items"].as_array().unwrap().len(), 3);
}

/// The commits of the server so far.
fn commits(server: &Server) -> u64 {
    let Value::String(metrics) = server.get("/metrics").1 else { panic!("not a text") };
    let count = metrics.lines().find_map(|line| line.strip_prefix("uptake_commit_seconds_count "));
    count.unwrap().parse().unwrap()
}

#[test]
fn new_turn_with_its_answer_is_one_commit() {
    let server = Server::start();
    let both = |turn: &str, text: &str| {
        json!({"conversation_id": "c", "turn_id": turn, "user_id": "ann", "text": text,
            "response": "Here are three business laptops.", "latency_ms": 900})
    };
    let before = commits(&server);
    let first = server.post("/api/v1/turns", &both("t1", "Laptops under $1000?"));
    assert_eq!(commits(&server) - before, 1);
    let second = server.post("/api/v1/turns", &both("t2", "No, I meant gaming laptops"));
    assert_eq!(commits(&server) - before, 2);
    assert_eq!((first.0, second.0), (201, 201));
    assert_eq!(second.1["previous"]["status"], "rejected", "{}", second.1);
    assert_eq!(second.1["completed"]["signals"]["latency"]["seconds"], 0.9, "{}", second.1);
    // A turn that is known already takes two: its question is repeated, its answer is new.
    let question = json!({"conversation_id": "c", "turn_id": "t3", "user_id": "ann", "text": "q"});
    assert_eq!(server.post("/api/v1/turns", &question).0, 201);
    let whole = server.post(
        "/api/v1/turns",
        &json!({"conversation_id": "c", "turn_id": "t3",
        "user_id": "ann", "text": "q", "response": "a"}),
    );
    assert_eq!((whole.0, &whole.1["completed"]["replayed"]), (201, &json!(false)), "{}", whole.1);
    let events = server.get("/api/v1/events").1["items"].as_array().unwrap().clone();
    assert!(events.len() >= 8, "{events:?}");
    for event in &events {
        let id = event["id"].as_str().unwrap();
        assert_eq!(server.get(&format!("/api/v1/feedback/{id}")).1["position"], event["position"]);
    }
    let server = server.kill_and_restart();
    let again = server.post("/api/v1/turns", &both("t2", "No, I meant gaming laptops"));
    assert_eq!((again.0, &again.1["previous"]), (200, &second.1["previous"]));
    assert_eq!(again.1["completed"]["signals"], second.1["completed"]["signals"]);
    let other = server.post("/api/v1/turns", &both("t2", "Another question"));
    assert_eq!(other.0, 409, "{}", other.1);
    let half = json!({"response": "Here are three business laptops.", "latency_ms": 900});
    let half = server.post("/api/v1/turns/t1/complete", &half);
    assert_eq!((half.0, &half.1["replayed"]), (200, &json!(true)), "{}", half.1);
}

#[test]
fn question_after_its_answer_is_stored_with_an_idempotency_key() {
    let server = Server::start();
    let quoted = json!({"type": "explicit", "source": "user_rating", "category": "accuracy",
        "message_id": "t1", "data": {"rating": "positive", "query": "q", "response": "a"}});
    assert_eq!(server.post("/api/v1/feedback", &quoted).0, 201);
    assert_eq!(server.post("/api/v1/turns/t1/complete", &json!({"response": "b"})).0, 200);
    let whole = json!({"turn_id": "t1", "text": "the question itself", "response": "b"});
    let client = server.client().with_header("Idempotency-Key", "k");
    assert_eq!(client.post("/api/v1/turns", &whole).0, 201);
    let server = server.kill_and_restart();
    let found = server.get("/api/v1/turns/t1").1;
    assert_eq!(found["user"]["text"], "the question itself", "{found}");
    assert_eq!(found["assistant"]["response"], "b", "{found}");
    let client = server.client().with_header("Idempotency-Key", "k");
    assert_eq!(client.post("/api/v1/turns", &whole).0, 200);
}

#[test]
fn turn_without_an_id_is_replayed_by_its_idempotency_key() {
    let server = Server::start();
    let keyed = server.client().with_header("Idempotency-Key", "k1");
    let body = json!({"text": "q", "response": "a"});
    let first = keyed.post("/api/v1/turns", &body).1;
    let again = keyed.post("/api/v1/turns", &body);
    assert_eq!((again.0, &again.1["turn_id"]), (200, &first["turn_id"]));
    assert_eq!(server.get("/api/v1/events").1["items"].as_array().unwrap().len(), 3);
}

#[test]
fn invalid_turn_is_refused_with_the_field_and_not_stored() {
    let server = Server::start();
    let rows = [
        (json!({}), "text"),
        (json!({"text": 1}), "text"),
        (json!({"text": "q", "turn_id": "a\nb"}), "turn_id"),
        (json!({"text": "q", "conversation_id": "a\nb"}), "conversation_id"),
        (json!({"text": "q", "ts": "soon"}), "ts"),
        (json!({"text": "q", "colour": "red"}), "colour"),
        (json!({"text": "q", "include": ["wishes"]}), "include"),
        (json!({"text": "q", "status": "fine", "response": "a"}), "status"),
        (json!({"text": "q", "model": "m1"}), "response"),
        (json!({"text": "q", "response": "a", "quality_score": 2}), "quality_score"),
        (json!({"text": "q", "response": "a", "strategy": {"title": 1}}), "strategy.title"),
        (json!({"text": "q", "response": "a", "tokens_in": -1}), "tokens_in"),
    ];
    for (body, field) in rows {
        let (status, problem) = server.post("/api/v1/turns", &body);
        assert_eq!((status, problem["field"].as_str()), (422, Some(field)), "{body}: {problem}");
    }
    assert_eq!(server.post("/api/v1/turns/nothing/complete", &json!({"response": "a"})).0, 404);
    assert_eq!(server.get("/api/v1/events").1["items"], json!([]));
}

#[test]
fn rating_before_its_turn_is_attached_to_it() {
    let server = Server::start();
    // One without a conversation, one with the wrong conversation.
    let lost = json!({"type": "explicit", "source": "user_rating", "category": "accuracy",
        "message_id": "t1", "data": {"rating": "negative", "comment": "too slow"}});
    let mut astray = rating_body("t2");
    astray["session_id"] = json!("elsewhere");
    for body in [&lost, &astray] {
        assert_eq!(server.post("/api/v1/feedback", body).0, 201);
    }
    assert_eq!(server.get("/api/v1/turns/t1").0, 404, "the rating does not make the turn");
    assert_eq!(counts(&server, "elsewhere"), [1, 1, 0, 1, 0, 0], "counted where it said it was");
    let server = server.kill_and_restart();
    turn(&server, "c1", "t1");
    turn(&server, "c1", "t2");
    let check = |server: &Server| {
        // And one machine reaction: the question was repeated.
        assert_eq!(counts(server, "c1"), [3, 2, 1, 1, 2, 0]);
        assert_eq!(counts(server, "elsewhere"), [0; 6]);
        let shown = server.get("/api/v1/turns/t1").1;
        let reaction = &shown["reactions"][0];
        assert_eq!(
            (&reaction["reaction"], &reaction["text"]),
            (&json!("not_ok"), &json!("too slow"))
        );
        assert_eq!(reaction["user_id"], "u1", "without a user id it is the turn's user");
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
    react(&server, "c1", "t1", &json!({"reaction": "ok"}));
    assert_eq!(counts(&server, "c1"), [3, 2, 1, 2, 1, 0], "the turn's user replaces it");
}

#[test]
fn later_of_two_early_ratings_of_one_user_wins() {
    let server = Server::start();
    let rating = |user: Option<&str>, rating: &str| {
        json!({"type": "explicit", "source": "user_rating", "category": "accuracy",
            "message_id": "t1", "user_id": user, "data": {"rating": rating}})
    };
    for body in
        [rating(Some("u1"), "positive"), rating(None, "negative"), rating(Some("u2"), "positive")]
    {
        assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
    }
    turn(&server, "c1", "t1");
    assert_eq!(counts(&server, "c1"), [2, 2, 0, 1, 1, 0]);
}

#[test]
fn turn_keeps_question_and_answer_through_later_events() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let click = json!({"type": "implicit", "source": "user_interaction", "category": "quality",
        "message_id": "t1", "data": {"kind": "copy"}});
    let many = Value::Array(vec![click; 1500]);
    assert_eq!(server.post("/api/v1/feedback/batch", &many).1["accepted"], 1500);
    let shown = server.get("/api/v1/turns/t1").1;
    assert_eq!(shown["user"]["text"], "What is the answer?");
    assert_eq!(shown["assistant"]["response"], "42");
}
