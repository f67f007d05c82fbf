//! Erasure of a user: no byte of their text remains, and the counts still match.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use testkit::rating_body;

use crate::engine;
use crate::experiments::experiment_calls::until;
use crate::feedback_calls::{counts, react};
use crate::privacy::{folder_contains, is_on_disk};
use crate::server::{Client, Server, uptake};

const WORDS: &str = "zwxqv-words";
const USER: &str = "zwxqv-user";

/// Sends a turn with the user's words in every field that takes text.
fn send_turn(client: &Client, user: &str, words: &str, n: usize) {
    let (turn, conversation) = (format!("t{n}-{}", user.len()), format!("c{}", n % 7));
    let long = format!("{words} ").repeat(n % 90 + 1);
    let body = json!({"turn_id": turn, "conversation_id": conversation, "user_id": user,
        "text": long, "track_id": words, "response": long, "strategy": {"name": words},
        "retrieved": [{"entity_id": "e1", "content": words}]});
    assert_eq!(client.post("/api/v1/turns", &body).0, 201);
    let path = crate::feedback_calls::react_path(&conversation, &turn);
    assert_eq!(client.post(&path, &json!({"reaction": "ok", "text": words})).0, 200);
    assert_eq!(client.post(&path, &json!({"reaction": "not_ok", "text": long})).0, 200);
    let mut rating = rating_body(&turn);
    rating["user_id"] = Value::Null;
    rating["session_id"] = json!(conversation);
    rating["tags"] = json!([words]);
    rating["data"]["comment"] = json!(words);
    assert_eq!(client.post("/api/v1/feedback", &rating).0, 201);
}

#[test]
fn erasure_removes_text_from_the_files_also_after_a_kill() {
    if !engine::is_in_folder("erased words in the write-ahead log") {
        return;
    }
    let server = Server::start();
    for n in 0..5 {
        send_turn(&server.client(), USER, WORDS, n);
    }
    // An open reader, as a backup has, keeps the write-ahead log from being truncated.
    let mut reader = Command::new("sqlite3")
        .arg("-readonly")
        .arg(server.folder().join("uptake.db"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = reader.stdin.take().unwrap();
    said.write_all(b"BEGIN; SELECT count(*) FROM events;\n").unwrap();
    let mut line = String::new();
    BufReader::new(reader.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_ne!(line.trim(), "");
    let mut asking = server.connect();
    let request = format!("DELETE /api/v1/users/{USER} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    asking.write_all(request.as_bytes()).unwrap();
    until("it is erased from the store", || {
        !server.get("/api/v1/turns/t0-10").1.to_string().contains(WORDS)
    });
    let folder = server.kill_and_leave();
    drop(said);
    reader.wait().unwrap();
    assert!(folder_contains(folder.path(), WORDS), "the log has kept it");
    let server = Server::start_in(folder);
    until("nothing of it is left", || !is_on_disk(&server, WORDS));
    let (status, folder) = server.stop();
    assert!(status.success());
    let log = std::fs::metadata(folder.path().join("uptake.db-wal")).map_or(0, |file| file.len());
    assert_eq!(log, 0, "a server that stops leaves no log");
}

struct StopWhenDropped<'a>(&'a AtomicBool);

impl Drop for StopWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn erase_while_others_write(server: &Server) -> (u16, Value) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (client, stop) = (server.client(), &stop);
        scope.spawn(move || {
            for n in 1000.. {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                send_turn(&client, "busy", "busy words", n);
            }
        });
        let erased = server.client().delete(&format!("/api/v1/users/{USER}"));
        stop.store(true, Ordering::SeqCst);
        erased
    })
}

fn start_with_mirror(folder: tempfile::TempDir, keep: &str) -> Server {
    let settings = [("UPTAKE__TURN_LOG__MIRROR", "true"), ("UPTAKE__TURN_LOG__KEEP", keep)];
    Server::start_with(folder, &settings)
}

