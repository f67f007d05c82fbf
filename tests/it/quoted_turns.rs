//! Feedback that quotes question and answer counts like feedback on a turn.

use serde_json::{Value, json};

use crate::failures::PLACES;
use crate::server::{Server, uptake};

const QUERY: &str = "Show total sales";
const ANSWER: &str = "SELECT SUM(amount) FROM orders";

fn send(server: &Server, source: &str, fields: &Value, data: &Value) -> Value {
    let mut body =
        json!({"type": "explicit", "source": source, "category": "accuracy", "data": data});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let (status, answer) = server.post("/api/v1/feedback", &body);
    assert!(matches!(status, 200 | 201), "{answer}");
    answer
}

/// A rating as the client of an application without turns sends it.
fn rate(server: &Server, fields: &Value, message: Option<&str>, rating: &str) {
    let query = format!("{QUERY} {}", message.unwrap_or_default());
    let data = json!({"rating": rating, "message_id": message, "query": query, "response": ANSWER});
    send(server, "user_rating", fields, &data);
}

pub(crate) fn metric(server: &Server, name: &str) -> (f64, u64) {
    let (_, body) = server.get("/api/v1/feedback/quality/default");
    let found = &body["metrics"][name];
    (found["numerator"].as_f64().unwrap(), found["denominator"].as_u64().unwrap())
}

