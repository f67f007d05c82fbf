//! The reader judges messages that the instant models are unsure about.

use std::process::Command;

use serde_json::{Value, json};

use crate::experiments::experiment_calls::until;
use crate::score::run_score;
use crate::server::{Server, uptake_with};

const ON: [(&str, &str); 1] = [("UPTAKE__DETECT__READER", "auto")];
/// A reading in a debug build may take longer than the default budget.
const PATIENT: [(&str, &str); 2] =
    [("UPTAKE__DETECT__READER", "auto"), ("UPTAKE__DETECT__READER_BUDGET_MS", "20000")];
/// Contradicts the answer without a word that the instant models know.
const MESSAGE: &str = "the warehouse report says 1,412";

fn start(settings: &[(&str, &str)]) -> Server {
    Server::start_with(tempfile::tempdir().unwrap(), settings)
}

fn answer(server: &Server, conversation: &str) {
    let turn = json!({"conversation_id": conversation, "turn_id": format!("{conversation}-1"), "user_id": "ann",
        "text": "how many orders did we ship in march", "response": "You shipped 1,240 orders in March."});
    assert_eq!(server.post("/api/v1/turns", &turn).0, 201);
}

/// Sends the message with more fields and returns the verdict of the response.
fn send(server: &Server, conversation: &str, more: &Value) -> Value {
    let mut turn = json!({"conversation_id": conversation, "turn_id": format!("{conversation}-2"),
        "user_id": "ann", "text": MESSAGE});
    turn.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (status, opened) = server.post("/api/v1/turns", &turn);
    assert_eq!(status, 201, "{opened}");
    opened["previous"].clone()
}

fn verdict(server: &Server, conversation: &str) -> Value {
    server.get(&format!("/api/v1/turns/{conversation}-1")).1["verdict"]["found"].clone()
}

fn is_read(found: &Value) -> bool {
    found["detector"].as_str().is_some_and(|detector| detector.starts_with("verdict.reader/"))
}

#[test]
fn reader_replaces_an_unsure_verdict_after_the_response_also_after_a_kill() {
    let server = start(&ON);
    answer(&server, "c");
    let instant = send(&server, "c", &json!({}));
    assert_ne!(instant["rule"], "reader", "{instant}");
    until("the message is read", || is_read(&verdict(&server, "c")));
    let read = verdict(&server, "c");
    assert_eq!(read["status"], "rejected", "{read}");
    let turn = server.get("/api/v1/turns/c-1").1;
    assert_eq!(turn["reactions"][0]["reaction"], "not_ok", "{turn}");
    assert_eq!(turn["reactions"][0]["origin"], "machine");
    let evidence = &read["evidence"][0];
    let at = |name: &str| usize::try_from(evidence[name].as_u64().unwrap()).unwrap();
    assert!(MESSAGE.get(at("start")..at("end")).is_some_and(|part| !part.is_empty()), "{read}");
    let server = Server::start_with(server.kill_and_leave(), &ON);
    assert_eq!(verdict(&server, "c"), read);
    let (_, folder) = server.stop();
    let (code, out, err) = uptake_with(folder.path(), &["rebuild", "--json"], &ON);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("{\"changed\":false"), "{out}");
}

#[test]
fn requests_that_need_the_verdict_wait_for_the_reader() {
    let server = start(&PATIENT);
    for (conversation, more) in [
        ("now", json!({"read": "now"})),
        ("context", json!({"include": ["context"]})),
        ("strategies", json!({"include": ["strategies"]})),
    ] {
        answer(&server, conversation);
        let found = send(&server, conversation, &more);
        assert_eq!((&found["status"], &found["rule"]), (&json!("rejected"), &json!("reader")));
        assert!(is_read(&verdict(&server, conversation)));
    }
    let (status, refused) = server.post("/api/v1/turns", &json!({"text": "q", "read": "never"}));
    assert_eq!((status, &refused["field"]), (422, &json!("read")), "{refused}");
}

#[test]
fn exhausted_budget_leaves_the_message_to_the_background() {
    let server = start(&[ON[0], ("UPTAKE__DETECT__READER_BUDGET_MS", "0")]);
    answer(&server, "c");
    let instant = send(&server, "c", &json!({"read": "now"}));
    assert_ne!(instant["rule"], "reader", "{instant}");
    until("the message is read", || is_read(&verdict(&server, "c")));
    let page = server.get("/metrics").1;
    assert!(page.as_str().unwrap().contains("uptake_reader_late_total 1"), "{page}");
}

