//! Decisions and their outcomes.

use serde_json::{Value, json};

use crate::server::Server;

#[test]
fn decision_outcome_is_recorded_later_also_after_a_kill() {
    let server = Server::start();
    let body = json!({"decision_id": "d1", "session_id": "c1", "turn_id": "t1",
        "decision_type": "routing", "decision_data": {"tables": ["orders"]}, "confidence": 0.8});
    let (status, made) = server.post("/api/v1/decisions", &body);
    assert_eq!((status, &made), (201, &json!({"decision_id": "d1", "replayed": false})));
    assert_eq!(server.post("/api/v1/decisions", &body).1["replayed"], true);
    let mut other = body.clone();
    other["confidence"] = json!(0.9);
    assert_eq!(server.post("/api/v1/decisions", &other).0, 409);
    let shown = server.get("/api/v1/decisions/d1").1;
    assert_eq!(
        (&shown["outcome"], &shown["decision_type"]),
        (&json!("unknown"), &json!("intent_routing"))
    );
    let server = server.kill_and_restart();
    let outcome = json!({"outcome": "overridden", "outcome_data": {"needed": ["orders", "users"]}});
    assert_eq!(server.client().patch("/api/v1/decisions/d1", &outcome).0, 200);
    assert_eq!(server.client().patch("/api/v1/decisions/d1", &outcome).1["replayed"], true);
    let check = |server: &Server| {
        let shown = server.get("/api/v1/decisions/d1").1;
        assert_eq!(
            (&shown["outcome"], &shown["outcome_data"]),
            (&outcome["outcome"], &outcome["outcome_data"])
        );
        assert_eq!(shown["decision_data"], body["decision_data"]);
        assert_eq!(server.get("/api/v1/decisions?session_id=c1").1["items"], json!([shown]));
    };
    check(&server);
    check(&server.kill_and_restart());
}

#[test]
fn later_outcome_keeps_fields_it_does_not_set() {
    let server = Server::start();
    let made = json!({"decision_id": "d1", "session_id": "c1", "decision_type": "chart_type"});
    assert_eq!(server.post("/api/v1/decisions", &made).0, 201);
    let patch = |server: &Server, body: Value| {
        let (status, answer) = server.client().patch("/api/v1/decisions/d1", &body);
        assert_eq!(status, 200, "{answer}");
        (answer["replayed"] == true, server.get("/api/v1/decisions/d1").1)
    };
    patch(
        &server,
        json!({"outcome": "success", "outcome_data": {"needed": ["orders"], "stars": 3}}),
    );
    let (_, shown) = patch(&server, json!({"outcome": "overridden"}));
    assert_eq!(shown["outcome"], "overridden");
    assert_eq!(shown["outcome_data"], json!({"needed": ["orders"], "stars": 3}));
    let server = server.kill_and_restart();
    let more = json!({"outcome": "overridden", "outcome_data": {"stars": 4, "chart": "bar"}});
    let (_, shown) = patch(&server, more.clone());
    let all = json!({"needed": ["orders"], "stars": 4, "chart": "bar"});
    assert_eq!(shown["outcome_data"], all);
    assert!(patch(&server, more).0, "it is so already");
    assert!(patch(&server, json!({"outcome": "overridden"})).0, "and this says nothing new");
    // Concurrent outcomes are all stored.
    std::thread::scope(|threads| {
        for n in 0..8 {
            let client = server.client();
            threads.spawn(move || {
                let body = json!({"outcome": "success", "outcome_data": {format!("k{n}"): n}});
                assert_eq!(client.patch("/api/v1/decisions/d1", &body).0, 200);
            });
        }
    });
    let shown = server.get("/api/v1/decisions/d1").1;
    assert_eq!(shown["outcome_data"].as_object().unwrap().len(), 3 + 8, "{shown}");
}

