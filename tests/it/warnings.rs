//! Requests that are accepted without full effect say so, and refusals name the object.

use serde_json::{Value, json};

use crate::feedback_calls::turn;
use crate::server::Server;

fn rating(turn: &str, session: &str) -> Value {
    json!({"type": "explicit", "source": "user_rating", "category": "quality", "message_id": turn,
        "session_id": session, "data": {"rating": 5}})
}

/// The warning codes of a response.
fn codes(answer: &Value) -> Vec<&str> {
    let warnings = answer["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
    for warning in warnings {
        assert!(warning["field"].is_string() && warning["detail"].is_string(), "{answer}");
    }
    warnings.iter().map(|warning| warning["code"].as_str().unwrap()).collect()
}

fn counter(server: &Server, code: &str) -> u64 {
    let page = server.get("/metrics").1;
    let name = format!("uptake_warnings_total{{code=\"{code}\"}} ");
    let line = page.as_str().unwrap().lines().find_map(|line| line.strip_prefix(&name));
    line.unwrap().parse().unwrap()
}

#[test]
fn decision_id_that_was_not_issued_is_warned_about() {
    let server = Server::start();
    let arms = json!({"arms": [{"id": "m1"}]});
    assert_eq!(server.client().put("/api/v1/routers/chat", &arms).0, 200);
    let route = json!({"router": "chat", "text": "q", "turn_id": "t1"});
    let issued = server.post("/api/v1/route", &route).1["decision_id"].clone();
    let mut tampered = issued.as_str().unwrap().to_owned();
    let last = if tampered.ends_with('0') { "1" } else { "0" };
    tampered.replace_range(tampered.len() - 1.., last);
    let body = |id: &str, decision: &Value| {
        json!({"turn_id": id, "text": "q", "response": "a",
        "model": "m1", "decision_id": decision})
    };
    let good = server.post("/api/v1/turns", &body("t1", &issued)).1;
    assert_eq!(codes(&good), Vec::<&str>::new(), "{good}");
    let bad = server.post("/api/v1/turns", &body("t2", &json!(tampered))).1;
    assert_eq!(codes(&bad), ["unknown_decision"], "{bad}");
    assert_eq!(codes(&bad["completed"]), ["unknown_decision"]);
    assert_eq!(server.post("/api/v1/turns", &json!({"turn_id": "t3", "text": "q"})).0, 201);
    let path = "/api/v1/turns/t3/complete";
    let done = server.post(path, &json!({"response": "a", "decision_id": "made-up"})).1;
    assert_eq!(
        done["warnings"][0]["detail"],
        "decision_id was not issued by this server; no router was credited"
    );
    // A decision of an agent is known.
    let decision = json!({"decision_id": "d1", "decision_type": "x"});
    assert_eq!(server.post("/api/v1/decisions", &decision).0, 201);
    let known = server.post("/api/v1/turns", &body("t4", &json!("d1"))).1;
    assert_eq!(codes(&known), Vec::<&str>::new());
    assert_eq!(counter(&server, "unknown_decision"), 2);
    let server = server.kill_and_restart();
    let issued = server.post("/api/v1/turns", &body("t5", &issued)).1;
    assert_eq!(codes(&issued), Vec::<&str>::new(), "a decision is known after a crash");
    let bad = server.post("/api/v1/turns", &body("t6", &json!(tampered))).1;
    assert_eq!(codes(&bad), ["unknown_decision"], "{bad}");
}

#[test]
fn feedback_on_an_unknown_turn_is_stored_with_a_warning() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let known = server.post("/api/v1/feedback", &rating("t1", "c1")).1;
    assert_eq!(codes(&known), Vec::<&str>::new());
    let (status, unknown) = server.post("/api/v1/feedback", &rating("t2", "c1"));
    assert_eq!((status, codes(&unknown)), (201, vec!["unknown_turn"]), "{unknown}");
    assert_eq!(unknown["warnings"][0]["field"], "message_id");
    let other = server.post("/api/v1/feedback", &rating("t1", "c9")).1;
    assert_eq!(codes(&other), ["other_conversation"]);
    assert!(other["warnings"][0]["detail"].as_str().unwrap().contains("c1"), "{other}");
    let batch = json!([rating("t1", "c1"), rating("t3", "c1"), rating("t4", "c1")]);
    let stored = server.post("/api/v1/feedback/batch", &batch).1;
    assert_eq!((&stored["accepted"], codes(&stored).len()), (&json!(3), 2), "{stored}");
    assert_eq!(
        (&stored["warnings"][0]["index"], &stored["warnings"][1]["index"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(counter(&server, "unknown_turn"), 3);
    let server = server.kill_and_restart();
    turn(&server, "c1", "t2");
    assert_eq!(server.get("/api/v1/turns/t2").1["reactions"][0]["reaction"], "ok");
}

#[test]
fn key_sent_to_a_server_without_keys_is_warned_about() {
    let server = Server::start();
    let client = server.client().with_header("X-API-Key", "uk_nobody_knows");
    let (status, opened) = client.post("/api/v1/turns", &json!({"turn_id": "t1", "text": "q"}));
    assert_eq!((status, codes(&opened)), (201, vec!["unknown_key"]), "{opened}");
    assert_eq!(opened["warnings"][0]["field"], "X-API-Key");
    let read =
        server.client().with_header("Authorization", "Bearer uk_a_b").get("/api/v1/turns/t1").1;
    assert_eq!((codes(&read), &read["turn_id"]), (vec!["unknown_key"], &json!("t1")));
    let both = client.post("/api/v1/turns/t2/feedback", &json!({"stars": 5})).1;
    assert_eq!(codes(&both), ["unknown_turn", "unknown_key"]);
    assert_eq!(counter(&server, "unknown_key"), 3);
    assert_eq!(codes(&server.get("/api/v1/turns/t1").1), Vec::<&str>::new());
    let server = server.kill_and_restart();
    let read = server.client().with_header("X-API-Key", "uk_nobody_knows").get("/api/v1/turns/t1");
    assert_eq!((codes(&read.1), counter(&server, "unknown_key")), (vec!["unknown_key"], 1));
}

#[test]
fn unknown_key_is_counted_and_named_in_a_header_without_a_json_body() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let rows = [
        ("/api/v1/turns", "text/csv", 200),
        ("/api/v1/preferences/export?format=kto", "*/*", 200),
        ("/api/v1/turns/none", "*/*", 404),
    ];
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let get = |path: &str, accept: &str, key: Option<&str>| {
        let mut call = agent.get(format!("{}{path}", server.url)).header("Accept", accept);
        if let Some(key) = key {
            call = call.header("X-API-Key", key);
        }
        let answer = call.call().unwrap();
        let header =
            answer.headers().get("X-Warning").map(|value| value.to_str().unwrap().to_owned());
        (answer.status().as_u16(), header)
    };
    for (path, accept, status) in rows {
        assert_eq!(get(path, accept, None), (status, None), "{path}");
        let warned = get(path, accept, Some("uk_nobody_knows"));
        assert_eq!(warned, (status, Some("unknown_key".to_owned())), "{path}");
    }
    assert_eq!(get("/api/v1/turns/t1", "*/*", Some("uk_nobody_knows")), (200, None), "in the body");
    assert_eq!(counter(&server, "unknown_key"), 4);
}

#[test]
fn turn_id_of_another_conversation_is_refused_with_its_name() {
    let server = Server::start();
    let open = |conversation: &str, scope: &str| {
        let body = json!({"conversation_id": conversation, "turn_id": "1", "text": conversation});
        server.client().with_header("X-Uptake-Project", scope).post("/api/v1/turns", &body)
    };
    assert_eq!(open("a", "default").0, 201);
    let (status, problem) = open("b", "default");
    assert_eq!(status, 409, "{problem}");
    let detail = problem["detail"].as_str().unwrap();
    for part in ["conversation a", "b:1", "generated"] {
        assert!(detail.contains(part), "{detail}");
    }
    assert_eq!(open("b", "other").0, 201, "projects have their own ids");
    let same = server
        .post("/api/v1/turns", &json!({"conversation_id": "a", "turn_id": "1", "text": "x"}))
        .1;
    assert!(same["detail"].as_str().unwrap().contains("used before with another body"), "{same}");
    let server = server.kill_and_restart();
    let body = json!({"conversation_id": "b", "turn_id": "1", "text": "b"});
    assert_eq!(server.post("/api/v1/turns", &body).0, 409);
}

#[test]
fn missing_objects_paths_and_methods_are_named() {
    let server = Server::start();
    let rows = [
        ("/api/v1/turns/t%201/complete", json!({"response": "a"}), "turn t 1"),
        ("/api/v1/turns/t2/review", json!({"status": "accepted"}), "turn t2"),
        (
            "/conversations/default/default/c1/turns/t3/feedback",
            json!({"reaction": "ok"}),
            "turn t3",
        ),
        ("/api/v1/route", json!({"router": "r1", "text": "q"}), "router r1"),
        ("/api/v1/turns", json!({"text": "q", "include": ["route"], "router": "r2"}), "router r2"),
        ("/api/v1/experiments/x1/start", json!({}), "experiment x1"),
        ("/api/v1/experiments/x2/assign", json!({"unit_id": "u"}), "experiment x2"),
        ("/api/v1/dead-letters/l1/replay", json!({}), "dead letter l1"),
        ("/api/v1/nowhere", json!({}), "\"/api/v1/nowhere\" is not a route"),
    ];
    for (path, body, expected) in rows {
        let (status, problem) = server.post(path, &body);
        assert_eq!(status, 404, "{path} {problem}");
        assert!(problem["detail"].as_str().unwrap().contains(expected), "{path} {problem}");
    }
    let server = server.kill_and_restart();
    for (path, expected) in [
        ("/api/v1/turns/t4", "turn t4"),
        ("/api/v1/turns/t5/log", "turn t5"),
        ("/api/v1/routers/r3", "router r3"),
        ("/api/v1/experiments/x3/results", "experiment x3"),
        ("/api/v1/feedback/e1", "event e1"),
        ("/api/v1/decisions/d1", "decision d1"),
    ] {
        let (status, problem) = server.get(path);
        assert_eq!(status, 404, "{path} {problem}");
        assert!(problem["detail"].as_str().unwrap().contains(expected), "{path} {problem}");
    }
    for (path, expected) in [
        ("/api/v1/route", "GET is not supported by \"/api/v1/route\"; send POST"),
        ("/api/v1/feedback", "send POST"),
    ] {
        let (status, problem) = server.get(path);
        assert_eq!(status, 405, "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(expected), "{problem}");
    }
    let (status, problem) = server.client().delete("/api/v1/turns");
    assert_eq!(status, 405);
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("GET") && detail.contains("POST"), "{detail}");
}

#[test]
fn question_history_has_the_model_that_answered() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    assert_eq!(server.post("/api/v1/turns",
        &json!({"conversation_id": "c1", "turn_id": "t2", "user_id": "u1", "text": "And now?"})).0, 201);
    let server = server.kill_and_restart();
    let queries = server.get("/api/v1/users/u1/history").1["queries"].clone();
    let of = |turn: &str| {
        let found = queries.as_array().unwrap().iter().find(|one| one["turn_id"] == turn);
        found.unwrap()["model"].clone()
    };
    assert_eq!((of("t1"), of("t2")), (json!("m1"), Value::Null), "{queries}");
}

#[test]
fn decisions_of_a_session_are_paged_and_calibrated_as_a_whole() {
    let server = Server::start();
    let decision = |number: usize| {
        json!({"id": format!("e{number}"), "type": "query", "source": "model_response",
            "category": "accuracy", "session_id": "s1",
            "data": {"decision_id": format!("d{number}"), "decision_type": "x", "confidence": 0.85,
                "outcome": if number < 500 { "success" } else { "failure" }}})
    };
    let batch: Vec<Value> = (0..1000).map(decision).collect();
    let stored = server.post("/api/v1/feedback/batch", &json!(batch)).1;
    assert_eq!(stored["accepted"], 1000, "{stored}");
    let server = server.kill_and_restart();
    let path = "/api/v1/feedback/decisions/s1";
    let (mut seen, mut after) = (Vec::new(), 0);
    loop {
        let page = server.get(&format!("{path}?after={after}&limit=300")).1;
        let items = page["decisions"].as_array().unwrap();
        seen.extend(items.iter().map(|one| one["decision_id"].as_str().unwrap().to_owned()));
        let bin = &page["calibration"][0];
        assert_eq!((&bin["n"], &bin["success"]), (&json!(1000), &json!(0.5)), "{page}");
        after = page["next"].as_u64().unwrap();
        if page["truncated"] == false {
            break;
        }
    }
    let expected: Vec<String> = (0..1000).map(|number| format!("d{number}")).collect();
    assert_eq!(seen, expected);
}

#[test]
fn abandonment_without_a_turn_is_warned_about() {
    let server = Server::start();
    let left = |session: Option<&str>, turn: Option<&str>| {
        json!({"type": "implicit", "source": "user_interaction", "category": "quality",
            "session_id": session, "message_id": turn, "data": {"kind": "abandonment"}})
    };
    let (status, early) = server.post("/api/v1/feedback", &left(Some("c1"), None));
    assert_eq!((status, codes(&early)), (201, vec!["unknown_session"]), "{early}");
    assert_eq!(early["warnings"][0]["field"], "session_id");
    assert!(early["warnings"][0]["detail"].as_str().unwrap().contains("session c1"), "{early}");
    let nameless = server.post("/api/v1/feedback", &left(None, None)).1;
    assert_eq!(codes(&nameless), ["unknown_session"], "{nameless}");
    // With a turn it joins the turn.
    let waiting = server.post("/api/v1/feedback", &left(Some("c1"), Some("t1"))).1;
    assert_eq!(codes(&waiting), ["unknown_turn"], "{waiting}");
    turn(&server, "c1", "t1");
    assert_eq!(codes(&server.post("/api/v1/feedback", &left(Some("c1"), None)).1), [""; 0]);
    // In a batch the order decides.
    let mut quoted = rating("q1", "c2");
    quoted["data"] = json!({"rating": 5, "query": "How many?", "response": "Seven."});
    let batch = json!([left(Some("c2"), None), quoted, left(Some("c2"), None)]);
    let stored = server.post("/api/v1/feedback/batch", &batch).1;
    assert_eq!((&stored["accepted"], codes(&stored)), (&json!(3), vec!["unknown_session"]));
    assert_eq!(stored["warnings"][0]["index"], 0);
    assert_eq!(counter(&server, "unknown_session"), 3);
    let server = server.kill_and_restart();
    let (_, quality) = server.get("/api/v1/feedback/quality/default");
    assert_eq!(quality["metrics"]["abandonment_rate"]["numerator"], 2.0, "{quality}");
}
