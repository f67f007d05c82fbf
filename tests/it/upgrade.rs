//! A store of the first schema is upgraded; a store of a newer schema is refused.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::durability::read_log_with;
use crate::engine;
use crate::server::{Client, Server, command, uptake};

/// A key that is stored in the old store.
const KEY: &str = "uk_6ahdf39i91fl_s01d5905iraxhkfdz856ijpzufguaqrpwmmzwc6o";
const REVOKED: &str = "uk_r16mcwj17hgh_rimcs5jlfgi9xsofwzrzla08l863p43s7vn2s265";

/// The old store, in a folder.
fn old_store() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let dump = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/store-0005.sql");
    let mut sqlite = Command::new("sqlite3");
    sqlite.arg(folder.path().join("uptake.db")).stdin(File::open(dump).unwrap());
    assert!(sqlite.status().unwrap().success());
    folder
}

fn client_with_key(server: &Server, key: &str) -> Client {
    server.client().with_header("Authorization", &format!("Bearer {key}"))
}

fn rebuild(folder: &Path) {
    let (code, out, err) = uptake(folder, &["rebuild", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    let rebuilt: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(rebuilt["changed"], false, "the projections are not what the log says");
}

/// Checks that the old data is returned correctly.
fn check_old_data(client: &Client) {
    // One of the 29 events is of another tenant, and so is its rule. Later events were added since,
    // such as session ends.
    let is_of_then = |event: &&Value| event["position"].as_u64().unwrap() <= 29;
    assert_eq!(read_log_with(client).iter().filter(is_of_then).count(), 27);
    let turn = client.get("/api/v1/turns/t1").1;
    assert_eq!((&turn["completed"], &turn["language"]), (&json!(true), &json!("en")), "{turn}");
    let reactions = turn["reactions"].as_array().unwrap().iter();
    let said: Vec<&Value> =
        reactions.filter(|one| one["origin"] == "user").map(|one| &one["reaction"]).collect();
    assert_eq!(said, ["not_ok"], "the last word of the one who rated it: {turn}");
    assert_eq!(client.get("/api/v1/feedback/rating-early").1["data"]["comment"], "good one");
    let metric = client.get("/api/v1/feedback/018f2f9e-7e6d-7c3a-9b1d-00000000000f").1;
    assert_eq!(metric["data"]["latency_ms"], 12.5, "{metric}");
    let decision = client.get("/api/v1/decisions/d1").1;
    assert_eq!(decision["outcome"], "success", "{decision}");
    assert_eq!(client.get("/api/v1/users/ann").1["attributes"], json!({"plan": "pro"}));
    let erased = client.get("/api/v1/turns/t6").1;
    assert_eq!(erased["user_id"], Value::Null, "{erased}");
    let period = "/conversations/default/default/feedback/conversations-in-period";
    let window = json!({"start": "2026-11-15T00:00:00Z", "end": "2026-11-17T00:00:00Z",
        "origin": "user"});
    let (status, page) = client.post(period, &window);
    assert_eq!(status, 200, "{page}");
    let sum = |name: &str| -> u64 {
        let items = page["items"].as_array().unwrap().iter();
        items.map(|item| item["feedback_counts"][name].as_u64().unwrap()).sum()
    };
    let counts = ["total", "user", "machine", "ok", "not_ok", "neutral"].map(sum);
    assert_eq!(counts, [3, 3, 0, 0, 2, 1], "{page}");
    let quality = client.get(
        "/api/v1/feedback/quality/default?start=2026-11-15T00:00:00Z&end=2026-11-17T00:00:00Z",
    );
    assert_eq!(quality.0, 200, "figures of then were made from its log: {}", quality.1);
    let similar = json!({"query": "What is order 3 worth?", "include_rejected": true});
    let found = client.post("/api/v1/strategies/search", &similar);
    assert_eq!(found.0, 200, "{}", found.1);
}

#[test]
fn first_schema_store_is_upgraded_and_accepts_writes() {
    if !engine::is_in_folder("an upgrade of the data folder") {
        return;
    }
    let server = Server::start_in(old_store());
    let client = client_with_key(&server, KEY);
    assert_eq!(server.get("/api/v1/events").0, 401, "keys of then are asked for");
    assert_eq!(client_with_key(&server, REVOKED).get("/api/v1/events").0, 401);
    check_old_data(&client);
    let others = client.clone().with_header("X-Uptake-Tenant", "acme");
    assert_eq!(others.get("/api/v1/feedback/acme-1").0, 403, "tenants are apart as then");
    // Replays of old requests are recognised: by id, and by idempotency key.
    let rating = json!({"id": "rating-early", "type": "explicit", "source": "user_rating",
        "category": "accuracy", "session_id": "c1", "message_id": "t1", "user_id": "ann",
        "data": {"rating": "positive", "comment": "good one"}});
    let (status, again) = client.post("/api/v1/feedback", &rating);
    assert_eq!((status, &again["replayed"]), (200, &json!(true)), "{again}");
    let mut other = rating.clone();
    other["data"]["rating"] = json!("negative");
    assert_eq!(client.post("/api/v1/feedback", &other).0, 409);
    let keyed = client.clone().with_header("Idempotency-Key", "once");
    let asked = json!({"turn_id": "k1", "text": "With a key"});
    assert_eq!(keyed.post("/api/v1/turns", &asked).1["replayed"], true);
    // New writes: a complaint about an old turn, and a reaction on another.
    let next = json!({"turn_id": "t7", "conversation_id": "c1", "user_id": "bob",
        "text": "No, that is wrong, I meant without tax"});
    let (status, opened) = client.post("/api/v1/turns", &next);
    assert_eq!((status, &opened["previous"]["turn_id"]), (201, &json!("t5")), "{opened}");
    let react = "/conversations/default/default/c2/turns/t3/feedback";
    assert_eq!(client.post(react, &json!({"reaction": "ok"})).0, 200);
    let (_, folder) = server.stop();
    rebuild(folder.path());
}

#[test]
fn first_schema_store_rebuilds_to_the_same_projections() {
    if !engine::is_in_folder("an upgrade of the data folder") {
        return;
    }
    let folder = old_store();
    // The first command upgrades the store, the second finds nothing to do.
    for _ in 0..2 {
        rebuild(folder.path());
    }
    let server = Server::start_in(folder);
    check_old_data(&client_with_key(&server, KEY));
}

#[test]
fn newer_schema_store_is_refused_and_not_changed() {
    if !engine::is_in_folder("a newer schema in the data folder") {
        return;
    }
    let folder = old_store();
    engine::tamper(folder.path(), "PRAGMA user_version = 999", "");
    let file = folder.path().join("uptake.db");
    let before = std::fs::read(&file).unwrap();
    let serve = command(folder.path(), "127.0.0.1:0").stderr(Stdio::piped()).output().unwrap();
    let stderr = String::from_utf8_lossy(&serve.stderr).into_owned();
    assert_eq!(serve.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("the store has schema 999") && stderr.contains("a newer uptake"),
        "{stderr}"
    );
    let place = tempfile::tempdir().unwrap();
    let copy = place.path().join("copy.db");
    for arguments in
        [vec!["rebuild"], vec!["export"], vec!["backup", "--to", copy.to_str().unwrap()]]
    {
        let (code, _, err) = uptake(folder.path(), &arguments);
        assert_eq!(code, Some(1), "{arguments:?}");
        assert!(err.contains("the store has schema 999"), "{arguments:?}: {err}");
    }
    let header = |bytes: &[u8]| bytes[60..64].to_vec();
    let after = std::fs::read(&file).unwrap();
    assert_eq!((before.len(), header(&before)), (after.len(), header(&after)));
}
