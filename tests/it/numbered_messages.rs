//! Clients that number messages per session: the same message id is another turn in each session.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::quoted_turns::{check_rebuild, kto_rows, metric};
use crate::scan::write_file;
use crate::server::{Server, uptake};

/// A rating that quotes its turn, without a user.
fn rating(session: &str, message: &str, rating: &str) -> Value {
    json!({"id": format!("{session}-{message}-{rating}"), "type": "explicit",
        "source": "user_rating", "category": "accuracy", "session_id": session,
        "message_id": message, "data": {"rating": rating,
        "query": format!("question of {session}"), "response": format!("answer to {session}")}})
}

/// Rates and returns the warnings.
fn rate(server: &Server, body: &Value) -> Vec<Value> {
    let (status, answer) = server.post("/api/v1/feedback", body);
    assert!(matches!(status, 200 | 201), "{answer}");
    answer["warnings"].as_array().cloned().unwrap_or_default()
}

fn open(server: &Server, conversation: &str, turn: &str) -> (u16, Value) {
    let body = json!({"conversation_id": conversation, "turn_id": turn, "user_id": "ann",
        "text": format!("question of {conversation}"), "response": "the turn's own answer"});
    server.post("/api/v1/turns", &body)
}

fn questions(server: &Server) -> Vec<(bool, String)> {
    let mut rows = kto_rows(server);
    rows.sort();
    rows
}

/// The reactions on a turn, and its conversation.
fn reactions(server: &Server, turn: &str) -> (Vec<Value>, Value) {
    let shown = server.get(&format!("/api/v1/turns/{turn}")).1;
    let given = shown["reactions"].as_array().unwrap_or_else(|| panic!("{shown}"));
    (given.iter().map(|one| one["reaction"].clone()).collect(), shown["conversation_id"].clone())
}

#[test]
fn messages_with_one_number_are_separate_turns_by_session() {
    let server = Server::start();
    assert_eq!(rate(&server, &rating("s1", "1", "positive")), [Value::Null; 0]);
    let warnings = rate(&server, &rating("s2", "1", "negative"));
    let expected = "turn 1 belongs to conversation s1, not s2; the feedback counts for turn s2:1 of \
                    s2. Turn ids are unique in a project";
    assert_eq!(
        warnings,
        [json!({"code": "other_conversation", "field": "session_id", "detail": expected})]
    );
    let check = |server: &Server| {
        // The same events again.
        rate(server, &rating("s1", "1", "positive"));
        rate(server, &rating("s2", "1", "negative"));
        assert_eq!(metric(server, "satisfaction"), (1.0, 2));
        assert_eq!(metric(server, "feedback_coverage"), (2.0, 2));
        let expected = [(false, "question of s2".to_owned()), (true, "question of s1".to_owned())];
        assert_eq!(questions(server), expected);
        assert_eq!(reactions(server, "1"), (vec![json!("ok")], json!("s1")));
        assert_eq!(reactions(server, "s2:1"), (vec![json!("not_ok")], json!("s2")));
    };
    check(&server);
    let server = check_rebuild(server);
    check(&server);
    // Later feedback of a session joins its own turn, also without a quotation.
    rate(&server, &rating("s2", "1", "positive"));
    assert_eq!(metric(&server, "satisfaction"), (2.0, 2), "the rating replaces the earlier one");
    let mut loose = rating("s2", "1", "negative");
    (loose["id"], loose["data"]) = (json!("loose"), json!({"rating": "negative"}));
    rate(&server, &loose);
    let comment = json!({"type": "explicit", "source": "user_comment", "category": "accuracy",
        "session_id": "s2", "message_id": "1", "data": {"comment": "too long"}});
    rate(&server, &comment);
    let check = |server: &Server| {
        assert_eq!(reactions(server, "s2:1").0, [json!("not_ok")]);
        assert_eq!(reactions(server, "1").0, [json!("ok")]);
        let shown = server.get("/api/v1/turns/s2:1").1;
        assert_eq!(shown["comments"][0]["text"], "too long", "{shown}");
        assert_eq!(metric(server, "feedback_coverage"), (2.0, 2));
    };
    check(&server);
    check(&check_rebuild(server));
}

#[test]
fn quoting_feedback_of_another_conversation_leaves_a_sent_turn_alone() {
    let server = Server::start();
    assert_eq!(open(&server, "c1", "1").0, 201);
    rate(&server, &rating("c1", "1", "positive"));
    assert_eq!(rate(&server, &rating("c2", "1", "negative"))[0]["code"], "other_conversation");
    let check = |server: &Server| {
        assert_eq!(reactions(server, "1"), (vec![json!("ok")], json!("c1")));
        assert_eq!(reactions(server, "c2:1"), (vec![json!("not_ok")], json!("c2")));
        assert_eq!(metric(server, "satisfaction"), (1.0, 2));
        assert_eq!(metric(server, "feedback_coverage"), (2.0, 2));
    };
    check(&server);
    check(&check_rebuild(server));
}

