//! Idempotency: a request sent twice is stored once.

use serde_json::{Value, json};
use testkit::rating_body;

use crate::server::Server;

fn rating_with_id(id: &str, turn: &str) -> Value {
    let mut body = rating_body(turn);
    body["id"] = json!(id);
    body
}

#[test]
fn replay_gets_the_first_response_and_another_body_is_refused() {
    let server = Server::start();
    assert_eq!(server.post("/api/v1/feedback", &rating_with_id("e1", "t1")).0, 201);
    let server = server.kill_and_restart();
    let again = server.post("/api/v1/feedback", &rating_with_id("e1", "t1"));
    assert_eq!((again.0, &again.1["id"], &again.1["replayed"]), (200, &json!("e1"), &json!(true)));
    assert_eq!(again.1["warnings"][0]["code"], "unknown_turn", "the first response has it, too");
    let (status, problem) = server.post("/api/v1/feedback", &rating_with_id("e1", "t2"));
    assert_eq!((status, &problem["type"]), (409, &json!("urn:uptake:problem:conflict")));
    assert_eq!(server.get("/api/v1/events").1["next"], 1);
}

#[test]
fn idempotency_key_replays_without_an_id() {
    let server = Server::start();
    let keyed = server.client().with_header("Idempotency-Key", "k1");
    let (first, receipt) = keyed.post("/api/v1/feedback", &rating_body("t1"));
    let again = keyed.post("/api/v1/feedback", &rating_body("t1"));
    assert_eq!((first, &again.1["id"]), (201, &receipt["id"]));
    assert_eq!((again.0, &again.1["replayed"]), (200, &json!(true)));
    assert_eq!(keyed.post("/api/v1/feedback", &rating_body("t2")).0, 409);
    assert_eq!(server.get("/api/v1/events").1["next"], 1);
}

#[test]
fn replayed_batch_is_stored_once_across_a_kill() {
    let server = Server::start();
    let batch: Vec<Value> = (0..2500).map(|n| rating_with_id(&format!("e{n}"), "t1")).collect();
    let batch = Value::Array(batch);
    let (status, first) = server.post("/api/v1/feedback/batch", &batch);
    assert_eq!((status, &first["accepted"], &first["errors"]), (200, &json!(2500), &json!([])));
    let server = server.kill_and_restart();
    let (status, second) = server.post("/api/v1/feedback/batch", &batch);
    assert_eq!((status, &second["accepted"], &second["replayed"]), (200, &json!(0), &json!(2500)));
    assert_eq!(server.get("/api/v1/events?after=2500").1["items"], json!([]));
    assert_eq!(
        server.post("/api/v1/feedback", &rating_with_id("e7", "t1")).0,
        200,
        "alone it is a repeat"
    );
}

#[test]
fn batch_without_ids_is_replayed_by_its_key() {
    let server = Server::start();
    let keyed = server.client().with_header("Idempotency-Key", "b1");
    let batch = json!([rating_body("t1"), rating_body("t1")]);
    assert_eq!(keyed.post("/api/v1/feedback/batch", &batch).1["accepted"], 2);
    assert_eq!(keyed.post("/api/v1/feedback/batch", &batch).1["replayed"], 2);
    assert_eq!(server.get("/api/v1/events").1["next"], 2);
}

