//! Events: stored, listed, filtered, dead-lettered and replayed.

use serde_json::{Value, json};
use testkit::rating_body;

use crate::engine::tamper;
use crate::server::Server;

#[test]
fn stored_event_is_returned_also_after_a_kill() {
    let server = Server::start();
    let mut body = rating_body("t1");
    body["tags"] = json!(["a", "b"]);
    body["timestamp"] = json!("2026-01-02T03:04:05.678901+01:00");
    body["data"]["note"] =
        json!("Robert'); DROP TABLE events;-- <script>alert(1)</script> \u{202e}");
    let (status, receipt) = server.post("/api/v1/feedback", &body);
    assert_eq!((status, &receipt["replayed"]), (201, &json!(false)));
    let path = format!("/api/v1/feedback/{}", receipt["id"].as_str().unwrap());
    let (status, before) = server.get(&path);
    assert_eq!(status, 200);
    for name in
        ["type", "source", "category", "user_id", "session_id", "message_id", "data", "tags"]
    {
        assert_eq!(before[name], body[name], "{name}");
    }
    assert_eq!(before["timestamp"], "2026-01-02T02:04:05.678901Z");
    assert_eq!((&before["severity"], &before["tenant_id"]), (&json!("info"), &json!("default")));
    let server = server.kill_and_restart();
    assert_eq!(server.get(&path), (200, before));
}

#[test]
fn event_log_is_listed_in_order_and_filtered() {
    let server = Server::start();
    let metric = json!({"type": "performance", "source": "system_metric", "category": "latency",
        "data": {"endpoint": "/q", "latency_ms": 12}});
    let mut old_word = rating_body("t2");
    old_word["type"] = json!("user_explicit");
    for body in [&rating_body("t1"), &metric, &old_word, &metric] {
        assert_eq!(server.post("/api/v1/feedback", body).0, 201);
    }
    let check = |query: &str, positions: &[u64], next: u64| {
        let (status, page) = server.get(&format!("/api/v1/events?{query}"));
        let found: Vec<u64> = page["items"]
            .as_array()
            .unwrap_or_else(|| panic!("{query}: {page}"))
            .iter()
            .map(|item| item["position"].as_u64().unwrap())
            .collect();
        assert_eq!(
            (status, found.as_slice(), &page["next"]),
            (200, positions, &json!(next)),
            "{query}"
        );
    };
    check("", &[1, 2, 3, 4], 4);
    check("after=0&limit=2&type=&source=", &[1, 2], 2);
    check("after=2&limit=2", &[3, 4], 4);
    check("after=4", &[], 4);
    check("limit=1&type=performance&after=2", &[4], 4);
    check("type=explicit", &[1, 3], 3);
    check("type=user_explicit&source=user_rating", &[1, 3], 3);
}

#[test]
fn tenants_do_not_see_each_others_events() {
    let server = Server::start();
    let acme = server.client().with_header("X-Uptake-Tenant", "acme");
    let mut body = rating_body("t1");
    body["id"] = json!("e1");
    assert_eq!(acme.post("/api/v1/feedback", &body).0, 201);
    assert_eq!(server.get("/api/v1/feedback/e1").0, 404);
    assert_eq!(server.get("/api/v1/events").1["items"], json!([]));
    assert_eq!(acme.clone().with_header("X-Uptake-Project", "p").get("/api/v1/feedback/e1").0, 404);
    assert_eq!(acme.get("/api/v1/feedback/e1").0, 200);
    body["tenant_id"] = json!("other");
    let (status, problem) = acme.post("/api/v1/feedback", &body);
    assert_eq!((status, &problem["status"]), (403, &json!(403)));
    assert_eq!(server.post("/api/v1/feedback", &body).0, 201, "a body may name the tenant alone");
}

#[test]
fn corrections_have_their_own_endpoint() {
    let server = Server::start();
    let body = json!({"data": {"original_sql": "SELECT 1", "corrected_sql": "SELECT 2"}});
    let (status, receipt) = server.post("/api/v1/feedback/correction", &body);
    assert_eq!(status, 201);
    let (_, event) = server.get(&format!("/api/v1/feedback/{}", receipt["id"].as_str().unwrap()));
    let words = ["type", "source", "category"].map(|name| event[name].as_str().unwrap());
    assert_eq!(words, ["explicit", "user_correction", "accuracy"]);
    let (status, problem) = server.post("/api/v1/feedback/correction", &json!({"data": {}}));
    assert_eq!((status, &problem["field"]), (422, &Value::from("data.corrected")));
}

#[test]
fn invalid_event_becomes_a_dead_letter_and_is_replayed_later() {
    let server = Server::start();
    let (_, folder) = server.stop();
    tamper(
        folder.path(),
        "CREATE TRIGGER poison BEFORE INSERT ON events WHEN new.id = 'poison'
         BEGIN SELECT raise(ABORT, 'poisoned'); END",
        "CREATE FUNCTION poison() RETURNS TRIGGER LANGUAGE plpgsql AS
             'BEGIN RAISE EXCEPTION USING MESSAGE = ''poisoned''; END';
         CREATE TRIGGER poison BEFORE INSERT ON events FOR EACH ROW WHEN (new.id = 'poison')
             EXECUTE FUNCTION poison()",
    );
    let server = Server::start_in(folder);
    let mut body = rating_body("t1");
    body["id"] = json!("poison");
    let (status, answer) = server.post("/api/v1/feedback", &body);
    assert_eq!((status, &answer["status"]), (202, &json!(202)), "{answer}");
    let mut good = rating_body("t2");
    good["id"] = json!("good");
    let batch = server.post("/api/v1/feedback/batch", &json!([body, good]));
    assert_eq!((batch.0, &batch.1["accepted"]), (207, &json!(1)), "{}", batch.1);
    let list = server.get("/api/v1/dead-letters").1;
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "one letter, however often it came");
    assert_eq!(list["items"][0]["id"], "poison");
    assert!(list["items"][0]["reason"].as_str().unwrap().starts_with("poisoned"), "{list}");
    let replay = "/api/v1/dead-letters/poison/replay";
    assert_eq!(server.post(replay, &json!({})).0, 202, "still not possible");
    let acme = server.client().with_header("X-Uptake-Tenant", "acme");
    assert_eq!(acme.post(replay, &json!({})).0, 404);
    let (_, folder) = server.stop();
    tamper(folder.path(), "DROP TRIGGER poison", "DROP TRIGGER poison ON events");
    let server = Server::start_in(folder);
    assert_eq!(server.post(replay, &json!({})).1["stored"], true);
    assert_eq!(server.get("/api/v1/dead-letters").1["items"], json!([]));
    assert_eq!(server.get("/api/v1/feedback/poison").0, 200);
    assert_eq!(server.post("/api/v1/feedback", &body).1["replayed"], true, "it is the same event");
    assert_eq!(server.post(replay, &json!({})).0, 404);
}
