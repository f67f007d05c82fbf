//! A user is erased: no byte of theirs is left, and everything still adds up.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use testkit::rating_body;

use crate::privacy::is_on_disk;
use crate::reports::{counts, react};
use crate::server::{Client, Server, uptake};

const WORDS: &str = "zwxqv-words";
const USER: &str = "zwxqv-user";

/// A turn of somebody, with words of theirs in every place that takes words.
fn live(client: &Client, user: &str, words: &str, n: usize) {
    let (turn, conversation) = (format!("t{n}-{}", user.len()), format!("c{}", n % 7));
    let long = format!("{words} ").repeat(n % 90 + 1);
    let body = json!({"turn_id": turn, "conversation_id": conversation, "user_id": user,
        "text": long, "track_id": words, "response": long, "strategy": {"name": words},
        "retrieved": [{"entity_id": "e1", "content": words}]});
    assert_eq!(client.post("/api/v1/turns", &body).0, 201);
    let path = crate::reports::react_path(&conversation, &turn);
    assert_eq!(client.post(&path, &json!({"reaction": "ok", "text": words})).0, 200);
    assert_eq!(client.post(&path, &json!({"reaction": "not_ok", "text": long})).0, 200);
    let mut rating = rating_body(&turn);
    rating["user_id"] = Value::Null;
    rating["session_id"] = json!(conversation);
    rating["tags"] = json!([words]);
    rating["data"]["comment"] = json!(words);
    assert_eq!(client.post("/api/v1/feedback", &rating).0, 201);
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
                live(&client, "busy", "busy words", n);
            }
        });
        let erased = server.client().delete(&format!("/api/v1/users/{USER}"));
        stop.store(true, Ordering::SeqCst);
        erased
    })
}

#[test]
fn nothing_of_an_erased_user_is_left_while_others_go_on() {
    let server = Server::start_with(
        tempfile::tempdir().unwrap(),
        &[("UPTAKE__TURN_LOG__MIRROR", "true"), ("UPTAKE__TURN_LOG__KEEP", "folder")],
    );
    let profile = json!({"attributes": {"name": WORDS}});
    assert_eq!(server.client().put(&format!("/api/v1/users/{USER}"), &profile).0, 200);
    let mut known = rating_body("t0-10");
    known["id"] = json!("known");
    known["user_id"] = json!(USER);
    known["data"]["comment"] = json!(WORDS);
    assert_eq!(server.post("/api/v1/feedback", &known).0, 201);
    for n in 0..60 {
        live(&server.client(), USER, WORDS, n);
        live(&server.client(), "other", "plain words", n);
    }
    assert!(is_on_disk(&server, WORDS) && is_on_disk(&server, USER), "the look finds things");
    let before: Vec<[u64; 6]> = (0..7).map(|n| counts(&server, &format!("c{n}"))).collect();
    let erased = erase_while_others_write(&server);
    assert_eq!((erased.0, &erased.1["erased"]["turns"]), (200, &json!(60)), "{}", erased.1);
    for text in [WORDS, USER] {
        assert!(!is_on_disk(&server, text), "{text} is in the folder");
        let copies = server.folder().join("turn-logs/default/default");
        for file in std::fs::read_dir(copies).unwrap() {
            let copy = std::fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(!copy.contains(text), "{text} is in a copy");
        }
    }
    // What they thought still counts, without them.
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
fn a_user_who_comes_back_is_a_new_one() {
    let server = Server::start();
    live(&server.client(), "u1", "words", 1);
    assert_eq!(server.client().delete("/api/v1/users/u1").0, 200);
    let again = server.client().delete("/api/v1/users/u1");
    assert_eq!((again.0, &again.1["erased"]["events"]), (200, &json!(0)), "nobody is there");
    let turn = json!({"turn_id": "new", "conversation_id": "c1", "user_id": "u1", "text": "again"});
    assert_eq!(server.post("/api/v1/turns", &turn).0, 201);
    react(&server, "c1", "new", &json!({"reaction": "ok"}));
    let path = "/conversations/default/default/feedback/conversations-in-period?user_id=u1";
    assert_eq!(server.get(path).1["items"][0]["feedback_counts"]["total"], 1);
}
