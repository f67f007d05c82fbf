//! Session ends: silent sessions end once, and unused answers count as abandoned.

use std::time::Duration;

use serde_json::{Value, json};

use crate::conversation_calls::TestConversation;
use crate::server::{Server, uptake};

/// Sweeps only at the start, so that no session ends before all messages are sent.
fn start_without_sweep() -> Server {
    let settings = [("UPTAKE__DETECT__SWEEP_SECS", "86400")];
    Server::start_with(tempfile::tempdir().unwrap(), &settings)
}

fn start_with_sweep(folder: tempfile::TempDir) -> Server {
    Server::start_with(folder, &[("UPTAKE__DETECT__SWEEP_SECS", "1")])
}

/// The session ends in the log, once there are `count` of them.
fn wait_for_session_ends(server: &Server, count: usize) -> Vec<Value> {
    for _ in 0..3000 {
        let log = server.get("/api/v1/events?type=quality&source=engine").1;
        let items = log["items"].as_array().unwrap().clone();
        let ends: Vec<Value> =
            items.into_iter().filter(|event| event["data"]["finding"] == "session").collect();
        if ends.len() >= count {
            return ends;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("there are not {count} ends of sessions");
}

fn abandoned(server: &Server) -> Vec<String> {
    let log = server.get("/api/v1/events?type=interaction&source=session_analysis").1;
    let items = log["items"].as_array().unwrap();
    items
        .iter()
        .map(|event| {
            assert_eq!(event["data"]["kind"], "abandonment");
            event["message_id"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[test]
fn silent_session_ends_once_and_unused_answer_is_abandoned() {
    let server = start_without_sweep();
    for conversation in ["left", "used", "kind", "waiting"] {
        let talk = TestConversation::new(&server, conversation, "u1");
        let turn = format!("{conversation}-1");
        talk.send_message_at(&turn, &format!("What is the {conversation} price?"), 0);
        talk.answer(&turn, "It is 20 dollars and 50 cents.");
    }
    let copy = json!({"type": "implicit", "source": "user_interaction", "category": "quality",
        "session_id": "used", "message_id": "used-1", "user_id": "u1", "data": {"kind": "copy"}});
    assert_eq!(server.post("/api/v1/feedback", &copy).0, 201);
    let kind = TestConversation::new(&server, "kind", "u1");
    kind.send_message_at("kind-2", "Perfect, thank you!", 60);
    kind.answer("kind-2", "You are welcome!");
    // Recent activity, so the session has not ended.
    TestConversation::new(&server, "waiting", "u1").send("waiting-2", "And tomorrow?", &json!({}));
    let server = start_with_sweep(server.stop().1);
    let ends = wait_for_session_ends(&server, 4);
    let mut session_ends: Vec<(&str, &str, bool, u64)> = ends
        .iter()
        .map(|end| {
            let data = &end["data"];
            let text = |value: &'_ Value| value.as_str().map(str::to_owned);
            assert!(text(&data["last_at"]).unwrap() >= text(&data["started_at"]).unwrap());
            (
                end["session_id"].as_str().unwrap(),
                end["message_id"].as_str().unwrap(),
                data["abandoned"].as_bool().unwrap(),
                data["turns"].as_u64().unwrap(),
            )
        })
        .collect();
    session_ends.sort_unstable();
    let expected = [
        ("kind", "kind-2", false, 2),
        ("left", "left-1", true, 1),
        ("used", "used-1", false, 1),
        ("waiting", "waiting-1", true, 1),
    ];
    assert_eq!(session_ends, expected);
    let mut left = abandoned(&server);
    left.sort_unstable();
    assert_eq!(left, ["left-1", "waiting-1"]);
    // Another sweep, also after a kill, ends nothing twice.
    let server = start_with_sweep(server.kill_and_leave());
    let before = server.get("/api/v1/events?limit=1000").1;
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(server.get("/api/v1/events?limit=1000").1, before);
    let (_, folder) = server.stop();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}");
}

#[test]
fn message_after_a_silence_starts_a_new_session() {
    let server = start_without_sweep();
    let talk = TestConversation::new(&server, "c1", "u1");
    for (n, secs) in [(1, 0), (2, 600), (3, 600 + 31 * 60), (4, 600 + 32 * 60)] {
        let turn = format!("t{n}");
        talk.send_message_at(&turn, &format!("What does item number {n} cost?"), secs);
        talk.answer(&turn, "It costs 20 dollars and 50 cents.");
    }
    let ends = wait_for_session_ends(&server, 1);
    assert_eq!(ends.len(), 1, "{ends:?}");
    assert_eq!((&ends[0]["message_id"], &ends[0]["data"]["turns"]), (&json!("t2"), &json!(2)));
    let timeline = server.get("/api/v1/conversations/c1").1;
    let shown: Vec<bool> = timeline["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| turn["verdict"]["session_ended"].as_bool().unwrap())
        .collect();
    assert_eq!(shown, [false, true, false, false], "{timeline}");
    assert_eq!(timeline["turns"][1]["verdict"]["status"], "neutral");
    let page = server.get("/api/v1/conversations/c1?limit=3").1;
    assert_eq!(page["turns"][0]["turn_id"], "t2", "{page}");
    let cursor = page["next_cursor"].as_str().unwrap();
    let older = server.get(&format!("/api/v1/conversations/c1?limit=3&cursor={cursor}")).1;
    assert_eq!(
        (older["turns"].as_array().unwrap().len(), &older["next_cursor"]),
        (1, &Value::Null)
    );
    assert_eq!(server.get("/api/v1/conversations/nowhere").0, 404);
    // Turns with equal times are all found, page by page.
    let talk = TestConversation::new(&server, "c2", "u1");
    for n in 0..5 {
        talk.send_message_at(&format!("s{n}"), "What does it cost?", 0);
    }
    let (mut seen, mut path) = (Vec::new(), "/api/v1/conversations/c2?limit=2".to_owned());
    loop {
        let page = server.get(&path).1;
        seen.extend(crate::conversation_calls::turn_ids(&page["turns"]).into_iter().rev());
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/api/v1/conversations/c2?limit=2&cursor={cursor}");
    }
    assert_eq!(seen, ["s4", "s3", "s2", "s1", "s0"]);
}

fn rate(server: &Server, metric: &str) -> (f64, u64) {
    let (status, quality) = server.get("/api/v1/feedback/quality/default?period_days=3650");
    assert_eq!(status, 200, "{quality}");
    let found = &quality["metrics"][metric];
    (found["numerator"].as_f64().unwrap(), found["denominator"].as_u64().unwrap())
}

#[test]
fn reported_abandonment_makes_the_session_abandoned() {
    let server = start_without_sweep();
    let report = |turn: Option<&str>, session: Option<&str>| {
        let body = json!({"type": "implicit", "source": "user_interaction", "category": "quality",
            "message_id": turn, "session_id": session, "data": {"kind": "abandonment"}});
        assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
    };
    // The third report arrives before its turn.
    report(Some("c-1"), None);
    for conversation in ["a", "b", "c"] {
        let talk = TestConversation::new(&server, conversation, "u1");
        let turn = format!("{conversation}-1");
        talk.send_message_at(&turn, "What is the price?", 0);
        talk.answer(&turn, "It is 20 dollars and 50 cents.");
    }
    report(Some("a-1"), None);
    report(None, Some("b"));
    assert_eq!(rate(&server, "abandonment_rate"), (3.0, 3), "at once");
    let server = start_with_sweep(server.kill_and_leave());
    wait_for_session_ends(&server, 1);
    assert_eq!(rate(&server, "abandonment_rate"), (3.0, 3), "the sweep agrees");
    // The user returns: a new session, and the old one stays abandoned.
    TestConversation::new(&server, "a", "u1").send("a-2", "And tomorrow?", &json!({}));
    assert_eq!(rate(&server, "abandonment_rate"), (3.0, 3));
    let folder = server.kill_and_leave();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains("\"changed\":false"), "{out}");
}

#[test]
fn detected_refinement_counts_in_the_refinement_rate() {
    let server = start_without_sweep();
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send("t1", "Show total sales by region", &json!({"response": "North 5, south 7."}));
    let answer = talk.send(
        "t2",
        "Show total sales by region for 2024 only",
        &json!({"response": "North 2, south 3."}),
    );
    let (_, findings) = server.get("/api/v1/events?type=quality&source=engine");
    assert!(findings.to_string().contains("query_refinement"), "{answer} {findings}");
    assert_eq!(rate(&server, "refinement_rate"), (1.0, 2));
    // The application reports the same refinement; it counts once.
    let body = json!({"type": "implicit", "source": "user_interaction", "category": "quality",
        "message_id": "t2", "data": {"kind": "query_refinement"}});
    assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
    assert_eq!(rate(&server, "refinement_rate"), (1.0, 2));
    let folder = server.kill_and_leave();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains("\"changed\":false"), "{out}");
    assert_eq!(rate(&Server::start_in(folder), "refinement_rate"), (1.0, 2));
}

fn report_abandonment(server: &Server, session: &str) {
    let body = json!({"type": "implicit", "source": "user_interaction", "category": "quality",
        "session_id": session, "data": {"kind": "abandonment"}});
    let (status, answer) = server.post("/api/v1/feedback", &body);
    assert_eq!((status, &answer["warnings"]), (201, &Value::Null), "{answer}");
}

#[test]
fn reported_abandonment_counts_without_an_open_session() {
    let server = start_without_sweep();
    // A quoted turn opens no session.
    let rating = json!({"type": "explicit", "source": "user_rating", "category": "quality",
        "session_id": "quoted", "message_id": "q-1", "user_id": "u1", "data": {"rating": "positive",
        "query": "What is the price?", "response": "It is 20 dollars."}});
    assert_eq!(server.post("/api/v1/feedback", &rating).0, 201);
    report_abandonment(&server, "quoted");
    assert_eq!(rate(&server, "abandonment_rate"), (1.0, 1));
    // The sweep ends this session first. Its last answer was used.
    let talk = TestConversation::new(&server, "swept", "u1");
    for (turn, secs) in [("s-2", 60), ("s-1", 0)] {
        talk.send_message_at(turn, "What is the price?", secs);
        talk.answer(turn, "It is 20 dollars and 50 cents.");
        let copy = json!({"type": "implicit", "source": "user_interaction", "category": "quality",
            "message_id": turn, "data": {"kind": "copy"}});
        assert_eq!(server.post("/api/v1/feedback", &copy).0, 201);
    }
    let server = start_with_sweep(server.kill_and_leave());
    wait_for_session_ends(&server, 1);
    assert_eq!(rate(&server, "abandonment_rate"), (1.0, 2));
    report_abandonment(&server, "swept");
    assert_eq!(rate(&server, "abandonment_rate"), (2.0, 2), "the ended session counts once");
    let ended = |turn: &str| {
        server.get(&format!("/api/v1/turns/{turn}")).1["verdict"]["session_ended"].clone()
    };
    assert_eq!([ended("s-1"), ended("s-2")], [json!(false), json!(true)]);
    // The quoted turn arrives, with a session of its own. The sweep keeps what was reported.
    let talk = TestConversation::new(&server, "quoted", "u1");
    talk.send_message_at("q-1", "What is the price?", 0);
    talk.answer("q-1", "It is 20 dollars.");
    wait_for_session_ends(&server, 2);
    assert_eq!(rate(&server, "abandonment_rate"), (2.0, 2));
    let folder = server.kill_and_leave();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains("\"changed\":false"), "{out}");
    assert_eq!(rate(&Server::start_in(folder), "abandonment_rate"), (2.0, 2));
}
