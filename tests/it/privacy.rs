//! Redaction before storage, user attributes and retention.

use std::path::Path;

use serde_json::{Value, json};
use testkit::rating_body;

use crate::engine;
use crate::experiments::experiment_calls::until;
use crate::feedback_calls::{counts, react, turn};
use crate::retention::{import_with_old_dates, set_retention};
use crate::server::{Server, uptake};

/// True when any file below the data folder contains the text.
pub(crate) fn is_on_disk(server: &Server, text: &str) -> bool {
    folder_contains(server.folder(), text) || engine::tables_contain(server.folder(), text)
}

pub(crate) fn folder_contains(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|file| {
        let path = file.unwrap().path();
        if path.is_dir() {
            return folder_contains(&path, text);
        }
        // A file that is being replaced may be gone already.
        let bytes = std::fs::read(path).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[test]
fn personal_data_is_redacted_on_every_endpoint() {
    let server = Server::start();
    let mail = "ann.secret@mail.example";
    turn(&server, "c1", "t1");
    let opened = json!({"turn_id": "t2", "conversation_id": "c1", "text": format!("I am {mail}"),
        "response": format!("Hello {mail}"), "retrieved": [{"entity_id": "e1", "content": mail}]});
    assert_eq!(server.post("/api/v1/turns", &opened).0, 201);
    react(&server, "c1", "t1", &json!({"reaction": "ok", "text": mail}));
    let mut comment = json!({"type": "explicit", "source": "user_comment", "category": "quality",
        "message_id": "t1", "tags": [mail], "data": {"comment": mail, "deep": {"list": [mail]}}});
    comment["id"] = json!("e1");
    assert_eq!(server.post("/api/v1/feedback", &comment).0, 201);
    assert_eq!(server.post("/api/v1/feedback/batch", &json!([comment])).1["replayed"], 1);
    let correction = json!({"data": {"corrected": format!("WHERE mail = {mail:?}")}});
    assert_eq!(server.post("/api/v1/feedback/correction", &correction).0, 201);
    let decision = json!({"decision_type": "x", "decision_data": {"to": mail}});
    assert_eq!(server.post("/api/v1/decisions", &decision).0, 201);
    assert_eq!(server.get("/api/v1/turns/t2").1["user"]["text"], "I am [email]");
    assert!(!is_on_disk(&server, "ann.secret"), "it is in the folder");
    assert!(is_on_disk(&server, "I am [email]"), "the look itself finds things");
    // A replay is recognised although the stored text is redacted.
    react(&server, "c1", "t1", &json!({"reaction": "ok", "text": mail}));
    let kept = server.get("/api/v1/events?source=reaction").1;
    assert_eq!(kept["items"].as_array().unwrap().len(), 1);
}

#[test]
fn tenant_disables_redaction_kinds_and_replays_are_recognised() {
    let server = Server::start();
    let mut body = rating_body("t1");
    body["id"] = json!("e1");
    body["data"]["comment"] = json!("call 555-123-4567 or ann@mail.example");
    assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
    let path = "/api/v1/tenants/default/privacy";
    let (status, now) = server.client().put(path, &json!({"redact": {"phone": false}}));
    let switches = (&now["redact"]["phone"], &now["redact"]["email"]);
    assert_eq!((status, switches), (200, (&json!(false), &json!(true))));
    let server = server.kill_and_restart();
    assert_eq!(server.get(path).1, now);
    assert_eq!(server.post("/api/v1/feedback", &body).1["replayed"], true, "not a conflict");
    body["id"] = json!("e2");
    assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
    let said =
        |id: &str| server.get(&format!("/api/v1/feedback/{id}")).1["data"]["comment"].clone();
    assert_eq!(said("e1"), "call [phone] or [email]");
    assert_eq!(said("e2"), "call 555-123-4567 or [email]");
    let rows = [
        (json!({"redact": {"shoe": true}}), "redact.shoe"),
        (json!({"redact": {"phone": "no"}}), "redact.phone"),
        (json!({"redact": 1}), "redact"),
        (json!({"colour": 1}), "colour"),
    ];
    for (body, field) in rows {
        let (status, problem) = server.client().put(path, &body);
        assert_eq!((status, problem["field"].as_str()), (422, Some(field)), "{problem}");
    }
}

#[test]
fn national_ids_and_bot_tokens_are_redacted_before_a_kill_and_ids_by_switch() {
    let server = Server::start();
    let text =
        "cpf 529.982.247-25, bot 123456789:ABCdefGHIjklMNOpqrSTUvwxYZ123456789, I am Mr. Smith";
    let open = |server: &Server, id: &str| {
        let body = json!({"turn_id": id, "conversation_id": "c1", "text": text});
        assert_eq!(server.post("/api/v1/turns", &body).0, 201);
    };
    let stored = |server: &Server, id: &str| {
        server.get(&format!("/api/v1/turns/{id}")).1["user"]["text"].clone()
    };
    let path = "/api/v1/tenants/default/privacy";
    let defaults = server.get(path).1;
    assert_eq!(defaults["redact"]["national_id"], true);
    assert_eq!(defaults["redact"]["name_address"], false);
    open(&server, "t1");
    let server = server.kill_and_restart();
    assert_eq!(stored(&server, "t1"), "cpf [national_id], bot [secret], I am Mr. Smith");
    assert!(!is_on_disk(&server, "529.982.247-25") && !is_on_disk(&server, "ABCdefGHIjkl"));
    let switches = json!({"redact": {"national_id": false, "name_address": true}});
    let (status, settings) = server.client().put(path, &switches);
    assert_eq!((status, &settings["redact"]["national_id"]), (200, &json!(false)));
    let server = server.kill_and_restart();
    assert_eq!(server.get(path).1, settings);
    open(&server, "t2");
    let expected = "cpf 529.982.247-25, bot [secret], I am Mr. [name_address]";
    assert_eq!(stored(&server, "t2"), expected);
    assert_eq!(stored(&server, "t1"), "cpf [national_id], bot [secret], I am Mr. Smith");
    let server = server.kill_and_restart();
    assert_eq!(stored(&server, "t2"), expected);
}

#[test]
fn user_attributes_are_kept_after_a_kill() {
    let server = Server::start();
    let path = "/api/v1/users/u1";
    assert_eq!(server.get(path).0, 404);
    let body = json!({"attributes": {"plan": "pro", "locale": "de", "seats": 3, "beta": true}});
    assert_eq!(server.client().put(path, &body).0, 200);
    let server = server.kill_and_restart();
    assert_eq!(server.get(path).1, json!({"user_id": "u1", "attributes": body["attributes"]}));
    let other = json!({"attributes": {"plan": "free"}});
    assert_eq!(server.client().put(path, &other).1["attributes"], other["attributes"]);
    let acme = server.client().with_header("X-Uptake-Tenant", "acme");
    assert_eq!(acme.get(path).0, 404);
    let bad = json!({"attributes": {"list": [1]}});
    assert_eq!(server.client().put(path, &bad).1["field"], "attributes.list");
    assert_eq!(server.client().put("/api/v1/users/a%20b", &Value::Null).0, 422);
}

#[test]
fn retention_drops_old_events_and_keeps_their_projections() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    react(&server, "c1", "t1", &json!({"reaction": "ok", "text": "old words zwxqv"}));
    let mut rating = rating_body("t1");
    rating["id"] = json!("old");
    rating["user_id"] = json!("u2");
    assert_eq!(server.post("/api/v1/feedback", &rating).0, 201);
    let server = Server::start_in(import_with_old_dates(server));
    let before = counts(&server, "c1");
    assert_eq!(before[0], 2);
    assert!(is_on_disk(&server, "zwxqv"));
    set_retention(&server);
    until("it is dropped", || server.get("/api/v1/feedback/old").0 == 404);
    let check = |server: &Server| {
        assert_eq!(counts(server, "c1"), before, "what people thought still counts");
        assert_eq!(server.post("/api/v1/feedback", &rating).1["replayed"], true);
        assert_eq!(react(server, "c1", "t1", &json!({"reaction": "neutral"})).0, 200);
        assert_eq!(react(server, "c1", "t1", &json!({"reaction": "ok"})).0, 200);
    };
    check(&server);
    turn(&server, "c2", "t2");
    react(&server, "c2", "t2", &json!({"reaction": "not_ok"}));
    let positions = server.get("/api/v1/events").1["items"][0]["position"].as_u64().unwrap();
    assert!(positions > 4, "positions are never given out again");
    let folder = server.kill_and_leave();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}");
    let server = Server::start_in(folder);
    check(&server);
    assert!(!is_on_disk(&server, "zwxqv"), "the words are gone");
}
