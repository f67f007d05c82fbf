//! Writes to one node take effect on the others.

use std::fs::File;

use serde_json::{Value, json};
use testkit::FaultProxy;

use super::{database, node, until};
use crate::server::{Server, command};

fn read_text(server: &Server, turn: &str) -> String {
    server.get(&format!("/api/v1/turns/{turn}")).1["user"]["text"].as_str().unwrap_or("").to_owned()
}

#[test]
fn settings_routers_and_erasures_reach_the_other_node() {
    let Some(database) = database() else { return };
    let (one, other) = (node(database.url(), &[]), node(database.url(), &[]));
    // Redaction settings of a tenant.
    let rule = json!({"redact": {"phone": false}});
    let (status, answer) = one.client().put("/api/v1/tenants/default/privacy", &rule);
    assert_eq!(status, 200, "{answer}");
    let mut n = 0;
    until("the other node keeps numbers too", || {
        n += 1;
        let turn = json!({"turn_id": format!("p{n}"), "conversation_id": "c", "user_id": "ann",
            "text": "call 555-123-4567"});
        assert_eq!(other.post("/api/v1/turns", &turn).0, 201);
        read_text(&other, &format!("p{n}")).contains("4567")
    });
    // A router with features, and an erased user.
    let definition = json!({"arms": [{"id": "a"}, {"id": "b"}], "algorithm": "lints", "seed": 1});
    assert_eq!(one.client().put("/api/v1/routers/chat", &definition).0, 200);
    let ask = json!({"router": "chat", "text": "q"});
    until("the other node routes", || other.post("/api/v1/route", &ask).0 == 200);
    for n in 0..6 {
        let (first, second) = if n % 2 == 0 { (&one, &other) } else { (&other, &one) };
        let turn = json!({"turn_id": format!("t{n}"), "conversation_id": "c2", "user_id": "bob",
            "text": "zanzibar spices", "include": ["route"], "router": "chat"});
        let (status, opened) = first.post("/api/v1/turns", &turn);
        assert_eq!(status, 201, "{opened}");
        let done = json!({"response": "yes", "model": opened["route"]["arm"], "latency_ms": 10});
        assert_eq!(second.post(&format!("/api/v1/turns/t{n}/complete"), &done).0, 200);
    }
    let arms = |server: &Server| server.get("/api/v1/routers/chat").1["arms"].clone();
    until("both have learnt from all six", || {
        let observed = |arms: Value| -> u64 {
            let arms = arms.as_array().unwrap().clone();
            arms.iter().map(|arm| arm["observations"].as_u64().unwrap()).sum()
        };
        observed(arms(&one)) == 6 && observed(arms(&other)) == 6
    });
    let (status, answer) = one.client().delete("/api/v1/users/bob");
    assert_eq!(status, 200, "{answer}");
    assert_eq!(read_text(&other, "t0"), "", "nothing is left of it");
    until("the other node does not remember what they asked", || {
        let remembered = other.get("/api/v1/users/bob/history").1["queries"].clone();
        remembered.as_array().is_none_or(Vec::is_empty)
    });
    let kept = other.get("/api/v1/users/ann/history").1["queries"].clone();
    assert!(kept.as_array().is_some_and(|kept| !kept.is_empty()), "but what others did: {kept}");
    assert_eq!(one.client().delete("/api/v1/users/ann/history").0, 200);
    until("nor does it remember what it was to forget", || {
        other.get("/api/v1/users/ann/history").1["queries"] == json!([])
    });
    until("both forgot the same", || arms(&one) == arms(&other));
    let left =
        database.run("SELECT count(*) FROM router_turns WHERE features IS NOT NULL").unwrap();
    assert_eq!(left.trim(), "0");
}

