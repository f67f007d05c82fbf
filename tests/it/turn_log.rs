//! Turn logs: contents, copies and erased text.

use serde_json::{Value, json};

use crate::experiments::experiment_calls::until;
use crate::feedback_calls::{react, turn};
use crate::server::Server;

/// The turn with its log, from the conversation report.
fn read_turn_log(server: &Server, conversation: &str, turn: &str) -> Value {
    let path = format!("/conversations/default/default/{conversation}/turns-with-feedbacks");
    let body = json!({"turn_ids": [turn], "include": ["turn_log", "assistant", "user"]});
    let (status, report) = server.post(&path, &body);
    assert_eq!(status, 200, "{report}");
    report["turns"][0].clone()
}

#[test]
fn reaction_is_added_to_the_turn_log_and_clearing_removes_its_text() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    react(&server, "c1", "t1", &json!({"reaction": "ok", "text": "first words"}));
    react(&server, "c1", "t1", &json!({"reaction": "not_ok", "text": "secret words"}));
    let filled = |server: &Server| {
        let shown = read_turn_log(server, "c1", "t1");
        assert_eq!(
            (&shown["user"]["text"], &shown["assistant"]["response"]),
            (&json!("What is the answer?"), &json!("42"))
        );
        let log = &shown["turn_log"];
        assert_eq!(log["feedbacks"][0]["text"], "secret words", "{log}");
        assert_eq!(log["feedbacks"].as_array().unwrap().len(), 1);
        let kinds: Vec<&Value> =
            log["entries"].as_array().unwrap().iter().map(|e| &e["kind"]).collect();
        assert_eq!(kinds, ["user", "assistant", "signals", "reaction"]);
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
        let shown = read_turn_log(server, "c1", "t1");
        assert!(!shown.to_string().contains("words"), "{shown}");
        assert_eq!((&shown["feedbacks"], &shown["reactions"]), (&json!([]), &json!([])));
        let entries = shown["turn_log"]["entries"].as_array().unwrap();
        assert_eq!(entries.last().unwrap()["kind"], "reaction_cleared", "{shown}");
        assert!(!server.get("/api/v1/turns/t1/log").1.to_string().contains("words"));
    };
    cleared(&server);
    cleared(&server.kill_and_restart());
}

/// The copy of a turn log, once it includes this event.
fn wait_for_copy(server: &Server, turn: &str, position: u64) -> Value {
    let path = format!("/api/v1/turns/{turn}/log?copy=true");
    let state = format!("?position={position}");
    let mut copy = Value::Null;
    until("the copy", || {
        let (status, shown) = server.get(&path);
        copy = shown;
        status == 200 && copy["hosted_uri"].as_str().is_some_and(|uri| uri.ends_with(&state))
    });
    copy
}

fn check_mirror(keep: &str) {
    let settings = [("UPTAKE__TURN_LOG__MIRROR", "true"), ("UPTAKE__TURN_LOG__KEEP", keep)];
    let start = |folder| Server::start_with(folder, &settings);
    let server = start(tempfile::tempdir().unwrap());
    turn(&server, "c1", "t.1");
    react(&server, "c1", "t.1", &json!({"reaction": "ok", "text": "secret words"}));
    let filled = wait_for_copy(&server, "t.1", 4);
    assert_eq!(filled["turn_log"]["feedbacks"][0]["text"], "secret words");
    let server = start(server.kill_and_leave());
    assert_eq!(wait_for_copy(&server, "t.1", 4), filled);
    react(&server, "c1", "t.1", &json!({"reaction": null}));
    // Killed at once: the copy is written after the restart if it is missing.
    let server = start(server.kill_and_leave());
    let cleared = wait_for_copy(&server, "t.1", 5);
    assert!(!cleared.to_string().contains("words"), "{cleared}");
    if keep == "folder" {
        let file = server.folder().join("turn-logs/default/default/t=2e1.json");
        let document: Value =
            serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        assert_eq!(document, cleared["turn_log"]);
        let uri = cleared["hosted_uri"].as_str().unwrap();
        assert!(uri.starts_with("file://") && uri.contains("t=2e1.json?position="), "{uri}");
    }
}

#[test]
fn turn_log_copy_is_updated_in_a_table() {
    check_mirror("table");
}

#[test]
fn turn_log_copy_is_updated_in_a_folder() {
    check_mirror("folder");
}

#[test]
fn failing_mirror_blocks_no_request_and_catches_up() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("copies");
    std::fs::write(&place, "a file where a folder should be").unwrap();
    let settings = [
        ("UPTAKE__TURN_LOG__MIRROR", "true"),
        ("UPTAKE__TURN_LOG__KEEP", "folder"),
        ("UPTAKE__TURN_LOG__FOLDER", place.to_str().unwrap()),
        ("UPTAKE__LOG__LEVEL", "error"),
    ];
    let server = Server::start_with(tempfile::tempdir().unwrap(), &settings);
    turn(&server, "c1", "t1");
    assert_eq!(react(&server, "c1", "t1", &json!({"reaction": "ok", "text": "words"})).0, 200);
    assert_eq!(read_turn_log(&server, "c1", "t1")["turn_log"]["feedbacks"][0]["text"], "words");
    std::fs::remove_file(&place).unwrap();
    wait_for_copy(&server, "t1", 4);
}

#[test]
fn changed_storage_moves_all_turn_log_copies() {
    let start = |folder, keep: &str| {
        let settings = [("UPTAKE__TURN_LOG__MIRROR", "true"), ("UPTAKE__TURN_LOG__KEEP", keep)];
        Server::start_with(folder, &settings)
    };
    let server = start(tempfile::tempdir().unwrap(), "folder");
    turn(&server, "c1", "t1");
    react(&server, "c1", "t1", &json!({"reaction": "ok", "text": "secret words"}));
    wait_for_copy(&server, "t1", 4);
    let file = |server: &Server| server.folder().join("turn-logs/default/default/t1.json");
    assert!(file(&server).exists());
    let server = start(server.kill_and_leave(), "table");
    react(&server, "c1", "t1", &json!({"reaction": null}));
    wait_for_copy(&server, "t1", 5);
    assert!(!file(&server).exists(), "its words would stay there for ever");
    let server = Server::start_in(server.kill_and_leave());
    assert_eq!(server.get("/api/v1/turns/t1/log?copy=true").0, 404, "no copies are kept");
    let server = start(server.kill_and_leave(), "folder");
    wait_for_copy(&server, "t1", 5);
    assert!(file(&server).exists());
}
