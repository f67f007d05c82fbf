//! Quality figures over HTTP.

use serde_json::{Value, json};

use crate::server::{Server, uptake};

fn get_quality(server: &Server, query: &str) -> Value {
    let (status, body) = server.get(&format!("/api/v1/feedback/quality/default{query}"));
    assert_eq!(status, 200, "{body}");
    body
}

fn send_turn(server: &Server, n: usize, more: &Value) {
    let mut body = json!({"conversation_id": format!("c{n}"), "turn_id": format!("t{n}"),
        "user_id": format!("u{}", n % 2), "text": format!("question number {n}"),
        "response": "Here it is.", "model": "m1", "latency_ms": 1200,
        "prompt": {"id": "shop", "version": "3"}, "tokens_in": 90, "tokens_out": 10, "cost": 0.001});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (status, answer) = server.post("/api/v1/turns", &body);
    assert_eq!(status, 201, "{answer}");
}

pub(crate) fn send_event(server: &Server, source: &str, turn: Option<&str>, data: &Value) {
    let kind = if source == "user_interaction" { "interaction" } else { "explicit" };
    let body = json!({"type": kind, "source": source, "category": "quality",
        "message_id": turn, "data": data});
    let (status, answer) = server.post("/api/v1/feedback", &body);
    assert_eq!(status, 201, "{answer}");
}

/// Ten answers: eight by one model, one failed, two corrected (one of them twice), five rated.
fn send_ten_answers(server: &Server) {
    for n in 0..10 {
        let more = match n {
            8 | 9 => json!({"model": "m2", "prompt": {"id": "shop", "version": "4"}}),
            7 => json!({"status": "error", "error": "timeout", "response": null}),
            _ => json!({}),
        };
        send_turn(server, n, &more);
    }
    for (n, rating) in [(0, 5), (1, 4), (2, 1), (3, 3), (8, 5)] {
        send_event(server, "user_rating", Some(&format!("t{n}")), &json!({"rating": rating}));
    }
    for n in [4, 4, 5] {
        let better = json!({"corrected": "SELECT 1", "original": "SELECT 2"});
        send_event(server, "user_correction", Some(&format!("t{n}")), &better);
    }
    send_event(server, "user_interaction", Some("t6"), &json!({"kind": "query_refinement"}));
    send_event(server, "user_interaction", Some("t0"), &json!({"kind": "copy"}));
    for (id, outcome) in
        [("d1", "success"), ("d2", "failure"), ("d3", "unknown"), ("d4", "success")]
    {
        let decision = json!({"decision_id": id, "session_id": "c1", "decision_type": "sql_generation",
            "outcome": outcome, "confidence": 0.8});
        assert_eq!(server.post("/api/v1/decisions", &decision).0, 201);
    }
    let (status, answer) =
        server.client().patch("/api/v1/decisions/d3", &json!({"outcome": "success"}));
    assert_eq!(status, 200, "{answer}");
}

#[track_caller]
fn check_metric(body: &Value, metric: &str, numerator: f64, denominator: u64) {
    let found = &body["metrics"][metric];
    assert_eq!(found["numerator"].as_f64(), Some(numerator), "{metric}: {found}");
    assert_eq!(found["denominator"].as_u64(), Some(denominator), "{metric}: {found}");
    let value = found["value"].as_f64().unwrap();
    assert!((value - numerator / denominator as f64).abs() < 1e-12, "{metric}: {found}");
}

fn check_ten_answers(body: &Value) {
    check_metric(body, "satisfaction", 3.0, 5);
    check_metric(body, "correction_rate", 2.0, 10);
    check_metric(body, "accuracy_rate", 7.0, 10);
    check_metric(body, "error_rate", 1.0, 10);
    check_metric(body, "refinement_rate", 1.0, 10);
    check_metric(body, "sql_accuracy", 3.0, 4);
    check_metric(body, "feedback_coverage", 7.0, 10);
    check_metric(body, "tokens_per_accepted", 1000.0, 3);
    let cost = &body["metrics"]["cost_per_accepted"];
    assert!((cost["value"].as_f64().unwrap() - 0.01 / 3.0).abs() < 1e-12, "{cost}");
    let seconds = body["metrics"]["latency_p95"]["value"].as_f64().unwrap();
    assert!((seconds - 1.2).abs() < 0.08, "{seconds}");
}