#[test]
fn decision_can_be_sent_as_an_event() {
    let server = Server::start();
    let event = |data: Value| {
        json!({"type": "query", "source": "model_response", "category": "accuracy",
            "session_id": "c1", "data": data})
    };
    // The outcome arrives first: SDKs send on separate paths.
    let outcome = event(json!({"decision_id": "d1", "outcome": "success"}));
    assert_eq!(server.post("/api/v1/feedback", &outcome).0, 201);
    assert_eq!(server.get("/api/v1/decisions/d1").0, 404);
    let decision = event(json!({"decision_id": "d1", "decision_type": "sql_generation"}));
    assert_eq!(server.post("/api/v1/feedback", &decision).0, 201);
    assert_eq!(server.get("/api/v1/decisions/d1").1["outcome"], "success");
    let again = json!({"decision_id": "d1", "decision_type": "chart_type"});
    assert_eq!(
        server.post("/api/v1/decisions", &again).0,
        409,
        "an id is used once, whatever the door"
    );
}

#[test]
fn invalid_decisions_are_refused_with_the_field() {
    let server = Server::start();
    let rows = [
        (json!({}), "decision_type"),
        (json!({"decision_type": ""}), "decision_type"),
        (json!({"decision_type": "x", "outcome": "maybe"}), "outcome"),
        (json!({"decision_type": "x", "confidence": 2}), "confidence"),
        (json!({"decision_type": "x", "decision_id": "a\nb"}), "decision_id"),
        (json!({"decision_type": "x", "session_id": ""}), "session_id"),
        (json!({"decision_type": "x", "decision_data": {"a": "\0"}}), "decision_data.a"),
    ];
    for (body, field) in rows {
        let (status, problem) = server.post("/api/v1/decisions", &body);
        assert_eq!((status, problem["field"].as_str()), (422, Some(field)), "{body}: {problem}");
    }
    let unknown =
        server.client().patch("/api/v1/decisions/nothing", &json!({"outcome": "success"}));
    assert_eq!((unknown.0, &unknown.1["pending"]), (202, &json!(true)));
    server.post("/api/v1/decisions", &json!({"decision_id": "d1", "decision_type": "x"}));
    let (status, problem) = server.client().patch("/api/v1/decisions/d1", &json!({"outcome": "?"}));
    assert_eq!((status, problem["field"].as_str()), (422, Some("outcome")));
}

#[test]
fn session_metrics_include_late_outcomes() {
    let server = Server::start();
    for (n, (outcome, confidence)) in [
        ("success", 0.92),
        ("failure", 0.98),
        ("unknown", 0.95),
        ("success", 0.31),
        ("unknown", 0.3),
    ]
    .into_iter()
    .enumerate()
    {
        let decision = json!({"decision_id": format!("d{n}"), "session_id": "s1",
            "decision_type": "table_selection", "outcome": outcome, "confidence": confidence});
        assert_eq!(server.post("/api/v1/decisions", &decision).0, 201);
    }
    let late = json!({"outcome": "accepted", "outcome_data": {"needed": ["orders"]}});
    assert_eq!(server.client().patch("/api/v1/decisions/d2", &late).0, 200);
    let server = server.kill_and_restart();
    let (status, body) = server.get("/api/v1/feedback/decisions/s1");
    assert_eq!(status, 200, "{body}");
    assert_eq!(body["decisions"].as_array().unwrap().len(), 5);
    assert_eq!(body["decisions"][2]["outcome_data"], json!({"needed": ["orders"]}));
    let bins = body["calibration"].as_array().unwrap();
    assert_eq!(bins.len(), 2, "{bins:?}");
    assert_eq!((&bins[0]["n"], &bins[0]["success"]), (&json!(1), &json!(1.0)));
    assert_eq!((&bins[1]["bin"], &bins[1]["n"]), (&json!([0.9, 1.0]), &json!(3)));
    assert!((bins[1]["confidence"].as_f64().unwrap() - 0.95).abs() < 1e-9, "{bins:?}");
    assert!((bins[1]["success"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9, "{bins:?}");
    let missing = server.get("/api/v1/feedback/decisions/nobody").1;
    assert_eq!((&missing["decisions"], &missing["calibration"]), (&json!([]), &json!([])));
}