#[test]
fn erasure_removes_all_text_of_the_user_under_load() {
    let server = start_with_mirror(tempfile::tempdir().unwrap(), "folder");
    let profile = json!({"attributes": {"name": WORDS}});
    assert_eq!(server.client().put(&format!("/api/v1/users/{USER}"), &profile).0, 200);
    let mut known = rating_body("t0-10");
    known["id"] = json!("known");
    known["user_id"] = json!(USER);
    known["data"]["comment"] = json!(WORDS);
    assert_eq!(server.post("/api/v1/feedback", &known).0, 201);
    for n in 0..60 {
        send_turn(&server.client(), USER, WORDS, n);
        send_turn(&server.client(), "other", "plain words", n);
    }
    assert!(is_on_disk(&server, WORDS) && is_on_disk(&server, USER), "the look finds things");
    let before: Vec<[u64; 6]> = (0..7).map(|n| counts(&server, &format!("c{n}"))).collect();
    let erased = erase_while_others_write(&server);
    assert_eq!((erased.0, &erased.1["erased"]["turns"]), (200, &json!(60)), "{}", erased.1);
    for text in [WORDS, USER] {
        assert!(!is_on_disk(&server, text), "{text} is in the folder");
    }
    // Their ratings still count, anonymously.
    for (n, counts_before) in before.iter().enumerate() {
        let after = counts(&server, &format!("c{n}"));
        assert!(after[0] >= counts_before[0], "{after:?} {counts_before:?}");
    }
    assert_eq!(server.get(&format!("/api/v1/users/{USER}")).0, 404);
    assert_eq!(server.post("/api/v1/feedback", &known).1["replayed"], true);
    let stub = server.get("/api/v1/feedback/known").1;
    assert_eq!((&stub["user_id"], &stub["data"]), (&Value::Null, &json!({"rating": "positive"})));
    let other = server.get("/api/v1/turns/t5-5").1;
    assert!(other["user"]["text"].as_str().unwrap().starts_with("plain words"), "{other}");
    let folder = server.kill_and_leave();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}");
    let server = Server::start_in(folder);
    assert!(!is_on_disk(&server, WORDS) && !is_on_disk(&server, USER));
}

#[test]
fn erased_user_id_can_be_used_anew() {
    let server = Server::start();
    send_turn(&server.client(), "u1", "words", 1);
    assert_eq!(server.client().delete("/api/v1/users/u1").0, 200);
    let again = server.client().delete("/api/v1/users/u1");
    assert_eq!((again.0, &again.1["erased"]["events"]), (200, &json!(0)), "the user has no events");
    let turn = json!({"turn_id": "new", "conversation_id": "c1", "user_id": "u1", "text": "Hello"});
    assert_eq!(server.post("/api/v1/turns", &turn).0, 201);
    react(&server, "c1", "new", &json!({"reaction": "ok"}));
    let path = "/conversations/default/default/feedback/conversations-in-period?user_id=u1";
    assert_eq!(server.get(path).1["items"][0]["feedback_counts"]["total"], 1);
}

#[test]
fn answer_after_erasure_stores_no_text() {
    let server = Server::start();
    let opening =
        json!({"turn_id": "t1", "conversation_id": "c1", "user_id": USER, "text": "Hello"});
    assert_eq!(server.post("/api/v1/turns", &opening).0, 201);
    assert_eq!(server.client().delete(&format!("/api/v1/users/{USER}")).0, 200);
    let answer = json!({"response": WORDS, "strategy": {"name": WORDS}, "model": "m1"});
    let (status, response) = server.post("/api/v1/turns/t1/complete", &answer);
    assert_eq!(status, 200, "{response}");
    assert!(!is_on_disk(&server, WORDS));
    let shown = server.get("/api/v1/turns/t1").1;
    assert_eq!((&shown["completed"], &shown["assistant"]["model"]), (&json!(true), &json!("m1")));
    let (_, folder) = server.stop();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}");
}