#[test]
fn metrics_have_numerator_and_denominator_after_kill_and_rebuild() {
    let server = Server::start();
    send_ten_answers(&server);
    let body = get_quality(&server, "");
    check_ten_answers(&body);
    let satisfaction = &body["metrics"]["satisfaction"];
    assert_eq!(satisfaction["target"], json!({"min": 0.85}));
    assert_eq!(satisfaction["met"], false);
    let interval = &satisfaction["interval"];
    assert!(interval[0].as_f64() < Some(0.6) && interval[1].as_f64() > Some(0.6), "{interval}");
    let series = satisfaction["series"].as_array().unwrap();
    let sum: u64 = series.iter().map(|point| point["denominator"].as_u64().unwrap()).sum();
    assert_eq!(sum, 5);

    let server = server.kill_and_restart();
    check_ten_answers(&get_quality(&server, "?bucket=hour"));
    let (_, folder) = server.stop();
    let (_, out, err) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains(r#""changed":false"#), "{out}{err}");
    check_ten_answers(&get_quality(&Server::start_in(folder), "?bucket=week"));
}

#[test]
fn replaced_ratings_update_metrics_and_ratings_without_a_turn_count() {
    let server = Server::start();
    send_ten_answers(&server);
    send_event(&server, "user_rating", Some("t2"), &json!({"rating": 5}));
    check_metric(&get_quality(&server, ""), "satisfaction", 4.0, 5);
    check_metric(&get_quality(&server, ""), "accuracy_rate", 8.0, 10);
    send_event(&server, "user_rating", None, &json!({"rating": "negative"}));
    check_metric(&get_quality(&server, ""), "satisfaction", 4.0, 6);
    send_event(&server, "user_correction", None, &json!({"corrected": "x"}));
    check_metric(&get_quality(&server, ""), "correction_rate", 3.0, 11);
    check_metric(&get_quality(&server, ""), "accuracy_rate", 8.0, 11);
    // A turn that arrives after feedback on it.
    send_event(&server, "user_correction", Some("t77"), &json!({"corrected": "x"}));
    check_metric(&get_quality(&server, ""), "correction_rate", 3.0, 11);
    send_turn(&server, 77, &json!({}));
    check_metric(&get_quality(&server, ""), "correction_rate", 4.0, 12);
}

#[test]
fn rates_never_exceed_one_for_unknown_turns() {
    let server = Server::start();
    send_turn(&server, 0, &json!({}));
    for _ in 0..3 {
        send_event(&server, "user_correction", None, &json!({"corrected": "x"}));
        send_event(&server, "user_interaction", None, &json!({"kind": "query_refinement"}));
    }
    let check_all = |server: &Server| {
        let body = get_quality(server, "");
        check_metric(&body, "correction_rate", 3.0, 4);
        check_metric(&body, "accuracy_rate", 1.0, 4);
        check_metric(&body, "refinement_rate", 3.0, 4);
        check_metric(&body, "error_rate", 0.0, 1);
    };
    check_all(&server);
    let (_, folder) = server.stop();
    let (_, out, err) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains(r#""changed":false"#), "{out}{err}");
    check_all(&Server::start_in(folder));
}

#[test]
fn review_counts_as_human_feedback() {
    let server = Server::start();
    send_ten_answers(&server);
    let review = |n: usize| {
        let path = format!("/api/v1/turns/t{n}/review");
        assert_eq!(server.post(&path, &json!({"status": "accepted"})).0, 200);
        get_quality(&server, "")
    };
    check_metric(&review(9), "feedback_coverage", 8.0, 10);
    check_metric(&review(9), "feedback_coverage", 8.0, 10);
    check_metric(&review(0), "feedback_coverage", 8.0, 10);
    check_metric(&get_quality(&server, "?user_id=u1"), "feedback_coverage", 4.0, 5);
}

#[test]
fn extreme_numbers_leave_finite_metrics() {
    let server = Server::start();
    for n in 0..12 {
        send_turn(
            &server,
            n,
            &json!({"cost": 9e9, "tokens_in": 10_000_000_000_u64, "latency_ms": 1e10}),
        );
    }
    for (field, value) in [("cost", 2e10), ("tokens_out", 2e10), ("latency_ms", 1e18)] {
        let body = json!({"text": "a", "response": "b", field: value});
        let (status, refused) = server.post("/api/v1/turns", &body);
        assert_eq!((status, &refused["field"]), (422, &json!(field)), "{refused}");
    }
    let body = get_quality(&server, "");
    check_metric(&body, "error_rate", 0.0, 12);
    assert_eq!(server.get("/api/v1/feedback/insights/default").0, 200);
}

#[test]
fn window_end_on_the_hour_is_exclusive() {
    let server = Server::start();
    for (n, at) in ["11:59:59", "12:00:00", "12:30:00", "13:00:00"].into_iter().enumerate() {
        send_turn(&server, n, &json!({"ts": format!("2026-05-05T{at}Z")}));
    }
    let window = "?start=2026-05-05T12:00:00Z&end=2026-05-05T13:00:00Z";
    check_metric(&get_quality(&server, window), "error_rate", 0.0, 2);
}

#[test]
fn trend_of_one_user_uses_the_same_hours() {
    let server = Server::start();
    // One user: in the first hour but before the window, and on either side of it.
    for (n, (at, failed)) in
        [("10:05:00", true), ("11:59:59", false), ("12:10:00", true), ("13:15:00", false)]
            .into_iter()
            .enumerate()
    {
        let status = if failed { "error" } else { "success" };
        let ts = format!("2026-05-05T{at}Z");
        send_turn(&server, 2 * n, &json!({"ts": ts, "status": status}));
    }
    let trend = |query: &str| {
        let window = "start=2026-05-05T12:30:00Z&end=2026-05-05T13:30:00Z";
        let path = format!("/api/v1/feedback/insights/default?{window}{query}");
        let (status, body) = server.get(&path);
        assert_eq!(status, 200, "{body}");
        body["improvement_trend"].clone()
    };
    let all = trend("");
    assert_eq!(all["error_rate"]["now"], 0.5, "{all}");
    assert_eq!(all["error_rate"]["before"], 0.5, "{all}");
    assert_eq!(trend("&user_id=u0"), all);
}

#[test]
fn metrics_apply_filters() {
    let server = Server::start();
    send_ten_answers(&server);
    let profile = json!({"attributes": {"plan": "pro", "seats": 3, "beta": true}});
    assert_eq!(server.client().put("/api/v1/users/u0", &profile).0, 200);
    let answered = |query: &str| {
        get_quality(&server, query)["metrics"]["error_rate"]["denominator"].as_u64().unwrap()
    };
    for (query, turns) in [
        ("?model=m2", 2),
        ("?model=nobody", 0),
        ("?prompt=shop", 10),
        ("?prompt=shop@3", 8),
        ("?user_id=u0", 5),
        ("?user_id=u0&model=m2", 1),
        ("?attr.plan=pro", 5),
        ("?attr.plan=pro&attr.seats=3&attr.beta=true", 5),
        ("?attr.plan=free", 0),
        ("?project=default", 10),
        ("?project=other", 0),
        ("?period_days=1", 10),
        ("?start=2020-01-01T00:00:00Z&end=2020-02-01T00:00:00Z", 0),
    ] {
        assert_eq!(answered(query), turns, "{query}");
    }
    let empty = get_quality(&server, "?model=nobody");
    for (name, metric) in empty["metrics"].as_object().unwrap() {
        assert!(metric["value"].is_null() && metric["met"].is_null(), "{name}: {metric}");
    }
    for bad in [
        "?bucket=year",
        "?period_days=0",
        "?colour=m1",
        "?attr.=x",
        "?period_days=3&start=2020-01-01T00:00:00Z",
    ] {
        let (status, _) = server.get(&format!("/api/v1/feedback/quality/default{bad}"));
        assert_eq!(status, 422, "{bad}");
    }
}

#[test]
fn erasure_keeps_the_metrics() {
    let server = Server::start();
    send_ten_answers(&server);
    assert_eq!(server.client().delete("/api/v1/users/u1").0, 200);
    check_ten_answers(&get_quality(&server, ""));
    let (_, folder) = server.stop();
    let (_, out, err) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains(r#""changed":false"#), "{out}{err}");
    check_ten_answers(&get_quality(&Server::start_in(folder), ""));
}

#[test]
fn sql_accuracy_counts_settled_decisions_only() {
    let server = Server::start();
    for n in 0..10 {
        let outcome = if n < 3 { json!("success") } else { Value::Null };
        let mut decision = json!({"decision_id": format!("d{n}"), "session_id": "c1",
            "decision_type": "sql_generation", "confidence": 0.8});
        if !outcome.is_null() {
            decision["outcome"] = outcome;
        }
        assert_eq!(server.post("/api/v1/decisions", &decision).0, 201);
    }
    check_metric(&get_quality(&server, ""), "sql_accuracy", 3.0, 3);
    let settle = |server: &Server, id: &str, outcome: &str| {
        let path = format!("/api/v1/decisions/{id}");
        let (status, answer) = server.client().patch(&path, &json!({ "outcome": outcome }));
        assert_eq!(status, 200, "{answer}");
    };
    settle(&server, "d3", "failure");
    settle(&server, "d4", "overridden");
    check_metric(&get_quality(&server, ""), "sql_accuracy", 4.0, 5);
    settle(&server, "d3", "unknown");
    let server = server.kill_and_restart();
    check_metric(&get_quality(&server, ""), "sql_accuracy", 4.0, 4);
    let (_, folder) = server.stop();
    let (_, out, error) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains(r#""changed":false"#), "{out}{error}");
    check_metric(&get_quality(&Server::start_in(folder), ""), "sql_accuracy", 4.0, 4);
}

const IN_PERIOD: &str = "/conversations/default/default/feedback/conversations-in-period";

/// Reactions of users in a window: by the period report, and by the quality report.
fn reactions_in(server: &Server, start: &str, end: &str, more: &str) -> ([u64; 2], [u64; 2]) {
    let body = json!({"start": start, "end": end, "limit": 500, "origin": "user"});
    let (status, page) = server.post(IN_PERIOD, &body);
    assert_eq!(status, 200, "{page}");
    let sum = |name: &str| {
        let items = page["items"].as_array().unwrap().iter();
        items.map(|item| item["feedback_counts"][name].as_u64().unwrap()).sum::<u64>()
    };
    let found = get_quality(server, &format!("?start={start}&end={end}&{more}"));
    let satisfaction = &found["metrics"]["satisfaction"];
    let numerator = satisfaction["numerator"].as_f64().unwrap() as u64;
    let denominator = satisfaction["denominator"].as_u64().unwrap();
    ([sum("ok"), sum("total")], [numerator, denominator])
}

#[test]
fn satisfaction_counts_by_the_time_of_the_turn_or_of_the_reaction() {
    let server = Server::start();
    // Asked on the first day; rated on the first, second and third day.
    let day = |n: u32| format!("2026-02-0{n}T10:30:00Z");
    for n in 0..6 {
        send_turn(&server, n, &json!({"ts": day(1)}));
        let (turn, conversation) = (format!("t{n}"), format!("c{n}"));
        let reaction = if n < 2 { "ok" } else { "not_ok" };
        let given = json!({"reaction": reaction, "ts": day(1 + n as u32 / 2), "user_id": "rater"});
        assert_eq!(crate::feedback_calls::react(&server, &conversation, &turn, &given).0, 200);
    }
    // Changes their mind on the third day.
    let again = json!({"reaction": "ok", "ts": day(3), "user_id": "rater"});
    assert_eq!(crate::feedback_calls::react(&server, "c2", "t2", &again).0, 200);
    // Rated before the answer is reported, so before its model is known.
    let open = json!({"conversation_id": "c9", "turn_id": "t9", "text": "Why?", "ts": day(4)});
    assert_eq!(server.post("/api/v1/turns", &open).0, 201);
    let given = json!({"reaction": "ok", "ts": day(4), "user_id": "rater"});
    assert_eq!(crate::feedback_calls::react(&server, "c9", "t9", &given).0, 200);
    let done = json!({"response": "So.", "model": "m1"});
    assert_eq!(server.post("/api/v1/turns/t9/complete", &done).0, 200);
    let check_all = |server: &Server| {
        let range =
            |n: u32| (format!("2026-02-0{n}T00:00:00Z"), format!("2026-02-0{}T00:00:00Z", n + 1));
        for (n, expected) in [(1, [2, 2]), (2, [0, 1]), (3, [1, 3]), (4, [1, 1])] {
            let (start, end) = range(n);
            for more in [
                "by=reaction&bucket=hour",
                "by=reaction",
                "by=reaction&model=m1",
                "by=reaction&user_id=rater",
            ] {
                let (period, quality) = reactions_in(server, &start, &end, more);
                assert_eq!((period, quality), (expected, expected), "day {n}, {more}");
            }
        }
        for more in ["", "by=turn"] {
            let (start, end) = range(1);
            assert_eq!(reactions_in(server, &start, &end, more).1, [3, 6], "{more}");
            let (start, end) = range(3);
            assert_eq!(reactions_in(server, &start, &end, more).1, [0, 0], "{more}");
        }
    };
    check_all(&server);
    let shown = get_quality(&server, "?by=reaction");
    assert_eq!(shown["by"], "reaction", "{shown}");
    let (status, problem) = server.get("/api/v1/feedback/quality/default?by=answer");
    assert_eq!((status, &problem["field"]), (422, &json!("by")), "{problem}");
    let server = server.kill_and_restart();
    check_all(&server);
    let (_, folder) = server.stop();
    let (_, out, error) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains(r#""changed":false"#), "{out}{error}");
    let server = Server::start_in(folder);
    check_all(&server);
    // The counts stay when the user is erased.
    assert_eq!(server.client().delete("/api/v1/users/rater").0, 200);
    let (start, end) = ("2026-02-01T00:00:00Z", "2026-02-04T00:00:00Z");
    assert_eq!(reactions_in(&server, start, end, "by=reaction"), ([3, 6], [3, 6]));
}

fn send_metric(server: &Server, turn: Option<&str>, millis: u64) {
    let body = json!({"type": "performance", "source": "system_metric", "category": "latency",
        "message_id": turn, "data": {"endpoint": "/api/v1/text-to-sql", "latency_ms": millis,
        "tokens_used": 3400, "llm_provider": "openai", "model": "gpt-4"}});
    let (status, answer) = server.post("/api/v1/feedback", &body);
    assert_eq!(status, 201, "{answer}");
}

fn send_error(server: &Server, turn: Option<&str>) {
    let body = json!({"type": "error", "source": "application_log", "category": "error",
        "message_id": turn, "data": {"message": "timeout"}});
    let (status, answer) = server.post("/api/v1/feedback", &body);
    assert_eq!(status, 201, "{answer}");
}

#[test]
fn performance_and_error_events_count_with_and_without_their_turn() {
    let server = Server::start();
    let latency = |server: &Server| {
        let metric = &get_quality(server, "")["metrics"]["latency_p50"];
        (metric["value"].as_f64().unwrap_or(0.0), metric["denominator"].as_u64().unwrap())
    };
    // Without any turn: two measurements, one of them of a turn that arrives later, and two errors.
    send_metric(&server, None, 1250);
    send_metric(&server, Some("late"), 1250);
    send_error(&server, None);
    send_error(&server, Some("late"));
    let (value, count) = latency(&server);
    assert!((value - 1.25).abs() < 0.1 && count == 2, "{value} of {count}");
    check_metric(&get_quality(&server, ""), "error_rate", 2.0, 2);
    // The turn arrives without a latency: the measurement becomes its own.
    let late = json!({"conversation_id": "c", "turn_id": "late", "text": "How many?",
        "response": "Seven of them, as of today."});
    assert_eq!(server.post("/api/v1/turns", &late).0, 201);
    // A turn with a latency of its own keeps it.
    let own = json!({"conversation_id": "c2", "turn_id": "own", "text": "How long?",
        "response": "Seven metres, as of today.", "latency_ms": 1200});
    assert_eq!(server.post("/api/v1/turns", &own).0, 201);
    send_metric(&server, Some("own"), 90_000);
    let check = |server: &Server| {
        let (value, count) = latency(server);
        assert!((value - 1.25).abs() < 0.1 && count == 3, "{value} of {count}");
        check_metric(&get_quality(server, ""), "error_rate", 2.0, 3);
    };
    check(&server);
    let folder = server.kill_and_leave();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains("\"changed\":false"), "{out}");
    check(&Server::start_in(folder));
}

#[test]
fn measured_latency_counts_while_its_turn_has_no_answer() {
    let server = Server::start();
    // Named by a comment, quoted by a rating without an answer, and opened.
    for turn in ["named", "quoted", "open"] {
        send_metric(&server, Some(turn), 1250);
    }
    let check = |server: &Server| {
        for query in ["", "?user_id=ann"] {
            let metric = &get_quality(server, query)["metrics"]["latency_p50"];
            let count = metric["denominator"].as_u64().unwrap();
            let value = metric["value"].as_f64().unwrap_or(0.0);
            // Of the three turns only the opened one has a user.
            let expected = if query.is_empty() { 3 } else { 1 };
            assert!((value - 1.25).abs() < 0.1 && count == expected, "{query} {value} of {count}");
        }
    };
    send_event(&server, "user_comment", Some("named"), &json!({"comment": "Which currency?"}));
    let quoted = json!({"rating": "positive", "query": "Show total sales"});
    send_event(&server, "user_rating", Some("quoted"), &quoted);
    let open = json!({"conversation_id": "c", "turn_id": "open", "user_id": "ann",
        "text": "How many?"});
    assert_eq!(server.post("/api/v1/turns", &open).0, 201);
    check(&server);
    let rebuilt = |server: Server| {
        let folder = server.kill_and_leave();
        let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
        assert!(out.contains("\"changed\":false"), "{out}");
        Server::start_in(folder)
    };
    let server = rebuilt(server);
    check(&server);
    // The answer brings no latency of its own: the measurement is still counted once.
    let done = json!({"response": "Seven of them, as of today.", "model": "m1"});
    assert_eq!(server.post("/api/v1/turns/open/complete", &done).0, 200);
    check(&server);
    check(&rebuilt(server));
}
