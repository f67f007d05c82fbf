//! Full disk: writes get 503, nothing unacknowledged is stored, and the server recovers by itself.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testkit::rating_body;

use crate::engine;
use crate::feedback_calls::{react, turn};
use crate::server::Server;

/// A server that gets an error on a full disk instead of a signal.
fn start() -> Server {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap '' XFSZ; exec \"$0\" serve --listen 127.0.0.1:0 --data \"$1\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_uptake")]).arg(folder.path());
    // Its log lines are not part of the test's output.
    command.env("UPTAKE__LOG__LEVEL", "error").stdout(Stdio::piped()).stderr(Stdio::null());
    Server::spawn(command, folder)
}

/// Limits the growth of the server's files, in bytes.
fn limit_growth(server: &Server, more: u64) {
    let files = std::fs::read_dir(server.folder()).unwrap();
    let largest = files.map(|file| file.unwrap().metadata().unwrap().len()).max().unwrap();
    limit_files(server, &(largest + more).to_string());
}

/// Limits the size of the server's files, in bytes, or `unlimited`.
fn limit_files(server: &Server, limit: &str) {
    let (pid, size) = (server.pid().to_string(), format!("--fsize={limit}:unlimited"));
    let set = Command::new("prlimit").args(["--pid", &pid, &size]).status().unwrap();
    assert!(set.success());
}

fn rating(id: &str) -> Value {
    let mut body = rating_body("t1");
    body["id"] = json!(id);
    body["data"]["note"] = json!("x".repeat(2000));
    body
}

#[test]
fn full_disk_gets_503_and_recovers_when_there_is_space() {
    if !engine::is_in_folder("a full disk") {
        return;
    }
    let server = start();
    turn(&server, "c1", "t1");
    limit_growth(&server, 1 << 20);
    let (mut stored, mut refused) = (Vec::new(), Vec::new());
    for n in 0..400 {
        let id = format!("e{n}");
        let (status, answer) = server.post("/api/v1/feedback", &rating(&id));
        match status {
            201 => stored.push(id),
            503 => refused.push(id),
            other => panic!("{other}: {answer}"),
        }
    }
    assert!(!stored.is_empty() && refused.len() > 10, "{} {}", stored.len(), refused.len());
    // No endpoint stores part of a write, and reads continue. A small write may still fit where a
    // large one did not.
    let refused_reaction = (0..500).find(|n| {
        let before = server.get("/api/v1/turns/t1").1;
        let body = json!({"reaction": "not_ok", "text": format!("{n} {}", "y".repeat(900))});
        let status = react(&server, "c1", "t1", &body).0;
        assert!(status == 200 || server.get("/api/v1/turns/t1").1 == before, "half-written");
        status == 503
    });
    assert!(refused_reaction.is_some());
    // A checkpoint of the write-ahead log, which runs in the background, may free some space. From
    // here on there is none.
    limit_files(&server, "4096");
    let open = json!({"turn_id": "t2", "text": "q".repeat(50_000), "response": "a"});
    assert_eq!(server.post("/api/v1/turns", &open).0, 503);
    assert_eq!(server.get("/api/v1/turns/t2").0, 404);
    assert_eq!(server.get("/health/ready").0, 503);
    let batch = json!([rating("b1"), rating("b2")]);
    assert_eq!(server.post("/api/v1/feedback/batch", &batch).0, 503);

    limit_files(&server, "unlimited");
    assert_eq!(server.get("/health/ready").0, 200, "it finds out by itself");
    for id in &refused {
        assert_eq!(
            server.post("/api/v1/feedback", &rating(id)).0,
            201,
            "{id} was not acknowledged"
        );
    }
    assert_eq!(server.post("/api/v1/feedback/batch", &batch).1["accepted"], 2);
    assert_eq!(react(&server, "c1", "t1", &json!({"reaction": "not_ok"})).0, 200);
    assert_eq!(server.post("/api/v1/turns", &open).0, 201);
    let server = server.kill_and_restart();
    for id in stored.iter().chain(&refused) {
        assert_eq!(server.get(&format!("/api/v1/feedback/{id}")).0, 200, "{id} is gone");
    }
}

#[test]
fn partly_stored_batch_lists_the_items_to_retry() {
    if !engine::is_in_folder("a batch that is stored in part") {
        return;
    }
    let server = start();
    turn(&server, "c1", "t1");
    // Room for the first groups of the batch, never for all of them (over 15 MB), even if a
    // checkpoint moves half of them from the write-ahead log to the database.
    limit_growth(&server, 5 << 20);
    let items: Vec<Value> = (0..7000).map(|n| rating(&format!("e{n}"))).collect();
    let (status, answer) = server.post("/api/v1/feedback/batch", &Value::Array(items.clone()));
    assert_eq!(status, 207, "{status}");
    let count = |name: &str| answer[name].as_u64().unwrap();
    assert!(count("accepted") > 0 && count("rejected") > 0, "{}", answer["accepted"]);
    assert_eq!(count("accepted") + count("rejected"), 7000);
    let error = &answer["errors"][0];
    assert!(error["message"].as_str().unwrap().contains("send the request again"), "{error}");
    limit_files(&server, "unlimited");
    let again = server.post("/api/v1/feedback/batch", &Value::Array(items)).1;
    assert_eq!(again["replayed"], answer["accepted"]);
    assert_eq!(again["accepted"], answer["rejected"]);
}