#[test]
fn erasure_removes_turn_log_copies_in_every_storage() {
    for keep in ["table", "folder"] {
        let server = start_with_mirror(tempfile::tempdir().unwrap(), keep);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // Also when a check fails.
            let stopping = StopWhenDropped(&stop);
            let (client, stop) = (server.client(), &stop);
            scope.spawn(move || {
                for n in 1000.. {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    send_turn(&client, "busy", "busy words", n);
                }
            });
            // The mirror is copying their turns while they are erased.
            for n in 0..15 {
                let (user, words) = (format!("victim{n:03}"), format!("zwxqv{n:03}"));
                for turn in 0..3 {
                    send_turn(&server.client(), &user, &words, n * 10 + turn);
                }
                let path = format!("/api/v1/users/{user}");
                // While the mirror lags, the response is pending and the request is repeated.
                until("an erasure", || {
                    let (status, answer) = server.client().delete(&path);
                    assert!(status == 200 || status == 503, "{status} {answer}");
                    status == 200
                });
            }
            drop(stopping);
        });
        for n in 0..15 {
            for text in [format!("victim{n:03}"), format!("zwxqv{n:03}")] {
                assert!(!is_on_disk(&server, &text), "{keep}: {text} is in the folder");
            }
        }
    }
}

#[test]
fn erasure_removes_comments_on_other_users_turns() {
    let server = start_with_mirror(tempfile::tempdir().unwrap(), "folder");
    crate::feedback_calls::turn(&server, "c1", "t1");
    let said = json!({"reaction": "not_ok", "text": WORDS, "user_id": USER});
    assert_eq!(react(&server, "c1", "t1", &said).0, 200);
    until("a copy", || {
        is_on_disk(&server, WORDS)
            && server.get("/api/v1/turns/t1/log?copy=true").1.to_string().contains(WORDS)
    });
    // An earlier run stored copies; this one does not, and still erases them.
    let server = Server::start_in(server.kill_and_leave());
    assert_eq!(server.client().delete(&format!("/api/v1/users/{USER}")).0, 200);
    assert!(!is_on_disk(&server, WORDS) && !is_on_disk(&server, USER));
    assert_eq!(counts(&server, "c1"), [1, 1, 0, 0, 1, 0], "what they thought still counts");
}

#[test]
fn no_finding_is_attributed_to_an_erased_user() {
    let server = Server::start();
    crate::feedback_calls::turn(&server, "c1", "t1");
    react(&server, "c1", "t1", &json!({"reaction": "ok"}));
    assert_eq!(server.client().delete("/api/v1/users/u1").0, 200);
    react(&server, "c1", "t1", &json!({"reaction": "not_ok"}));
    let mut rating = rating_body("t1");
    rating["user_id"] = Value::Null;
    assert_eq!(server.post("/api/v1/feedback", &rating).0, 201);
    assert_eq!(counts(&server, "c1"), [2, 2, 0, 2, 0, 0], "theirs, and the stranger's last word");
    let folder = server.kill_and_leave();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}");
}

#[test]
fn erasure_removes_events_that_name_only_the_users_conversation() {
    let server = Server::start();
    let open = |conversation: &str, turn: &str, user: &str| {
        let body =
            json!({"turn_id": turn, "conversation_id": conversation, "user_id": user, "text": "q"});
        assert_eq!(server.post("/api/v1/turns", &body).0, 201);
    };
    open("alone", "t1", USER);
    open("shared", "t2", USER);
    open("shared", "t3", "other");
    for (conversation, word) in [("alone", WORDS), ("shared", "shared-words")] {
        let decision = json!({"session_id": conversation, "decision_type": word, "decision_data": {"a": word}});
        assert_eq!(server.post("/api/v1/decisions", &decision).0, 201);
        let comment = json!({"type": "explicit", "source": "user_comment", "category": "quality",
            "session_id": conversation, "data": {"comment": word}});
        assert_eq!(server.post("/api/v1/feedback", &comment).0, 201);
    }
    let erased = server.client().delete(&format!("/api/v1/users/{USER}")).1;
    assert_eq!(
        erased["erased"]["events"], 6,
        "two turns, the same question twice, two things in a conversation of theirs, and what one of \
         them sounds like"
    );
    assert!(!is_on_disk(&server, WORDS) && !is_on_disk(&server, USER));
    assert!(is_on_disk(&server, "shared-words"));
}