#[test]
fn one_invalid_item_does_not_fail_the_batch() {
    let server = Server::start();
    let lines = [
        rating_with_id("a", "t1").to_string(),
        "{not json".to_owned(),
        json!({"type": "explicit"}).to_string(),
        String::new(),
        rating_with_id("a", "t2").to_string(),
        rating_with_id("b", "t1").to_string(),
    ];
    let body = lines.join("\n");
    let client = server.client();
    let (status, answer) =
        client.send("/api/v1/feedback/batch", "application/x-ndjson", body.as_bytes()).unwrap();
    assert_eq!(status, 207);
    let counts = ["accepted", "replayed", "rejected"].map(|name| answer[name].as_u64().unwrap());
    assert_eq!(counts, [2, 0, 3]);
    let errors: Vec<_> = answer["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["index"].as_u64().unwrap(), error["field"].as_str()))
        .collect();
    assert_eq!(errors, [(1, None), (2, Some("source")), (3, None)]);
}

#[test]
fn idempotency_key_is_bound_to_one_request() {
    let server = Server::start();
    let keyed = |key: &str| server.client().with_header("Idempotency-Key", key);
    let event = |id: &str| {
        let mut body = rating_body("t1");
        body["id"] = json!(id);
        body
    };
    // A replay recognised by its id uses up its key too.
    assert_eq!(server.post("/api/v1/feedback", &event("e1")).0, 201);
    assert_eq!(keyed("k1").post("/api/v1/feedback", &event("e1")).0, 200);
    assert_eq!(keyed("k1").post("/api/v1/feedback", &event("e9")).0, 409);
    // The same answer to another turn is another request.
    for turn in ["t1", "t2"] {
        assert_eq!(server.post("/api/v1/turns", &json!({"turn_id": turn, "text": "q"})).0, 201);
    }
    let answer = json!({"response": "a"});
    assert_eq!(keyed("k2").post("/api/v1/turns/t1/complete", &answer).0, 200);
    assert_eq!(keyed("k2").post("/api/v1/turns/t2/complete", &answer).0, 409);
    assert_eq!(server.get("/api/v1/turns/t2").1["completed"], false);
    // A question with an answer is not the same request as the question alone.
    assert_eq!(keyed("k3").post("/api/v1/turns", &json!({"text": "q"})).0, 201);
    assert_eq!(keyed("k3").post("/api/v1/turns", &json!({"text": "q", "response": "a"})).0, 409);
    // A longer batch is another batch, and none of it is stored.
    let metric = json!({"type": "metric", "source": "trace", "category": "cost"});
    let batch = |n: usize| Value::Array(vec![metric.clone(); n]);
    assert_eq!(keyed("k4").post("/api/v1/feedback/batch", &batch(2)).1["accepted"], 2);
    assert_eq!(keyed("k4").post("/api/v1/feedback/batch", &batch(3)).0, 409);
    assert_eq!(keyed("k4").post("/api/v1/feedback/batch", &batch(2)).1["replayed"], 2);
    let stored = server.get("/api/v1/events?type=metric").1;
    assert_eq!(stored["items"].as_array().unwrap().len(), 2);
}

#[test]
fn repeat_under_other_field_names_is_a_replay() {
    let server = Server::start();
    assert_eq!(server.post("/api/v1/turns", &json!({"turn_id": "t1", "text": "q"})).0, 201);
    let rows = [
        (
            "/api/v1/decisions",
            json!({"decision_id": "d1", "session_id": "c1", "decision_type": "routing"}),
            json!({"decisionId": "d1", "conversation_id": "c1", "decisionType": "routing"}),
        ),
        (
            "/api/v1/turns/t1/complete",
            json!({"response": "a", "model": "m1"}),
            json!({"response_text": "a", "modelId": "m1"}),
        ),
        (
            "/api/v1/turns/t1/feedback",
            json!({"comment": "good", "user_id": "ann"}),
            json!({"text": "good", "userId": "ann"}),
        ),
        (
            "/api/v1/rewards",
            json!({"turn_id": "t1", "user_rating": 5}),
            json!({"query_id": "t1", "userRating": 5}),
        ),
    ];
    let send = |server: &Server, path: &str, body: &Value| {
        server.client().with_header("Idempotency-Key", &path.replace('/', ".")).post(path, body)
    };
    for (path, body, _) in &rows {
        let (status, stored) = send(&server, path, body);
        assert!(matches!(status, 200 | 201), "{path} {stored}");
    }
    let server = server.kill_and_restart();
    let head = server.get("/health/ready").1["position"].clone();
    for (path, _, renamed) in &rows {
        let (status, repeated) = send(&server, path, renamed);
        assert_eq!(status, 200, "{path} {repeated}");
        let mut other = renamed.clone();
        other["user_id"] = json!("eve");
        assert!(matches!(send(&server, path, &other).0, 409 | 422), "{path}");
    }
    // The id alone, without a key.
    assert_eq!(server.post(rows[0].0, &rows[0].2).1["replayed"], true);
    assert_eq!(server.get("/health/ready").1["position"], head, "nothing was stored");
}