fn export_rows(server: &Server, format: &str) -> Vec<Value> {
    let url = format!("{}/api/v1/preferences/export?format={format}", server.url);
    let mut response = ureq::get(url).call().unwrap();
    let text = response.body_mut().read_to_string().unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Label and prompt of each row of the KTO export.
pub(crate) fn kto_rows(server: &Server) -> Vec<(bool, String)> {
    let row = |row: Value| {
        let prompt = row["prompt"][0]["content"].as_str().unwrap().to_owned();
        (row["label"].as_bool().unwrap(), prompt)
    };
    export_rows(server, "kto").into_iter().map(row).collect()
}

fn examples(server: &Server) -> Vec<Value> {
    let (status, found) = server.post("/api/v1/examples/select", &json!({"query": QUERY}));
    assert_eq!(status, 200, "{found}");
    found["examples"].as_array().unwrap().clone()
}

#[track_caller]
pub(crate) fn check_rebuild(server: Server) -> Server {
    let folder = server.kill_and_leave();
    let (code, out, err) = uptake(folder.path(), &["rebuild", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["changed"], false, "{out}");
    Server::start_in(folder)
}

#[test]
fn quoted_ratings_count_without_turns_and_once_when_the_turns_arrive() {
    let server = Server::start();
    for n in 0..10 {
        let message = format!("msg-{n}");
        let rating = if n < 8 { "positive" } else { "negative" };
        rate(&server, &json!({"id": format!("e{n}"), "user_id": "ann"}), Some(&message), rating);
        // The same event, and another rating of the same user.
        rate(&server, &json!({"id": format!("e{n}"), "user_id": "ann"}), Some(&message), rating);
        rate(&server, &json!({"user_id": "ann"}), Some(&message), rating);
    }
    let check = |server: &Server| {
        assert_eq!(metric(server, "satisfaction"), (8.0, 10));
        assert_eq!(metric(server, "feedback_coverage"), (10.0, 10));
        let rows = kto_rows(server);
        assert_eq!(rows.iter().filter(|(label, _)| *label).count(), 8, "{rows:?}");
        assert_eq!(rows.len(), 10);
        let found = examples(server);
        assert_eq!(
            (&found[0]["source"], &found[0]["output_text"]),
            (&json!("rating"), &json!(ANSWER))
        );
    };
    check(&server);
    let server = check_rebuild(server);
    check(&server);
    // The turns arrive, with another user and wording. Nothing is counted twice.
    for n in 0..10 {
        let turn = json!({"conversation_id": format!("c{n}"), "turn_id": format!("msg-{n}"),
            "user_id": "bob", "text": format!("{QUERY} msg-{n} please"), "response": "SELECT 2",
            "model": "m1"});
        let (status, answer) = server.post("/api/v1/turns", &turn);
        assert_eq!(status, 201, "{answer}");
        assert_eq!(server.post("/api/v1/turns", &turn).0, 200, "a repeat");
    }
    let check = |server: &Server| {
        assert_eq!(metric(server, "satisfaction"), (8.0, 10));
        assert_eq!(metric(server, "feedback_coverage"), (10.0, 10));
        let rows = kto_rows(server);
        assert_eq!(rows.len(), 10);
        assert!(rows.iter().all(|(_, prompt)| prompt.ends_with("please")), "{rows:?}");
        assert_eq!(examples(server)[0]["output_text"], "SELECT 2", "the turn's own answer");
        let (_, turn) = server.get("/api/v1/turns/msg-0");
        assert_eq!(turn["user"]["text"], "Show total sales msg-0 please", "{turn}");
        assert_eq!(turn["assistant"]["response"], "SELECT 2", "{turn}");
    };
    check(&server);
    check(&check_rebuild(server));
}

#[test]
fn quoting_feedback_after_its_turn_adds_no_turn() {
    let server = Server::start();
    let turn = json!({"conversation_id": "c1", "turn_id": "m1", "user_id": "ann", "text": "How many?",
        "response": "7"});
    assert_eq!(server.post("/api/v1/turns", &turn).0, 201);
    // Two users rate one message; the second rating has no message id.
    rate(&server, &json!({"user_id": "ann"}), Some("m1"), "positive");
    rate(&server, &json!({"user_id": "bob"}), Some("m1"), "negative");
    assert_eq!(metric(&server, "satisfaction"), (1.0, 2));
    assert_eq!(metric(&server, "feedback_coverage"), (1.0, 1));
    rate(&server, &json!({"id": "loose"}), None, "positive");
    assert_eq!(metric(&server, "satisfaction"), (2.0, 3), "counted once");
    assert_eq!(metric(&server, "feedback_coverage"), (2.0, 2), "as a turn of its own");
    let (_, shown) = server.get("/api/v1/turns/m1");
    assert_eq!(shown["user"]["text"], "How many?", "{shown}");
    assert_eq!(shown["assistant"]["response"], "7", "{shown}");
    // A rating without a user belongs to the user of the turn that arrives later.
    rate(&server, &json!({}), Some("m2"), "negative");
    let late = json!({"conversation_id": "c1", "turn_id": "m2", "user_id": "ann", "text": "And now?",
        "response": "8"});
    assert_eq!(server.post("/api/v1/turns", &late).0, 201);
    rate(&server, &json!({"user_id": "ann"}), Some("m2"), "positive");
    assert_eq!(metric(&server, "satisfaction"), (3.0, 4), "the later rating of one user counts");
    check_rebuild(server);
}

#[test]
fn quoted_corrections_without_turns_make_patterns_and_suggestions() {
    let server = Server::start();
    for (n, place) in PLACES.iter().enumerate() {
        let sql = format!("SELECT SUM(amount) FROM orders WHERE region = '{place}'");
        let data = json!({"query": format!("What is the total sales amount for {place}?"),
            "original_sql": sql, "corrected_sql": format!("{sql} AND status = 'completed'"),
            "explanation": "completed orders only"});
        let message = (n % 2 == 0).then(|| format!("m{n}"));
        let fields = json!({"user_id": format!("u{n}"), "message_id": message});
        send(&server, "user_correction", &fields, &data);
    }
    let check = |server: &Server| {
        assert_eq!(metric(server, "correction_rate"), (10.0, 10));
        let (_, report) = server.get("/api/v1/feedback/insights/default");
        assert_eq!(report["most_corrected_queries"].as_array().unwrap().len(), 10, "{report}");
        let (_, body) = server.get("/api/v1/failures?period_days=7");
        assert_eq!(body["patterns"][0]["count"], 10, "{body}");
        let (_, found) = server.post("/api/v1/prompts/suggestions", &json!({"window_days": 7}));
        let instruction = found["suggestions"][0]["instruction"].as_str().unwrap();
        assert!(instruction.contains("status = 'completed'"), "{found}");
    };
    check(&server);
    let server = check_rebuild(server);
    check(&server);
    // Half of the turns arrive. Nothing is counted twice.
    for (n, place) in PLACES.iter().enumerate().step_by(2) {
        let turn = json!({"conversation_id": format!("c{n}"), "turn_id": format!("m{n}"),
            "user_id": format!("u{n}"), "text": format!("What is the total sales amount for {place}?"),
            "response": format!("SELECT SUM(amount) FROM orders WHERE region = '{place}'")});
        assert_eq!(server.post("/api/v1/turns", &turn).0, 201);
    }
    check(&server);
    check(&check_rebuild(server));
}

#[test]
fn erasure_reaches_quoted_turns() {
    let server = Server::start();
    rate(&server, &json!({"user_id": "ann"}), Some("m1"), "positive");
    assert_eq!(examples(&server).len(), 1);
    assert_eq!(server.client().delete("/api/v1/users/ann").0, 200);
    let check = |server: &Server| {
        assert_eq!(examples(server), [Value::Null; 0]);
        assert_eq!(metric(server, "satisfaction"), (1.0, 1), "the count stays");
        let (_, events) = server.get("/api/v1/events?limit=100");
        assert!(!events.to_string().contains(QUERY), "{events}");
    };
    check(&server);
    check(&check_rebuild(server));
}

#[test]
fn comment_before_a_quoting_rating_keeps_the_quoted_question() {
    let server = Server::start();
    let comment = json!({"comment": "Please show the currency", "message_id": "m1"});
    send(&server, "user_comment", &json!({"user_id": "ann"}), &comment);
    rate(&server, &json!({"user_id": "bob"}), Some("m1"), "positive");
    let check = |server: &Server| {
        assert_eq!(metric(server, "satisfaction"), (1.0, 1));
        assert_eq!(metric(server, "feedback_coverage"), (1.0, 1), "one turn");
        assert_eq!(examples(server)[0]["output_text"], ANSWER);
    };
    check(&server);
    check(&check_rebuild(server));
}

#[test]
fn redetection_does_not_judge_quoted_turns() {
    let server = Server::start();
    for n in 0..3 {
        let data = json!({"rating": "positive", "query": QUERY, "response": ANSWER});
        let message = json!({"user_id": "bob", "session_id": "s1", "message_id": format!("q{n}")});
        send(&server, "user_rating", &message, &data);
    }
    let before = metric(&server, "retry_rate");
    let folder = server.kill_and_leave();
    let (code, out, err) = uptake(folder.path(), &["redetect", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["findings"], 0, "{out}");
    assert_eq!(metric(&Server::start_in(folder), "retry_rate"), before);
}

#[test]
fn quoted_question_is_not_repeated_by_the_next_message() {
    let server = Server::start();
    let ask = |server: &Server, user: &str| {
        let turn = json!({"conversation_id": format!("c-{user}"), "turn_id": format!("t-{user}"),
            "user_id": user, "text": QUERY});
        let (status, opened) = server.post("/api/v1/turns", &turn);
        assert_eq!((status, &opened["retry"]), (201, &Value::Null), "{user}: {opened}");
    };
    for user in ["ann", "bob"] {
        let data = json!({"rating": "positive", "query": QUERY, "response": ANSWER});
        send(&server, "user_rating", &json!({"user_id": user}), &data);
    }
    ask(&server, "ann");
    let server = server.kill_and_restart();
    ask(&server, "bob");
}

#[test]
fn quoted_comments_count_without_turns_and_once_when_the_turns_arrive() {
    let server = Server::start();
    for (n, place) in PLACES.iter().enumerate().take(4) {
        let data = json!({"comment": "The total should count completed orders only, not all",
            "query": format!("What is the total sales amount for {place}?"), "response": ANSWER});
        let message = (n > 0).then(|| format!("m{n}"));
        let fields = json!({"user_id": format!("u{n}"), "message_id": message});
        send(&server, "user_comment", &fields, &data);
    }
    let check = |server: &Server| {
        assert_eq!(metric(server, "feedback_coverage"), (4.0, 4));
        assert_eq!(metric(server, "error_rate"), (0.0, 4), "the quoted answers count");
        let (_, body) = server.get("/api/v1/failures?period_days=7");
        assert_eq!(body["patterns"][0]["count"], 4, "{body}");
        let questions = body["patterns"][0]["examples"].to_string();
        assert!(questions.contains("What is the total sales amount for"), "{body}");
    };
    check(&server);
    let server = check_rebuild(server);
    check(&server);
    for (n, place) in PLACES.iter().enumerate().take(4).skip(1) {
        let turn = json!({"conversation_id": format!("c{n}"), "turn_id": format!("m{n}"),
            "user_id": format!("u{n}"), "response": ANSWER,
            "text": format!("What is the total sales amount for {place}?")});
        assert_eq!(server.post("/api/v1/turns", &turn).0, 201);
    }
    check(&server);
    check(&check_rebuild(server));
}

#[test]
fn quoted_turns_make_dpo_rows() {
    let server = Server::start();
    let correction = json!({"query": "List late orders", "original": "SELECT 2",
        "corrected": "SELECT * FROM orders WHERE late"});
    send(&server, "user_correction", &json!({"message_id": "m1", "user_id": "ann"}), &correction);
    for n in 0..24 {
        let is_good = n % 2 == 0;
        let data = json!({"query": QUERY, "rating": if is_good { "positive" } else { "negative" },
            "response": format!("{} answer number {n}", if is_good { "good" } else { "bad" })});
        let fields = json!({"user_id": "bob", "message_id": format!("r{n}")});
        send(&server, "user_rating", &fields, &data);
    }
    let check = |server: &Server| {
        let rows = export_rows(server, "dpo");
        let of = |row: &Value, name: &str| row[name][0]["content"].as_str().unwrap().to_owned();
        let (corrected, rated): (Vec<Value>, Vec<Value>) =
            rows.into_iter().partition(|row| row["source"] == "correction");
        assert_eq!(corrected.len(), 1, "{corrected:?}");
        assert_eq!(corrected[0]["turn_ids"][0], "m1");
        let pair = (of(&corrected[0], "chosen"), of(&corrected[0], "rejected"));
        assert_eq!(pair, ("SELECT * FROM orders WHERE late".into(), "SELECT 2".into()));
        assert!(!rated.is_empty());
        for row in &rated {
            assert_eq!((&row["source"], of(row, "prompt")), (&json!("rating"), QUERY.into()));
            assert!(of(row, "chosen").starts_with("good"), "{row}");
            assert!(of(row, "rejected").starts_with("bad"), "{row}");
        }
    };
    check(&server);
    check(&check_rebuild(server));
}

#[test]
fn feedback_without_a_user_does_not_replace_the_rating_of_a_quoted_turn() {
    let server = Server::start();
    let fields = json!({"user_id": "ann", "session_id": "s1", "message_id": "m1"});
    rate(&server, &fields, Some("m1"), "positive");
    let path = "/conversations/default/default/s1/turns/m1/feedback";
    let (status, given) = server.post(path, &json!({"reaction": "not_ok"}));
    assert_eq!(status, 200, "{given}");
    // The mean of two raters is neutral; a rating that replaced Ann's would be negative.
    let check = |server: &Server| {
        let found = server.get("/api/v1/turns/m1").1;
        assert_eq!(found["reactions"].as_array().unwrap().len(), 2, "{found}");
        assert_eq!(found["verdict"]["status"], "neutral", "{found}");
    };
    check(&server);
    let (status, again) = server.post(path, &json!({"reaction": "not_ok"}));
    assert_eq!((status, &again["message"]), (200, &json!("reaction unchanged")), "{again}");
    let reward = json!({"turn_id": "m1", "quality_score": 0.4});
    let (status, reward) = server.post("/api/v1/rewards", &reward);
    assert!(status < 300 && reward["pending"] == true, "{status} {reward}");
    check(&check_rebuild(server));
}
