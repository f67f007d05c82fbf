//! Times, ids and field names are accepted in every form that clients send.

use model::AliasedRequests;
use serde_json::{Value, json};

use crate::experiments::experiment_calls::until;
use crate::server::{Server, uptake};

/// The same time in every accepted form, and the stored text.
const TIME: &str = "2025-11-06T17:47:02.162904Z";

fn time_forms() -> [Value; 6] {
    [
        json!(TIME),
        json!("2025-11-06T18:47:02.162904+01:00"),
        json!("2025-11-06T17:47:02.162904"),
        json!("2025-11-06 17:47:02.162904"),
        json!(1_762_451_222.162_904),
        json!(1_762_451_222_162.904),
    ]
}

fn encode(id: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    id.bytes().map(byte).collect()
}

/// Sends a time in the body and, encoded, in the query of the endpoints that have no check of their
/// own in the test below.
fn check_other_endpoints(server: &Server, number: usize, time: &Value, encoded: &str) {
    let turn = format!("late{number}");
    let opened = json!({"turn_id": turn, "conversation_id": "late", "text": "q", "ts": TIME});
    assert_eq!(server.post("/api/v1/turns", &opened).0, 201);
    let done = json!({"response": "a", "started_at": time, "completed_at": time});
    let (status, answer) = server.post(&format!("/api/v1/turns/{turn}/complete"), &done);
    assert_eq!(status, 200, "{time} {answer}");
    let event = |id: String| {
        json!({"id": id, "type": "explicit", "source": "user_comment", "category": "quality",
            "timestamp": time, "data": {"comment": "fine"}})
    };
    let batch = json!([event(format!("batch{number}"))]);
    assert_eq!(server.post("/api/v1/feedback/batch", &batch).1["accepted"], 1, "{time}");
    assert_eq!(server.get(&format!("/api/v1/feedback/batch{number}")).1["timestamp"], TIME);
    let correction = json!({"id": format!("fix{number}"), "message_id": turn, "timestamp": time,
        "data": {"corrected": "b"}});
    let (status, answer) = server.post("/api/v1/feedback/correction", &correction);
    assert_eq!(status, 201, "{time} {answer}");
    assert_eq!(server.get(&format!("/api/v1/feedback/fix{number}")).1["timestamp"], TIME);
    for path in [
        format!("/api/v1/feedback/quality/default?start={encoded}&end={encoded}"),
        format!("/api/v1/preferences/export?format=kto&since={encoded}&until={encoded}"),
        format!("/api/v1/turns?from={encoded}&to={encoded}"),
        format!("/api/v1/conversations?from={encoded}&to={encoded}"),
    ] {
        let (status, answer) = server.get(&path);
        assert_eq!(status, 200, "{path} {answer}");
    }
    let arms = json!({"arms": [{"id": "a"}]});
    assert_eq!(server.client().put("/api/v1/routers/times", &arms).0, 200);
    let policy = json!({"router": "times", "policy": {"kind": "fixed", "arm": "a"}, "since": time});
    let (status, answer) = server.post("/api/v1/policies/evaluate", &policy);
    assert_eq!(status, 200, "{time} {answer}");
}