#[test]
fn sent_turn_joins_only_the_feedback_of_its_conversation() {
    let server = Server::start();
    rate(&server, &rating("s1", "1", "positive"));
    rate(&server, &rating("s2", "1", "negative"));
    let (status, problem) = open(&server, "s2", "1");
    let detail = problem["detail"].as_str().unwrap();
    assert!(status == 409 && detail.contains("conversation s1"), "{problem}");
    assert!(detail.contains("for example s2:1"), "{problem}");
    let feedback = json!({"stars": 1, "conversation_id": "s2"});
    let (status, problem) = server.post("/api/v1/turns/1/feedback", &feedback);
    assert!(status == 409 && problem["detail"].as_str().unwrap().contains("s1"), "{problem}");
    for (conversation, turn) in [("s1", "1"), ("s2", "s2:1")] {
        let (status, answer) = open(&server, conversation, turn);
        assert_eq!(status, 201, "{answer}");
        assert_eq!(open(&server, conversation, turn).0, 200, "a repeat");
    }
    let check = |server: &Server| {
        assert_eq!(reactions(server, "1"), (vec![json!("ok")], json!("s1")));
        assert_eq!(reactions(server, "s2:1"), (vec![json!("not_ok")], json!("s2")));
        assert_eq!(metric(server, "satisfaction"), (1.0, 2));
        assert_eq!(metric(server, "feedback_coverage"), (2.0, 2));
    };
    check(&server);
    let folder = check_rebuild(server).kill_and_leave();
    // An import refuses the turn of another conversation, too.
    rate_offline(&folder, &rating("s3", "2", "positive"));
    let turn = json!({"type": "query", "source": "turn", "category": "context",
        "session_id": "s4", "message_id": "2", "data": {"phase": "opened", "text": "q"}});
    let imported = import(&folder, &turn);
    assert_eq!((&imported["imported"], &imported["rejected"]), (&json!(0), &json!(1)));
    let server = Server::start_in(folder);
    assert_eq!(reactions(&server, "2"), (vec![json!("ok")], json!("s3")));
}

fn rate_offline(folder: &TempDir, body: &Value) {
    assert_eq!(import(folder, body)["imported"], 1);
}

fn import(folder: &TempDir, line: &Value) -> Value {
    let lines = TempDir::new().unwrap();
    let file = write_file(lines.path(), "events.jsonl", std::slice::from_ref(line));
    let (_, out, err) = uptake(folder.path(), &["import", "--json", file.to_str().unwrap()]);
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out} {err}"))
}

#[test]
fn one_batch_keeps_the_sessions_apart() {
    let server = Server::start();
    let mut loose = rating("s2", "1", "positive");
    (loose["id"], loose["data"]) = (json!("loose"), json!({"rating": "positive"}));
    let ratings = ["s1", "s2", "s3"].map(|session| rating(session, "1", "negative"));
    let batch = json!([ratings[0], ratings[1], ratings[2], loose]);
    let check = |server: &Server| {
        let (status, stored) = server.post("/api/v1/feedback/batch", &batch);
        assert_eq!(status, 200, "{stored}");
        let warned: Vec<&Value> =
            stored["warnings"].as_array().unwrap().iter().map(|one| &one["index"]).collect();
        assert_eq!(warned, [&json!(1), &json!(2), &json!(3)], "{stored}");
        assert_eq!(reactions(server, "1").0, [json!("not_ok")]);
        assert_eq!(reactions(server, "s2:1").0, [json!("ok")], "the last rating of the session");
        assert_eq!(metric(server, "satisfaction"), (1.0, 3));
        assert_eq!(metric(server, "feedback_coverage"), (3.0, 3));
    };
    check(&server);
    check(&check_rebuild(server));
}

#[test]
fn concurrent_sessions_are_kept_apart() {
    const SESSIONS: usize = 24;
    let server = Server::start();
    std::thread::scope(|scope| {
        for n in 0..SESSIONS {
            let server = &server;
            scope.spawn(move || {
                let body = rating(&format!("s{n}"), "1", "positive");
                std::thread::scope(|scope| {
                    scope.spawn(|| rate(server, &body));
                    rate(server, &body);
                });
            });
        }
    });
    let check = |server: &Server| {
        assert_eq!(metric(server, "satisfaction"), (SESSIONS as f64, SESSIONS as u64));
        assert_eq!(metric(server, "feedback_coverage").1, SESSIONS as u64);
        let mut asked: Vec<String> = kto_rows(server).into_iter().map(|(_, asked)| asked).collect();
        asked.sort();
        asked.dedup();
        assert_eq!(asked.len(), SESSIONS, "{asked:?}");
    };
    check(&server);
    check(&check_rebuild(server));
}
