//! The program's log contains neither user text nor key secrets.

use std::fs::File;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::engine;
use crate::keys::create;
use crate::openapi::{EXAMPLES, call, document, operations};
use crate::server::{Client, Server};

/// A word that occurs nowhere else.
const CANARY: &str = "kumquat";

/// The value with the word in every text except a few.
fn with_canary(value: &Value, everywhere: bool) -> Value {
    match value {
        Value::String(text) if everywhere || text.contains(' ') => {
            json!(format!("{text} {CANARY} now"))
        }
        Value::Array(items) => items.iter().map(|item| with_canary(item, everywhere)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), with_canary(value, everywhere)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Sends the word to every endpoint, valid and invalid. Returns how often it was accepted.
fn send_everywhere(server: &Server, client: &Client) -> usize {
    let mut taken = 0;
    for (method, path, body) in operations(&document(server), &EXAMPLES) {
        if path.contains("{id}") || path.contains("/keys") || method == "delete" {
            continue;
        }
        for everywhere in [false, true] {
            let body = with_canary(&body, everywhere);
            let (status, answer) = call(client, &(method.clone(), path.clone(), body.clone()));
            assert!(status < 500, "{method} {path}: {answer}");
            taken += usize::from(status < 300 && body.to_string().contains(CANARY));
        }
        if method == "post" {
            let broken = format!("{{\"text\": \"{CANARY}\", ");
            let sent = client.send(&path, "application/json", broken.as_bytes()).unwrap();
            assert!(sent.0 < 500, "{path}: {}", sent.1);
        }
    }
    for path in
        ["/api/v1/events?type=", "/api/v1/turns/", "/nowhere/", "/?window=", "/conversations?q="]
    {
        assert!(client.get(&format!("{path}{CANARY}")).0 < 500);
    }
    taken
}

/// A conversation with complaints, corrections, comments and errors.
fn talk(client: &Client) {
    for n in 0..6 {
        let id = format!("talk-{n}");
        let asked = json!({"turn_id": id, "conversation_id": "talk", "user_id": "ann",
            "text": format!("No, that is wrong, I asked for {CANARY} {n}"), "include": ["context", "strategies"]});
        assert_eq!(client.post("/api/v1/turns", &asked).0, 201);
        let answered = json!({"response": format!("I cannot help with {CANARY}."), "model": "m",
            "error": format!("{CANARY} exploded"), "status": if n % 2 == 0 { "error" } else { "success" },
            "strategy": {"name": "s", "params": {"query": CANARY}},
            "retrieved": [{"entity_id": "e1", "content": format!("all about {CANARY}")}]});
        let completed = client.post(&format!("/api/v1/turns/{id}/complete"), &answered);
        assert!(completed.0 < 500, "{}", completed.1);
        let rating = json!({"type": "explicit", "source": "user_rating", "category": "quality",
            "message_id": id, "user_id": "ann", "data": {"rating": 1, "comment": format!("{CANARY}, awful")}});
        assert_eq!(client.post("/api/v1/feedback", &rating).0, 201);
        let better = json!({"message_id": id, "data": {"original_sql": format!("SELECT '{CANARY}'"),
            "corrected_sql": format!("SELECT '{CANARY}', 1")}});
        assert_eq!(client.post("/api/v1/feedback/correction", &better).0, 201);
    }
}

fn check_log(level: Option<&str>) {
    let (folder, logs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = logs.path().join("log");
    let mut command = Command::new(env!("CARGO_BIN_EXE_uptake"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(folder.path());
    command.stdout(Stdio::piped()).stderr(File::create(&file).unwrap());
    command.envs(level.map(|level| ("UPTAKE__LOG__LEVEL", level)));
    engine::equip(&mut command, folder.path());
    let server = Server::spawn(command, folder);
    let taken = send_everywhere(&server, &server.client());
    assert!(taken > 10, "only {taken} requests with the word were taken in");
    talk(&server.client());
    let key = create(&server, &["--tenant", "default", "--role", "admin"]);
    let known = server.client().with_header("Authorization", &format!("Bearer {key}"));
    talk(&known.clone().with_header("X-Uptake-Project", "other"));
    let keyed = known.clone().with_header("Idempotency-Key", CANARY);
    assert_eq!(keyed.post("/api/v1/turns", &json!({"text": CANARY})).0, 201);
    // Keys that are valid, wrong, revoked, and in the wrong header.
    let secret = key.rsplit('_').next().unwrap();
    let wrong = format!("uk_{CANARY}_{secret}");
    for (name, value) in [
        ("Authorization", format!("Bearer {wrong}")),
        ("X-API-Key", wrong.clone()),
        ("Authorization", format!("Basic {secret}")),
        ("Cookie", format!("uptake={secret}")),
    ] {
        assert_eq!(server.client().with_header(name, &value).get("/api/v1/events").0, 401);
    }
    let form = format!("key={key}");
    let login =
        server.client().send("/login", "application/x-www-form-urlencoded", form.as_bytes());
    assert!(login.unwrap().0 < 500);
    assert!(server.get(&format!("/api/v1/events?key={key}")).0 < 500);
    let (status, _folder) = server.stop();
    assert!(status.success());
    let log = std::fs::read_to_string(&file).unwrap();
    assert!(
        level != Some("trace") || log.contains("TRACE") || log.contains("DEBUG"),
        "nothing is logged"
    );
    assert!(log.contains("stopped"), "the log is there: {log}");
    for line in log.lines() {
        assert!(!line.contains(CANARY) && !line.contains(secret), "{line}");
    }
}

#[test]
fn log_contains_no_user_text() {
    check_log(None);
}

#[test]
fn trace_log_contains_no_user_text() {
    check_log(Some("trace"));
}
