//! Calls of the tests about reactions.

use serde_json::{Value, json};

use crate::server::Server;

const SCOPE: &str = "/conversations/default/default";

/// Opens and completes a turn in one call.
pub(crate) fn turn(server: &Server, conversation: &str, turn: &str) {
    let body = json!({"conversation_id": conversation, "turn_id": turn, "user_id": "u1",
        "text": "What is the answer?", "response": "42", "model": "m1"});
    assert_eq!(server.post("/api/v1/turns", &body).0, 201);
}

pub(crate) fn react(server: &Server, conversation: &str, turn: &str, body: &Value) -> (u16, Value) {
    server.post(&react_path(conversation, turn), body)
}

pub(crate) fn react_path(conversation: &str, turn: &str) -> String {
    format!("{SCOPE}/{conversation}/turns/{turn}/feedback")
}

/// The counts of one conversation: total, user, machine, ok, not_ok, neutral. Both reports must agree.
pub(crate) fn counts(server: &Server, conversation: &str) -> [u64; 6] {
    let body = json!({"include_turns": true});
    let (status, page) = server.post(&format!("{SCOPE}/feedback/conversations-in-period"), &body);
    assert_eq!(status, 200, "{page}");
    let items = page["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["conversation_id"] == conversation);
    let counts = item.map_or([0; 6], |item| read_counts(&item["feedback_counts"]));
    let listed: usize = item.map_or(0, |item| {
        let turns = item["turns"].as_array().unwrap();
        turns.iter().map(|turn| turn["feedbacks"].as_array().unwrap().len()).sum()
    });
    assert_eq!(counts[0], listed as u64, "the list and the count differ: {item:?}");
    let (status, own) = server.get(&format!("{SCOPE}/{conversation}/turns-with-feedbacks"));
    assert_eq!(status, 200, "{own}");
    assert_eq!(read_counts(&own["feedback_counts"]), counts, "the two reports differ");
    counts
}

fn read_counts(counts: &Value) -> [u64; 6] {
    let names = ["total", "user", "machine", "ok", "not_ok", "neutral"];
    let read = names.map(|name| counts[name].as_u64().unwrap_or_else(|| panic!("{counts}")));
    let [total, user, machine, ok, not_ok, neutral] = read;
    assert_eq!((total, total), (user + machine, ok + not_ok + neutral), "{counts}");
    read
}