/// No later event would trigger the read.
#[test]
fn failed_log_read_is_retried() {
    let Some(database) = database() else { return };
    let cutter = FaultProxy::start(database.url()).unwrap();
    let (folder, said) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
    let mut command = command(folder.path(), "127.0.0.1:0");
    command.env("UPTAKE__STORE__POSTGRES", cutter.url()).env("UPTAKE__LOG__LEVEL", "debug");
    command.stderr(File::create(said.path()).unwrap());
    let (one, other) = (node(database.url(), &[]), Server::spawn(command, folder));
    let path = "/api/v1/tenants/default/privacy";
    assert_eq!(other.get(path).1["redact"]["phone"], true);
    // Prepared statements are not sent again.
    cutter.cut_all();
    cutter.forbid_text("ORDER BY e.position LIMIT");
    let missed = || {
        let said = std::fs::read_to_string(said.path()).unwrap();
        said.matches("entries of other nodes could not be read; retrying").count()
    };
    let before = missed();
    let (status, answer) = one.client().put(path, &json!({"redact": {"phone": false}}));
    assert_eq!(status, 200, "{answer}");
    cutter.accept_connections();
    until("it has missed that", || missed() > before);
    cutter.allow_all_texts();
    until("it has heard of it", || other.get(path).1["redact"]["phone"] == false);
}

#[test]
fn keys_created_and_revoked_on_one_node_apply_on_the_other() {
    let Some(database) = database() else { return };
    let (one, other) = (node(database.url(), &[]), node(database.url(), &[]));
    let body = json!({"tenant": "acme", "role": "admin"});
    let (status, made) = one.post("/api/v1/keys", &body);
    assert_eq!(status, 201, "{made}");
    let secret = made["key"].as_str().unwrap().to_owned();
    let path = "/api/v1/events";
    until("the other node is closed too", || other.get(path).0 == 401);
    let client = other.client().with_header("X-API-Key", &secret);
    until("the key opens it", || client.get(path).0 == 200);
    let (status, second) =
        other.client().with_header("X-API-Key", &secret).post("/api/v1/keys", &body);
    assert_eq!(status, 201, "{second}");
    let first = made["id"].as_str().unwrap();
    let with_second = one.client().with_header("X-API-Key", second["key"].as_str().unwrap());
    until("the second key opens the first node", || with_second.get(path).0 == 200);
    let (status, gone) = with_second.delete(&format!("/api/v1/keys/{first}"));
    assert!(status < 300, "{gone}");
    until("the first key opens nothing any more", || client.get(path).0 == 401);
}

#[test]
fn alerts_are_raised_by_one_node_and_taken_over_after_a_kill() {
    let Some(database) = database() else { return };
    let nodes = [(); 3].map(|()| node(database.url(), &[]));
    let targets = json!({"satisfaction": {"min": 0.85}, "correction_rate": null});
    let (status, answer) = nodes[0].client().put("/api/v1/tenants/default/targets", &targets);
    assert_eq!(status, 200, "{answer}");
    let rate = |server: &Server, rating: &str| {
        let body = json!({"type": "explicit", "source": "user_rating", "category": "accuracy",
            "data": {"rating": rating}});
        assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
    };
    let raised = |server: &Server| -> Vec<bool> {
        let found = server.get("/api/v1/alerts").1;
        let items = found["alerts"].as_array().unwrap_or_else(|| panic!("{found}")).clone();
        items.iter().map(|alert| alert["status"] == "raised").collect()
    };
    (0..30).for_each(|n| rate(&nodes[n % 3], "negative"));
    until("an alert", || raised(&nodes[1]) == [true]);
    let held = "SELECT max(epoch) FROM leases WHERE name = 'chores'";
    let epoch: u32 = database.run(held).unwrap().trim().parse().unwrap();
    // A machine that stalls for seconds may cause one takeover.
    assert!((1..=3).contains(&epoch), "one node does it for all, not each in its turn: {epoch}");
    let said = "SELECT count(*) FROM alerts";
    assert_eq!(database.run(said).unwrap().trim(), "1", "and says it once");
    // Two of three nodes die, perhaps the leader among them.
    let [first, second, third] = nodes;
    drop((first, second));
    (0..300).for_each(|_| rate(&third, "positive"));
    until("the all clear", || raised(&third) == [false]);
}
