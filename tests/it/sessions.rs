//! Conversations go silent: sessions end once, and what was left lying is told.

use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Server, uptake};
use crate::talk::Talk;

/// Nothing is swept but at the start, so that no session ends before all of it was told.
fn quiet() -> Server {
    let settings = [("UPTAKE__DETECT__SWEEP_SECS", "86400")];
    Server::start_with(tempfile::tempdir().unwrap(), &settings)
}

fn sweeping_in(folder: tempfile::TempDir) -> Server {
    Server::start_with(folder, &[("UPTAKE__DETECT__SWEEP_SECS", "1")])
}

/// The ends of sessions that are in the log, once there are so many.
fn ends(server: &Server, count: usize) -> Vec<Value> {
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
fn a_silent_session_ends_once_and_an_unused_answer_is_abandoned() {
    let server = quiet();
    for conversation in ["left", "used", "kind", "waiting"] {
        let talk = Talk::new(&server, conversation, "u1");
        let turn = format!("{conversation}-1");
        talk.say_at(&turn, &format!("What is the {conversation} price?"), 0);
        talk.answer(&turn, "It is 20 dollars and 50 cents.");
    }
    let copy = json!({"type": "implicit", "source": "user_interaction", "category": "quality",
        "session_id": "used", "message_id": "used-1", "user_id": "u1", "data": {"kind": "copy"}});
    assert_eq!(server.post("/api/v1/feedback", &copy).0, 201);
    let kind = Talk::new(&server, "kind", "u1");
    kind.say_at("kind-2", "Perfect, thank you!", 60);
    kind.answer("kind-2", "You are welcome!");
    // Goes on just now, so it has not ended.
    Talk::new(&server, "waiting", "u1").send("waiting-2", "And tomorrow?", &json!({}));
    let server = sweeping_in(server.stop().1);
    let ends = ends(&server, 4);
    let mut told: Vec<(&str, &str, bool, u64)> = ends
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
    told.sort_unstable();
    let expected = [
        ("kind", "kind-2", false, 2),
        ("left", "left-1", true, 1),
        ("used", "used-1", false, 1),
        ("waiting", "waiting-1", true, 1),
    ];
    assert_eq!(told, expected);
    let mut left = abandoned(&server);
    left.sort_unstable();
    assert_eq!(left, ["left-1", "waiting-1"]);
    // Another sweep, also after a crash, ends nothing again.
    let server = sweeping_in(server.kill_and_leave());
    let before = server.get("/api/v1/events?limit=1000").1;
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(server.get("/api/v1/events?limit=1000").1, before);
    let (_, folder) = server.stop();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}");
}

#[test]
fn a_message_after_a_silence_begins_a_new_session_of_the_same_conversation() {
    let server = quiet();
    let talk = Talk::new(&server, "c1", "u1");
    for (n, secs) in [(1, 0), (2, 600), (3, 600 + 31 * 60), (4, 600 + 32 * 60)] {
        let turn = format!("t{n}");
        talk.say_at(&turn, &format!("What does item number {n} cost?"), secs);
        talk.answer(&turn, "It costs 20 dollars and 50 cents.");
    }
    let ends = ends(&server, 1);
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
    // Turns of one moment are all found, page by page.
    let talk = Talk::new(&server, "c2", "u1");
    for n in 0..5 {
        talk.say_at(&format!("s{n}"), "What does it cost?", 0);
    }
    let (mut seen, mut path) = (Vec::new(), "/api/v1/conversations/c2?limit=2".to_owned());
    loop {
        let page = server.get(&path).1;
        seen.extend(crate::talk::ids(&page["turns"]).into_iter().rev());
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/api/v1/conversations/c2?limit=2&cursor={cursor}");
    }
    assert_eq!(seen, ["s4", "s3", "s2", "s1", "s0"]);
}
