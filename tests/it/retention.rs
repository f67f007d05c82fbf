//! Retention drops old events in steps. A crash or an erasure between two of them changes nothing.

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::rating_body;

use crate::experiments::experiment_calls::until;
use crate::feedback_calls::{counts, react_path};
use crate::privacy::is_on_disk;
use crate::server::{Client, Server, uptake};

/// A store with the events of a server, dated long ago, since an import keeps the times of events.
pub(crate) fn import_with_old_dates(server: Server) -> TempDir {
    let (_, folder) = server.stop();
    let (_, log, _) = uptake(folder.path(), &["export"]);
    let old = |line: &str| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        event["received_at"] = json!("2001-01-01T00:00:00Z");
        event.to_string()
    };
    let lines: Vec<String> = log.lines().map(old).collect();
    let store = tempfile::tempdir().unwrap();
    let file = store.path().join("old.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    assert_eq!(uptake(store.path(), &["import", file.to_str().unwrap()]).0, Some(0));
    std::fs::remove_file(file).unwrap();
    store
}

pub(crate) fn set_retention(server: &Server) {
    let body = json!({"retention_days": {"events": 30}});
    let set = server.client().put("/api/v1/tenants/default/privacy", &body).1;
    assert_eq!(set["retention_days"]["events"], 30);
}

fn assert_rebuild_changes_nothing(folder: &TempDir) {
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}");
}

/// A turn, and a rating with the id `r{n}`.
fn send_turn(client: &Client, n: usize, user: &str, words: &str) {
    let (turn, conversation) = (format!("t{n}"), format!("c{}", n % 5));
    let body = json!({"turn_id": turn, "conversation_id": conversation, "user_id": user,
        "text": format!("{words} What is the total of order {n}?"), "response": words,
        "track_id": words, "strategy": {"name": words}, "model": "m1",
        "retrieved": [{"entity_id": "e1", "content": words}]});
    assert_eq!(client.post("/api/v1/turns", &body).0, 201);
    let mut rating = rating_body(&turn);
    rating["id"] = json!(format!("r{n}"));
    rating["user_id"] = json!(user);
    rating["data"]["comment"] = json!(words);
    assert_eq!(client.post("/api/v1/feedback", &rating).0, 201);
}

fn react(server: &Server, n: usize, words: &str) {
    let path = react_path(&format!("c{}", n % 5), &format!("t{n}"));
    for reaction in ["ok", "not_ok"] {
        assert_eq!(server.post(&path, &json!({"reaction": reaction, "text": words})).0, 200);
    }
}

fn is_dropped(client: &Client, n: usize) -> bool {
    client.get(&format!("/api/v1/feedback/r{n}")).0 == 404
}

#[test]
fn kills_during_retention_change_no_projection() {
    let server = Server::start();
    let other = server.client().with_header("X-Uptake-Project", "other");
    let tenant = server.client().with_header("X-Uptake-Tenant", "acme");
    for n in 0..60 {
        send_turn(&server.client(), n, &format!("u{}", n % 4), "words");
        react(&server, n, "words");
        if n < 6 {
            send_turn(&other, n, "u1", "words");
            send_turn(&tenant, n, "u1", "words");
        }
    }
    let mut folder = import_with_old_dates(server);
    let server = Server::start_in(folder);
    let before: Vec<[u64; 6]> = (0..5).map(|n| counts(&server, &format!("c{n}"))).collect();
    set_retention(&server);
    folder = server.kill_and_leave();
    for n in [0, 25, 59] {
        assert_rebuild_changes_nothing(&folder);
        // The job runs at the start.
        let server = Server::start_in(folder);
        until("it is dropped", || is_dropped(&server.client(), n));
        folder = server.kill_and_leave();
    }
    assert_rebuild_changes_nothing(&folder);
    let server = Server::start_in(folder);
    let other = server.client().with_header("X-Uptake-Project", "other");
    until("the other project's events are dropped", || is_dropped(&other, 5));
    let after: Vec<[u64; 6]> = (0..5).map(|n| counts(&server, &format!("c{n}"))).collect();
    assert_eq!(after, before);
    let tenant = server.client().with_header("X-Uptake-Tenant", "acme");
    assert!((0..6).all(|n| !is_dropped(&tenant, n)), "another tenant keeps its events");
    send_turn(&server.client(), 99, "u1", "words");
    assert_rebuild_changes_nothing(&server.kill_and_leave());
}

#[test]
fn erasure_during_retention_leaves_no_text() {
    let server = Server::start();
    let users = ["zwxqv-ann", "zwxqv-bob", "zwxqv-eve"];
    for n in 0..90 {
        let words = format!("{}-words", users[n % 3]);
        send_turn(&server.client(), n, users[n % 3], &words);
        react(&server, n, &words);
    }
    let server = Server::start_in(import_with_old_dates(server));
    let before: Vec<[u64; 6]> = (0..5).map(|n| counts(&server, &format!("c{n}"))).collect();
    assert!(users.iter().all(|user| is_on_disk(&server, user)), "the look finds things");
    set_retention(&server);
    for (user, gone) in users.iter().zip([None, Some(10), Some(40)]) {
        until("it is dropped", || gone.is_none_or(|n| is_dropped(&server.client(), n)));
        let (status, erased) = server.client().delete(&format!("/api/v1/users/{user}"));
        assert_eq!(status, 200, "{erased}");
    }
    until("all are dropped", || is_dropped(&server.client(), 89));
    until("nothing of it is left", || !users.iter().any(|user| is_on_disk(&server, user)));
    let after: Vec<[u64; 6]> = (0..5).map(|n| counts(&server, &format!("c{n}"))).collect();
    assert_eq!(after, before);
    let folder = server.kill_and_leave();
    assert_rebuild_changes_nothing(&folder);
    let server = Server::start_in(folder);
    assert!(!users.iter().any(|user| is_on_disk(&server, user)), "nor after a rebuild");
}
