//! Reactions are set, replaced and cleared, and the counts follow, also after a kill.

use serde_json::{Value, json};

use crate::feedback_calls::{counts, react, turn};
use crate::server::Server;

#[test]
fn counts_follow_set_and_cleared_reactions() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let steps: [(Value, [u64; 6]); 7] = [
        (json!({"reaction": "ok", "text": "great"}), [1, 1, 0, 1, 0, 0]),
        (json!({"reaction": "not_ok", "text": "no, wrong"}), [1, 1, 0, 0, 1, 0]),
        (json!({"reaction": "neutral", "user_id": "u2"}), [2, 2, 0, 0, 1, 1]),
        (json!({"reaction": "ok", "origin": "machine", "confidence": 0.8}), [3, 2, 1, 1, 1, 1]),
        (json!({"reaction": "ok", "origin": "machine", "confidence": 0.9}), [4, 2, 2, 2, 1, 1]),
        (json!({"reaction": null}), [3, 1, 2, 2, 0, 1]),
        (json!({"reaction": null}), [3, 1, 2, 2, 0, 1]),
    ];
    let mut server = server;
    for (body, expected) in steps {
        let (status, answer) = react(&server, "c1", "t1", &body);
        assert_eq!((status, &answer["success"]), (200, &json!(true)), "{answer}");
        assert_eq!(answer["cleared"], json!(body["reaction"].is_null()), "{answer}");
        assert_eq!(counts(&server, "c1"), expected, "after {body}");
        server = server.kill_and_restart();
        assert_eq!(counts(&server, "c1"), expected, "after {body} and a crash");
    }
}

#[test]
fn reaction_to_an_unknown_turn_stores_nothing() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let before = server.get("/api/v1/events").1;
    let wrong = [("c1", "t2"), ("c2", "t1"), ("nowhere", "nothing")];
    for (conversation, turn) in wrong {
        let (status, problem) = react(&server, conversation, turn, &json!({"reaction": "ok"}));
        assert_eq!((status, &problem["status"]), (404, &json!(404)), "{conversation} {turn}");
    }
    // Feedback about a turn does not create it.
    let mut rating = testkit::rating_body("t3");
    rating["id"] = json!("early");
    assert_eq!(server.post("/api/v1/feedback", &rating).0, 201);
    assert_eq!(react(&server, "c1", "t3", &json!({"reaction": "ok"})).0, 404);
    let check = |server: &Server| {
        let after = server.get("/api/v1/events").1;
        let positions = |page: &Value| page["items"].as_array().unwrap().len();
        assert_eq!(positions(&after), positions(&before) + 1, "only the rating was added");
        assert_eq!(counts(server, "c2"), [0; 6]);
        assert_eq!(server.get("/api/v1/turns/t2").0, 404);
    };
    check(&server);
    check(&server.kill_and_restart());
}

#[test]
fn repeated_reaction_changes_nothing() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let body = json!({"reaction": "ok", "text": "great"});
    let first = react(&server, "c1", "t1", &body).1;
    let again = react(&server, "c1", "t1", &body).1;
    assert_eq!(first["rn"], again["rn"], "{again}");
    let rn = first["rn"].as_str().unwrap();
    let start = "ef:default:default:chatbot:message:u1:c1:t1:artifact:artifact-20";
    assert!(rn.starts_with(start), "{rn}");
    let log = server.get("/api/v1/events?source=reaction").1;
    assert_eq!(log["items"].as_array().unwrap().len(), 1, "{log}");
    let other_words = json!({"reaction": "ok", "text": "great!"});
    assert_ne!(react(&server, "c1", "t1", &other_words).1["rn"], first["rn"]);
}

#[test]
fn idempotency_key_applies_to_reactions() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let path = "/conversations/default/default/c1/turns/t1/feedback";
    let keyed = server.client().with_header("Idempotency-Key", "k1");
    let machine = json!({"reaction": "ok", "origin": "machine", "confidence": 0.9});
    let first = keyed.post(path, &machine);
    assert_eq!(keyed.post(path, &machine).1["rn"], first.1["rn"]);
    assert_eq!(counts(&server, "c1"), [1, 0, 1, 1, 0, 0]);
    assert_eq!(keyed.post(path, &json!({"reaction": "ok"})).0, 409);
    // A key used for a request without effect is used up too.
    let keyed = server.client().with_header("Idempotency-Key", "k2");
    assert_eq!(keyed.post(path, &json!({"reaction": null})).0, 200);
    assert_eq!(keyed.post(path, &json!({"reaction": null})).0, 200);
    assert_eq!(keyed.post(path, &json!({"reaction": "ok"})).0, 409);
    let server = server.kill_and_restart();
    let keyed = server.client().with_header("Idempotency-Key", "k1");
    assert_eq!(keyed.post(path, &machine).1["rn"], first.1["rn"]);
    assert_eq!(counts(&server, "c1"), [1, 0, 1, 1, 0, 0]);
}

