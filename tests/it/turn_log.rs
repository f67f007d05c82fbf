//! A reaction fills the turn log, and a clear removes its text.

use serde_json::{Value, json};

use crate::reports::{react, turn};
use crate::server::Server;

/// The turn with its log, as the conversation's report brings it.
fn log_of(server: &Server, conversation: &str, turn: &str) -> Value {
    let path = format!("/conversations/default/default/{conversation}/turns-with-feedbacks");
    let body = json!({"turn_ids": [turn], "include": ["turn_log", "assistant", "user"]});
    let (status, report) = server.post(&path, &body);
    assert_eq!(status, 200, "{report}");
    report["turns"][0].clone()
}

#[test]
fn a_reaction_fills_the_turn_log_and_a_clear_removes_its_text() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    react(&server, "c1", "t1", &json!({"reaction": "ok", "text": "first words"}));
    react(&server, "c1", "t1", &json!({"reaction": "not_ok", "text": "secret words"}));
    let filled = |server: &Server| {
        let shown = log_of(server, "c1", "t1");
        assert_eq!(
            (&shown["user"]["text"], &shown["assistant"]["response"]),
            (&json!("What is the answer?"), &json!("42"))
        );
        let log = &shown["turn_log"];
        assert_eq!(log["feedbacks"][0]["text"], "secret words", "{log}");
        assert_eq!(log["feedbacks"].as_array().unwrap().len(), 1);
        let kinds: Vec<&Value> =
            log["entries"].as_array().unwrap().iter().map(|e| &e["kind"]).collect();
        assert_eq!(kinds, ["user", "assistant", "reaction"]);
        assert!(log["text"].as_str().unwrap().contains("secret words"), "{log}");
        assert!(!log.to_string().contains("first words"), "replaced: {log}");
        let record = &shown["reactions"][0];
        assert_eq!(record["meta"]["kind"], "turn.log.reaction", "{record}");
        assert_eq!(record["reaction"]["text"], "secret words", "{record}");
        assert_eq!(record["conversation_id"], "c1");
    };
    filled(&server);
    let server = server.kill_and_restart();
    filled(&server);
    assert_eq!(react(&server, "c1", "t1", &json!({"reaction": null})).1["cleared"], true);
    let cleared = |server: &Server| {
        let shown = log_of(server, "c1", "t1");
        assert!(!shown.to_string().contains("words"), "{shown}");
        assert_eq!((&shown["feedbacks"], &shown["reactions"]), (&json!([]), &json!([])));
        let entries = shown["turn_log"]["entries"].as_array().unwrap();
        assert_eq!(entries.last().unwrap()["kind"], "reaction_cleared", "{shown}");
        assert!(!server.get("/api/v1/turns/t1/log").1.to_string().contains("words"));
    };
    cleared(&server);
    cleared(&server.kill_and_restart());
}