#[test]
fn every_form_of_a_time_is_accepted_by_every_endpoint() {
    let server = Server::start();
    for (number, time) in time_forms().iter().enumerate() {
        let (turn, event) = (format!("t{number}"), format!("e{number}"));
        let body = json!({"turn_id": turn, "conversation_id": "c", "text": format!("question {number}"), "ts": time,
            "response": "a", "started_at": time, "completed_at": time});
        assert_eq!(server.post("/api/v1/turns", &body).0, 201, "{time}");
        let shown = server.get(&format!("/api/v1/turns/{turn}")).1;
        assert_eq!(shown["ts"], TIME, "{time}");
        let reaction = json!({"reaction": "ok", "ts": time});
        let path = format!("/conversations/default/default/c/turns/{turn}/feedback");
        assert_eq!(server.post(&path, &reaction).0, 200, "{time}");
        assert_eq!(server.get(&format!("/api/v1/turns/{turn}")).1["reactions"][0]["ts"], TIME);
        let rating = json!({"id": event, "type": "explicit", "source": "user_comment",
            "category": "quality", "timestamp": time, "data": {"comment": "fine"}});
        assert_eq!(server.post("/api/v1/feedback", &rating).0, 201, "{time}");
        assert_eq!(server.get(&format!("/api/v1/feedback/{event}")).1["timestamp"], TIME);
        let search = json!({"days": 3650, "all_tags": ["origin:user"], "timestamp_filters": [{"op": "=", "value": time}]});
        let found = server.post("/api/v1/artifacts/search", &search).1;
        assert_eq!(found["items"].as_array().map(Vec::len), Some(number + 1), "{time} {found}");
        let window = json!({"start": time, "end": time, "origin": "user", "include_turns": true});
        let path = "/conversations/default/default/feedback/conversations-in-period";
        let report = server.post(path, &window).1;
        let conversations = report["items"].as_array().unwrap();
        let rated = conversations.iter().find(|item| item["conversation_id"] == "c").unwrap();
        assert_eq!(rated["turns"].as_array().map(Vec::len), Some(number + 1), "{report}");
        let text = time.as_str().map_or_else(|| time.to_string(), str::to_owned);
        let query = format!("{path}?start={0}&end={0}", encode(&text));
        let report = server.get(&query).1;
        let conversations = report["items"].as_array().unwrap();
        assert!(conversations.iter().any(|item| item["conversation_id"] == "c"), "{report}");
        check_other_endpoints(&server, number, time, &encode(&text));
    }
    let server = server.kill_and_restart();
    for number in 0..time_forms().len() {
        let turn = server.get(&format!("/api/v1/turns/t{number}")).1;
        assert_eq!((&turn["ts"], &turn["reactions"][0]["ts"]), (&json!(TIME), &json!(TIME)));
        let event = server.get(&format!("/api/v1/feedback/e{number}")).1;
        assert_eq!(event["timestamp"], TIME, "after a crash");
    }
}