#[test]
fn invalid_reaction_is_refused_with_the_valid_values() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let rows = [
        (json!({"reaction": "great"}), 400, "reaction"),
        (json!({"reaction": 1}), 400, "reaction"),
        (json!({}), 400, "reaction"),
        (json!({"reaction": null, "origin": "machine", "confidence": 0.9}), 400, "reaction"),
        (json!({"reaction": "ok", "origin": "robot"}), 422, "origin"),
        (json!({"reaction": "ok", "origin": "machine"}), 422, "confidence"),
        (json!({"reaction": "ok", "confidence": 0.5}), 422, "confidence"),
        (json!({"reaction": "ok", "text": "x".repeat(1001)}), 422, "text"),
        (json!({"reaction": "ok", "text": "a\0b"}), 422, "text"),
        (json!({"reaction": "ok", "ts": "2999-01-01T00:00:00Z"}), 422, "ts"),
        (json!({"reaction": "ok", "user_id": "a\nb"}), 422, "user_id"),
        (json!({"reaction": "ok", "colour": "red"}), 422, "colour"),
    ];
    for (body, status, field) in rows {
        let (got, problem) = react(&server, "c1", "t1", &body);
        assert_eq!((got, problem["field"].as_str()), (status, Some(field)), "{body}: {problem}");
    }
    let great = react(&server, "c1", "t1", &json!({"reaction": "great"})).1;
    assert!(great["detail"].as_str().unwrap().contains("ok, not_ok or neutral"), "{great}");
    let unsure = json!({"reaction": "ok", "origin": "machine", "confidence": 0.69});
    let (status, skipped) = react(&server, "c1", "t1", &unsure);
    assert_eq!((status, &skipped["success"]), (202, &json!(false)), "{skipped}");
    assert_eq!(counts(&server, "c1"), [0; 6]);
    assert_eq!(react(&server, "c%2F1", "t1", &json!({"reaction": "ok"})).0, 404);
}

#[test]
fn rating_event_counts_as_a_reaction() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let rows = [
        (json!({"rating": "positive"}), [1, 1, 0, 1, 0, 0]),
        (json!({"rating": 3}), [1, 1, 0, 0, 0, 1]),
        (json!({"score": 0.1}), [1, 1, 0, 0, 1, 0]),
    ];
    for (data, expected) in rows {
        let mut body = testkit::rating_body("t1");
        body["data"] = data;
        assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
        assert_eq!(counts(&server, "c1"), expected, "{body}");
    }
    assert_eq!(react(&server, "c1", "t1", &json!({"reaction": "ok"})).0, 200);
    assert_eq!(counts(&server, "c1"), [1, 1, 0, 1, 0, 0], "one user, one reaction");
}

#[test]
fn other_tenants_cannot_read_or_react_to_a_turn() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    react(&server, "c1", "t1", &json!({"reaction": "ok", "text": "secret"}));
    let path = |tenant: &str| format!("/conversations/{tenant}/default/c1/turns/t1/feedback");
    assert_eq!(server.post(&path("other"), &json!({"reaction": "not_ok"})).0, 404);
    let acme = server.client().with_header("X-Uptake-Tenant", "acme");
    assert_eq!(acme.post(&path("default"), &json!({"reaction": "not_ok"})).0, 403);
    assert_eq!(acme.get("/api/v1/turns/t1").0, 404);
    let (_, page) = server.get("/conversations/other/default/c1/turns-with-feedbacks");
    assert_eq!(page["turns"], json!([]));
    let (_, page) = server.get("/conversations/other/default/feedback/conversations-in-period");
    assert_eq!(page["items"], json!([]));
    let search = json!({"kinds": ["artifact:turn.log.reaction"], "scope": "project"});
    assert_eq!(acme.post("/api/v1/artifacts/search", &search).1["items"], json!([]));
    assert_eq!(counts(&server, "c1"), [1, 1, 0, 1, 0, 0]);
}

#[test]
fn anonymous_reactions_share_one_user() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    react(&server, "c1", "t1", &json!({"reaction": "ok"}));
    react(&server, "c1", "t1", &json!({"reaction": "not_ok", "user_id": "anonymous"}));
    assert_eq!(counts(&server, "c1"), [2, 2, 0, 1, 1, 0], "one thumb must not erase another's");
    // Without a user id, all reactions belong to the same anonymous user.
    assert_eq!(
        server
            .post("/api/v1/turns", &json!({"turn_id": "t2", "conversation_id": "c2", "text": "q"}))
            .0,
        201
    );
    react(&server, "c2", "t2", &json!({"reaction": "ok"}));
    react(&server, "c2", "t2", &json!({"reaction": "neutral", "user_id": "anonymous"}));
    assert_eq!(counts(&server, "c2"), [1, 1, 0, 0, 0, 1]);
    let path = "/conversations/default/default/feedback/conversations-in-period";
    let found = server.get(&format!("{path}?user_id=anonymous")).1;
    assert_eq!(found["items"].as_array().unwrap().len(), 2, "{found}");
}

#[test]
fn turn_listed_twice_in_a_request_counts_once() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    react(&server, "c1", "t1", &json!({"reaction": "ok"}));
    let path = "/conversations/default/default/c1/turns-with-feedbacks?turn_ids=t1,t1";
    let found = server.get(path).1;
    assert_eq!(found["feedback_counts"]["total"], 1, "{found}");
    assert_eq!(found["turns"].as_array().unwrap().len(), 1);
    assert_eq!(found["satisfaction"]["rate"], 1.0);
}

#[test]
fn concurrent_reactions_leave_one_per_user() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    server.post("/api/v1/decisions", &json!({"decision_id": "d1", "decision_type": "x"}));
    let client = server.client();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let client = client.clone();
            scope.spawn(move || {
                let path = crate::feedback_calls::react_path("c1", "t1");
                for word in ["ok", "not_ok", "neutral"] {
                    let body = json!({"reaction": word, "user_id": format!("u{}", n % 3)});
                    assert_eq!(client.post(&path, &body).0, 200);
                }
                let outcome = json!({"outcome": "success"});
                assert_eq!(client.patch("/api/v1/decisions/d1", &outcome).0, 200);
            });
        }
    });
    assert_eq!(counts(&server, "c1")[..2], [3, 3]);
    let outcomes = server.get("/api/v1/events?source=model_response").1;
    assert_eq!(outcomes["items"].as_array().unwrap().len(), 2, "decided once, settled once");
}
