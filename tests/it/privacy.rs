//! What is personal or secret is removed before anything is kept; users can be described.

use serde_json::{Value, json};
use testkit::rating_body;

use crate::reports::{react, turn};
use crate::server::Server;

/// Whether any file of the data folder holds these bytes.
pub(crate) fn is_on_disk(server: &Server, text: &str) -> bool {
    std::fs::read_dir(server.folder()).unwrap().any(|file| {
        let path = file.unwrap().path();
        path.is_file() && {
            let bytes = std::fs::read(path).unwrap();
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        }
    })
}

#[test]
fn personal_data_never_reaches_the_disk_whatever_door_it_comes_by() {
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
    // The same again is the same, although what is kept is something else.
    react(&server, "c1", "t1", &json!({"reaction": "ok", "text": mail}));
    let kept = server.get("/api/v1/events?source=reaction").1;
    assert_eq!(kept["items"].as_array().unwrap().len(), 1);
}

#[test]
fn a_tenant_switches_kinds_off_and_repeats_stay_repeats() {
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
fn users_are_described_by_attributes_also_after_a_crash() {
    let server = Server::start();
    let path = "/api/v1/users/u1";
    assert_eq!(server.get(path).0, 404);
    let body = json!({"attributes": {"plan": "pro", "locale": "de", "seats": 3, "beta": true}});
    assert_eq!(server.client().put(path, &body).0, 200);
    let server = server.kill_and_restart();
    assert_eq!(server.get(path).1, json!({"user_id": "u1", "attributes": body["attributes"]}));
    let other = json!({"attributes": {"plan": "free"}});
    assert_eq!(server.client().put(path, &other).1["attributes"], other["attributes"]);
    let acme = server.client().with("X-Uptake-Tenant", "acme");
    assert_eq!(acme.get(path).0, 404);
    let bad = json!({"attributes": {"list": [1]}});
    assert_eq!(server.client().put(path, &bad).1["field"], "attributes.list");
    assert_eq!(server.client().put("/api/v1/users/a%20b", &Value::Null).0, 422);
}