#[test]
fn message_about_a_late_answer_is_read_in_the_background() {
    let server = start(&ON);
    let question = json!({"conversation_id": "c", "turn_id": "c-1", "user_id": "ann",
        "text": "how many orders did we ship in march"});
    assert_eq!(server.post("/api/v1/turns", &question).0, 201);
    assert_eq!(send(&server, "c", &json!({})), Value::Null, "there is no answer yet");
    let late = json!({"response": "You shipped 1,240 orders in March."});
    assert_eq!(server.post("/api/v1/turns/c-1/complete", &late).0, 200);
    until("the message is read", || is_read(&verdict(&server, "c")));
    assert_eq!(verdict(&server, "c")["status"], "rejected");
}

#[test]
fn reader_that_is_off_changes_nothing_until_redetect() {
    let server = start(&[]);
    answer(&server, "c");
    send(&server, "c", &json!({"read": "now"}));
    assert!(!is_read(&verdict(&server, "c")));
    let (_, folder) = server.stop();
    let redetect = |settings: &[(&str, &str)]| {
        let (code, out, err) = uptake_with(folder.path(), &["redetect", "--json"], settings);
        assert_eq!(code, Some(0), "{err}");
        serde_json::from_str::<Value>(&out).unwrap()["findings"].clone()
    };
    assert_eq!(redetect(&[]), 0);
    assert_eq!(redetect(&ON), 1);
    assert_eq!(redetect(&ON), 0, "nothing is found twice");
    let server = Server::start_in(folder);
    assert_eq!(verdict(&server, "c")["status"], "rejected");
}

#[test]
fn words_of_an_erased_user_are_not_stored_again_by_the_reader() {
    let server = start(&ON);
    for number in 0..30 {
        answer(&server, &format!("c{number}"));
        send(&server, &format!("c{number}"), &json!({}));
    }
    assert_eq!(server.client().delete("/api/v1/users/ann").0, 200);
    let queued = || {
        let page = server.get("/metrics").1;
        page.as_str().unwrap().contains("uptake_reader_queue_messages 0")
    };
    until("the queue is empty", queued);
    let (_, folder) = server.stop();
    let (code, out, err) = uptake_with(folder.path(), &["export"], &[]);
    assert_eq!(code, Some(0), "{err}");
    assert!(!out.contains("warehouse report"), "{out}");
}

#[test]
fn live_verdict_score_scan_and_redetect_agree_exactly() {
    let server = start(&PATIENT);
    answer(&server, "c");
    send(&server, "c", &json!({"read": "now"}));
    let live = verdict(&server, "c");
    let (_, folder) = server.stop();
    let (_, out, _) = uptake_with(folder.path(), &["redetect", "--json"], &ON);
    assert!(out.contains("\"findings\":0"), "{out}");

    let texts =
        ["how many orders did we ship in march", "You shipped 1,240 orders in March.", MESSAGE];
    let chat = json!({"id": "x", "messages": [{"role": "user", "content": texts[0]},
        {"role": "assistant", "content": texts[1]}, {"role": "user", "content": texts[2]}]});
    let file = folder.path().join("chat.jsonl");
    std::fs::write(&file, format!("{chat}\n")).unwrap();
    let verdicts = folder.path().join("verdicts.jsonl");
    let scan = |more: &[&str]| {
        let named = ["scan", "--verdicts", verdicts.to_str().unwrap(), file.to_str().unwrap()];
        let mut scanning = Command::new(env!("CARGO_BIN_EXE_uptake"));
        let output = scanning.args(named).args(more).envs(ON).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let line = std::fs::read_to_string(&verdicts).unwrap();
        serde_json::from_str::<Value>(line.lines().next().unwrap()).unwrap()
    };
    let scanned = scan(&[]);
    assert_eq!(scanned["verdict"]["dissatisfied"], live["dissatisfied"], "{scanned}");
    assert_ne!(scan(&["--fast"])["verdict"]["dissatisfied"], live["dissatisfied"]);

    let row = json!({"prev_user": texts[0], "assistant": texts[1], "user": texts[2]});
    let (_, scored) = run_score(&["--task", "verdict"], format!("{row}\n").as_bytes(), &ON);
    assert_eq!(scored[0]["p"], live["dissatisfied"], "{scored:?}");
}