#[test]
fn imported_lines_have_the_times_and_names_of_the_api() {
    let server = Server::start();
    let mut lines = String::new();
    for (number, time) in time_forms().iter().enumerate() {
        let line = json!({"eventId": format!("e{number}"), "feedback_type": "explicit",
            "source": "user_comment", "category": "quality", "messageId": "t", "ts": time,
            "data": {"comment": "fine"}});
        lines.push_str(&format!("{line}\n"));
    }
    lines.push_str(&format!(
        "{}\n",
        json!({"query_id": "q1", "sessionId": "c", "query_text": "How?",
        "response": "So.", "timestamp": 1_762_451_222})
    ));
    lines.push_str(&format!(
        "{}\n",
        json!({"query_id": "q2", "query": "Why?", "response_text": "Because.", "model_id": "m",
        "request_start_time": 1_762_451_222.162_904, "response_complete_time": 1_762_451_223.662_904})
    ));
    let file = server.folder().join("lines.jsonl");
    std::fs::write(&file, lines).unwrap();
    let (folder, file) = (server.kill_and_leave(), file);
    let (code, out, err) = uptake(folder.path(), &["import", file.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{out} {err}");
    let server = Server::start_in(folder);
    for number in 0..time_forms().len() {
        let event = server.get(&format!("/api/v1/feedback/e{number}")).1;
        assert_eq!(
            (&event["timestamp"], &event["message_id"]),
            (&json!(TIME), &json!("t")),
            "{event}"
        );
    }
    let turn = server.get("/api/v1/turns/q1").1;
    assert_eq!((&turn["conversation_id"], &turn["user"]["text"]), (&json!("c"), &json!("How?")));
    assert_eq!(turn["ts"], "2025-11-06T17:47:02.000000Z");
    let turn = server.get("/api/v1/turns/q2").1;
    assert_eq!((&turn["ts"], &turn["user"]["text"]), (&json!(TIME), &json!("Why?")), "{turn}");
    assert_eq!(turn["assistant"]["latency_ms"], 1500.0, "{turn}");
}

#[test]
fn any_utf8_id_is_stored_returned_and_addressed_as_sent() {
    let server = Server::start();
    let longest = "é".repeat(100);
    let ids = [
        "a b",
        "a/b/../c",
        "../../etc/passwd",
        ".",
        "..",
        "ü",
        "日本 語",
        "?x#y%z&",
        "%41",
        "'; --",
        &longest,
    ];
    for id in ids {
        let body = json!({"conversation_id": id, "turn_id": id, "user_id": id, "text": "What is it?",
            "response": "It is this.", "model": "m"});
        let (status, opened) = server.post("/api/v1/turns", &body);
        assert_eq!((status, &opened["turn_id"]), (201, &json!(id)), "{opened}");
        let event = json!({"id": id, "type": "explicit", "source": "user_comment", "category": "quality",
            "session_id": id, "message_id": id, "user_id": id, "data": {"comment": "fine"}});
        assert_eq!(server.post("/api/v1/feedback", &event).0, 201, "{id}");
        let decision = json!({"decision_id": id, "session_id": id, "decision_type": "x"});
        assert_eq!(server.post("/api/v1/decisions", &decision).0, 201, "{id}");
    }
    let server = server.kill_and_restart();
    for id in ids {
        let path = encode(id);
        let react = format!("/conversations/default/default/{path}/turns/{path}/feedback");
        let (status, reacted) = server.post(&react, &json!({"reaction": "ok"}));
        assert_eq!((status, &reacted["turn_id"]), (200, &json!(id)), "{reacted}");
        let turn = server.get(&format!("/api/v1/turns/{path}")).1;
        for name in ["turn_id", "conversation_id", "user_id"] {
            assert_eq!(turn[name], id, "{turn}");
        }
        assert_eq!(turn["reactions"][0]["user_id"], id);
        assert_eq!(server.get(&format!("/api/v1/feedback/{path}")).1["id"], id);
        assert_eq!(server.get(&format!("/api/v1/decisions/{path}")).1["session_id"], id);
        let timeline = server.get(&format!("/api/v1/conversations/{path}")).1;
        assert_eq!(timeline["turns"][0]["turn_id"], id, "{timeline}");
        let page = server.get(&format!("/conversations/{path}"));
        assert_eq!(page.0, 200, "{id}");
        let report =
            server.get(&format!("/conversations/default/default/{path}/turns-with-feedbacks"));
        assert_eq!(report.1["turns"][0]["turn_id"], id, "{}", report.1);
        assert_eq!(server.get(&format!("/api/v1/users/{path}/history")).0, 200);
    }
}

#[test]
fn dot_ids_have_an_address_that_clients_do_not_resolve() {
    let server = Server::start();
    for (id, path) in [(".", "%252E"), ("..", "%252E%252E")] {
        let body = json!({"conversation_id": id, "turn_id": id, "text": "q"});
        assert_eq!(server.post("/api/v1/turns", &body).0, 201);
        let done =
            server.post(&format!("/api/v1/turns/{path}/complete"), &json!({"response": "a"}));
        assert_eq!((done.0, &done.1["turn_id"]), (200, &json!(id)), "{}", done.1);
        let page = server.get(&format!("/conversations/{path}")).1;
        let link = format!("action=\"/turns/{path}/");
        assert!(page.as_str().unwrap().contains(&link), "the page links to {link}");
    }
    for id in ["%2E", "%2e%2e", "a\u{7}", "", &"é".repeat(101)] {
        let refused = server.post("/api/v1/turns", &json!({"turn_id": id, "text": "q"})).1;
        assert_eq!(refused["field"], "turn_id", "{id:?}");
    }
}

#[test]
fn copies_of_turn_logs_stay_in_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("data").join("logs");
    let settings = [
        ("UPTAKE__TURN_LOG__MIRROR", "true"),
        ("UPTAKE__TURN_LOG__KEEP", "folder"),
        ("UPTAKE__TURN_LOG__FOLDER", logs.to_str().unwrap()),
    ];
    let server = Server::start_with(tempfile::tempdir().unwrap(), &settings);
    for id in ["..", "../../escaped", "/escaped", "a/b"] {
        let body = json!({"conversation_id": id, "turn_id": id, "text": "q", "response": "a"});
        assert_eq!(server.post("/api/v1/turns", &body).0, 201);
        let path = format!("/api/v1/turns/{}/log?copy=true", encode(id));
        until("the copy", || server.get(&path).0 == 200);
    }
    let names = |path: &std::path::Path| -> Vec<String> {
        let entries = std::fs::read_dir(path).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        // A copy is written again after later events, under this name first.
        names.filter(|name| !name.ends_with(".new")).collect()
    };
    assert_eq!(names(folder.path()), ["data"]);
    assert_eq!(names(&folder.path().join("data")), ["logs"]);
    // A copy that is being rewritten has a second, temporary file.
    until("one file per turn", || names(&logs.join("default").join("default")).len() == 4);
}

#[test]
fn every_endpoint_has_the_same_aliases() {
    let server = Server::start();
    let turn = json!({"sessionId": "c", "query_id": "t", "userId": "ann", "query_text": "q",
        "timestamp": TIME, "model_used": "m", "response": "a", "tokensIn": 3});
    let (status, opened) = server.post("/api/v1/turns", &turn);
    assert_eq!(
        (status, &opened["turn_id"], &opened["conversation_id"]),
        (201, &json!("t"), &json!("c"))
    );
    let plain = json!({"conversation_id": "c", "turn_id": "t", "user_id": "ann", "text": "q",
        "ts": TIME, "model": "m", "response": "a", "tokens_in": 3});
    assert_eq!(server.post("/api/v1/turns", &plain).1["replayed"], true);
    let rows = [
        (
            "/api/v1/feedback",
            json!({"feedback_id": "e1", "feedbackType": "explicit",
            "feedback_source": "user_rating", "category": "quality", "turn_id": "t",
            "conversationId": "c", "data": {"rating": 5}}),
        ),
        (
            "/api/v1/feedback/batch",
            json!([{"eventId": "e2", "event_type": "log", "source": "trace",
            "category": "quality", "turnId": "t", "data": {}}]),
        ),
        ("/api/v1/feedback/correction", json!({"turn_id": "t", "data": {"corrected": "b"}})),
        ("/api/v1/rewards", json!({"query_id": "t", "qualityScore": 0.5})),
        (
            "/api/v1/decisions",
            json!({"decisionId": "d1", "conversation_id": "c", "message_id": "t",
            "decisionType": "x", "decisionData": {"camelCase": 1}}),
        ),
        (
            "/api/v1/retrieval/returned",
            json!({"queryId": "q1", "query_text": "q",
            "entities": [{"entityId": "e1"}]}),
        ),
        (
            "/api/v1/retrieval/signals",
            json!({"items": [{"turn_id": "q1",
            "signals": [{"entityId": "e1", "signal": "used"}]}]}),
        ),
        ("/api/v1/retrieval/usage", json!({"queryId": "q1", "responseContent": "e1"})),
        (
            "/conversations/default/default/c/turns/t/feedback",
            json!({"reaction": "ok", "userId": "bob"}),
        ),
    ];
    for (path, body) in rows {
        let (status, answer) = server.post(path, &body);
        assert!((200..300).contains(&status), "{path} {answer}");
        assert_eq!(answer["rejected"].as_u64().unwrap_or(0), 0, "{answer}");
    }
    assert_eq!(server.get("/api/v1/feedback/e1").1["message_id"], "t");
    assert_eq!(server.get("/api/v1/decisions?conversationId=c").1["items"][0]["turn_id"], "t");
    // Free-form objects are stored as sent.
    assert_eq!(server.get("/api/v1/decisions/d1").1["decision_data"], json!({"camelCase": 1}));
    let server = server.kill_and_restart();
    let shown = server.get("/api/v1/turns/t").1;
    assert_eq!((&shown["user_id"], &shown["ts"]), (&json!("ann"), &json!(TIME)));
    assert_eq!(shown["reactions"][0]["user_id"], "ann");
}

/// Requests with field names of the source systems.
fn source_requests() -> [(&'static str, Value); 6] {
    [
        (
            "/api/v1/turns/late/complete",
            json!({"response_text": null, "latency_accepted": false, "execution_status": "error",
            "execution_error": "timeout"}),
        ),
        (
            "/api/v1/rewards",
            json!({"response_id": "q", "quality_score": 0.95, "user_rating": 5,
            "met_expectations": true}),
        ),
        (
            "/api/v1/turns/q/feedback",
            json!({"reaction": "ok", "text": "Great explanation!", "ts": TIME}),
        ),
        (
            "/api/v1/decisions",
            json!({"session_id": "s", "tenant_id": "default", "decision_type": "routing",
            "decision_data": {}, "outcome": "success", "confidence": 0.9}),
        ),
        (
            "/api/v1/examples/select",
            json!({"query": "What is Python?", "tenant_id": "default", "k": 3}),
        ),
        ("/api/v1/prompts/suggestions", json!({"tenant_id": "default", "window_days": 7})),
    ]
}

#[test]
fn clients_of_the_source_systems_send_their_own_names() {
    let server = Server::start();
    let asked = json!({"query": "What is Python?", "query_id": "q", "user_id": "ann",
        "response_text": "A programming language.", "model_id": "m", "execution_status": "success",
        "execution_error": null, "request_start_time": 1_762_451_222.162_904,
        "response_complete_time": 1_762_451_223.662_904});
    let (status, opened) = server.post("/api/v1/turns", &asked);
    assert_eq!((status, &opened["turn_id"]), (201, &json!("q")), "{opened}");
    assert_eq!(opened["completed"]["signals"]["latency"]["seconds"], 1.5, "{opened}");
    let open = json!({"query_id": "late", "query": "And Rust?", "user_id": "ann"});
    assert_eq!(server.post("/api/v1/turns", &open).0, 201);
    for (path, body) in source_requests() {
        let (status, answer) = server.post(path, &body);
        assert!((200..300).contains(&status), "{path} {answer}");
    }
    // The same word with another meaning is refused instead of stored.
    let refused = [
        ("/conversations/default/default/c/turns/q/feedback", json!({"reaction": "ok"}), "query"),
        ("/api/v1/turns/q/review", json!({}), "execution_status"),
        ("/api/v1/turns/q/complete", json!({"response": "a"}), "response_id"),
    ];
    for (path, mut body, field) in refused {
        body[field] = json!("accepted");
        let (status, problem) = server.post(path, &body);
        assert_eq!((status, &problem["field"]), (422, &json!(field)), "{path} {problem}");
    }
    let bad = json!({"query": "q", "contextFormat": "columns", "include": ["context"]});
    assert_eq!(server.post("/api/v1/turns", &bad).1["field"], "context_format");
    let keyed = server.client().with_header("X-Uptake-Tenant", "other");
    let other = json!({"tenant_id": "default", "decision_type": "routing"});
    assert_eq!(keyed.post("/api/v1/decisions", &other).0, 403);
    let server = server.kill_and_restart();
    let turn = server.get("/api/v1/turns/q").1;
    assert_eq!((&turn["ts"], &turn["user"]["text"]), (&json!(TIME), &json!("What is Python?")));
    assert_eq!(turn["assistant"]["model"], "m");
    assert!((turn["reward"].as_f64().unwrap() - 0.9525).abs() < 1e-9, "{turn}");
    assert_eq!(server.get("/api/v1/turns/late").1["assistant"]["accepted"], false);
}

#[test]
fn documentation_lists_the_aliases() {
    let page = std::fs::read_to_string("docs/api/fields.md").unwrap();
    for row in model::FIELD_ALIASES {
        let names: Vec<String> = row.names.iter().map(|name| format!("`{name}`")).collect();
        let requests = match row.requests {
            AliasedRequests::All => "all".to_owned(),
            AliasedRequests::With(field) => format!("with `{field}`"),
            AliasedRequests::Without(field) => format!("without `{field}`"),
        };
        assert!(page.contains(&format!("| {} | {requests} |", names.join(", "))), "{row:?}");
    }
}

#[test]
fn field_with_two_names_and_two_values_is_refused_with_both() {
    let server = Server::start();
    let rows = [
        ("/api/v1/turns", json!({"text": "q", "conversation_id": "c", "session_id": "d"})),
        (
            "/api/v1/rewards",
            json!({"turn_id": "c", "session_id": "c", "message_id": "d", "user_rating": 5}),
        ),
    ];
    for (path, body) in rows {
        let (status, problem) = server.post(path, &body);
        assert_eq!(status, 422, "{problem}");
    }
    let (_, problem) =
        server.post("/api/v1/turns", &json!({"text": "q", "turn_id": "c", "messageId": "d"}));
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("messageId") && detail.contains("turn_id"), "{detail}");
    let same = json!({"text": "q", "turn_id": "c", "messageId": "c"});
    assert_eq!(server.post("/api/v1/turns", &same).0, 201);
}
