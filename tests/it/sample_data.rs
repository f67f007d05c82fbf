//! Fills a store with every kind of data, and reads every view of it.

use serde_json::{Value, json};
use testkit::rating_body;

use crate::experiments::experiment_calls;
use crate::feedback_calls::{react, turn};
use crate::server::{Client, Server};

const UUID: &str = "018f2f9e-7e6d-7c3a-9b1d-0123456789ab";

/// Sends one of every kind of data.
pub(crate) fn fill_store(server: &Server) {
    let client = server.client();
    let arms = json!({"arms": [{"id": "small"}, {"id": "large"}], "seed": 7});
    assert_eq!(client.put("/api/v1/routers/chat", &arms).0, 200);
    experiment_calls::run(&client, "x", "satisfaction", &json!({}));
    for n in 0..30 {
        let (user, id) = (format!("u{}", n % 5), format!("t{n}"));
        experiment_calls::assign(&client, "x", &user);
        let body = json!({"turn_id": id, "conversation_id": format!("c{}", n % 4),
            "user_id": user, "text": format!("What is the sum of order {n}?"),
            "include": ["route"], "router": "chat"});
        let (status, opened) = client.post("/api/v1/turns", &body);
        assert_eq!(status, 201, "{opened}");
        let done = json!({"response": format!("It is {n}."), "model": opened["route"]["arm"],
            "retrieved": [{"entity_id": "e1", "content": "orders"}]});
        assert_eq!(client.post(&format!("/api/v1/turns/{id}/complete"), &done).0, 200);
        let said = if n % 3 == 0 { "not_ok" } else { "ok" };
        react(server, &format!("c{}", n % 4), &id, &json!({"reaction": said, "text": "words"}));
    }
    turn(server, "c-uuid", UUID);
    let mut rating = rating_body(UUID);
    rating["id"] = json!("018f2f9e-7e6d-7c3a-9b1d-00000000000f");
    assert_eq!(client.post("/api/v1/feedback", &rating).0, 201);
    let decision = json!({"decision_id": "d1", "session_id": "c1", "turn_id": "t1",
        "decision_type": "routing", "decision_data": {"tables": ["orders"]}, "confidence": 0.8});
    assert_eq!(client.post("/api/v1/decisions", &decision).0, 201);
    let profile = json!({"attributes": {"plan": "pro"}});
    assert_eq!(client.put("/api/v1/users/u1", &profile).0, 200);
    assert_eq!(client.delete("/api/v1/users/u2").0, 200);
}

const QUESTIONS: [&str; 21] = [
    "/api/v1/events?limit=500",
    "/api/v1/turns/t1",
    "/api/v1/turns/t2",
    "/api/v1/turns/t1/log",
    "/api/v1/turns/018f2f9e-7e6d-7c3a-9b1d-0123456789ab",
    "/api/v1/feedback/018f2f9e-7e6d-7c3a-9b1d-00000000000f",
    "/api/v1/conversations/c1",
    "/api/v1/decisions?session_id=c1",
    "/api/v1/users/u1",
    "/api/v1/users/u2",
    "/api/v1/users/u1/history",
    "/api/v1/routers",
    "/api/v1/routers/chat",
    "/api/v1/experiments/x",
    "/api/v1/experiments/x/results",
    "/api/v1/retrieval/entities/e1/stats",
    "/api/v1/calibration",
    "/api/v1/topics/feedback-events",
    "/api/v1/keys",
    "/conversations/default/default/feedback/conversations-in-period?include_turns=true",
    "/conversations/default/default/c1/turns-with-feedbacks",
];

/// The response of every read endpoint, without timestamps of the request.
pub(crate) fn read_every_view(client: &Client) -> Vec<(&'static str, u16, Value)> {
    let ask = |path: &'static str| {
        let (status, mut body) = client.get(path);
        assert_eq!(status, if path.ends_with("/u2") { 404 } else { 200 }, "{path}: {body}");
        for moment in ["request_id", "window"] {
            body.as_object_mut().unwrap().remove(moment);
        }
        (path, status, body)
    };
    QUESTIONS.into_iter().map(ask).collect()
}
