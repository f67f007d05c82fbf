//! The states of an experiment and the actions each state allows.

use serde_json::{Value, json};

use super::experiment_calls::{act, assign, create, definition, events, run, show};
use crate::server::{Client, Server};

const ACTIONS: [&str; 5] = ["start", "pause", "resume", "complete", "archive"];

/// Checks that only these actions are accepted; a refusal lists them and changes nothing.
fn check_actions(client: &Client, status: &str, possible: &[&str]) {
    let before = show(client, "x");
    assert_eq!(before["status"], status, "{before}");
    assert_eq!(before["possible"], json!(possible), "{before}");
    for action in ACTIONS.iter().filter(|action| !possible.contains(action)) {
        let (code, answer) = act(client, "x", action);
        assert_eq!(code, 409, "{status} {action}: {answer}");
        let detail = answer["detail"].as_str().unwrap();
        let words = if possible.is_empty() { "none" } else { &possible.join(" or ") };
        assert!(detail.contains(status) && detail.ends_with(words), "{action}: {detail}");
    }
    assert_eq!(show(client, "x"), before);
}

fn check_assign_refused(client: &Client) {
    let path = "/api/v1/experiments/x/assign";
    let (code, answer) = client.post(path, &json!({"unit_id": "u1"}));
    assert_eq!(code, 409, "{answer}");
}

fn check_action_accepted(client: &Client, action: &str) {
    let (code, answer) = act(client, "x", action);
    assert_eq!(code, 200, "{action}: {answer}");
}

#[test]
fn experiment_states_allow_only_their_actions() {
    let mut server = Server::start();
    create(&server.client(), &definition("x", "satisfaction", &json!({})));
    check_assign_refused(&server.client());
    for (status, possible, next) in [
        ("DRAFT", vec!["start"], Some("start")),
        ("RUNNING", vec!["pause", "complete"], Some("pause")),
        ("PAUSED", vec!["resume", "complete"], Some("resume")),
        ("RUNNING", vec!["pause", "complete"], Some("complete")),
        ("COMPLETED", vec!["archive"], Some("archive")),
        ("ARCHIVED", vec![], None),
    ] {
        check_actions(&server.client(), status, &possible);
        server = server.kill_and_restart();
        check_actions(&server.client(), status, &possible);
        if let Some(next) = next {
            check_action_accepted(&server.client(), next);
        }
    }
    check_assign_refused(&server.client());
    let changes = events(&server.client(), "log", |data| data["change"] == "status");
    let words: Vec<&str> = changes.iter().map(|data| data["action"].as_str().unwrap()).collect();
    assert_eq!(words, ["start", "pause", "resume", "complete", "archive"]);
}

#[test]
fn invalid_experiment_definitions_are_refused_with_the_field() {
    let server = Server::start();
    let rows = [
        (json!({"metric": "happiness"}), "metric"),
        (json!({"metric": "reward"}), "metric"),
        (json!({"guardrails": [{"metric": "reward", "limit": 0.5}]}), "guardrails[0].metric"),
        (json!({"guardrails": [{"metric": "error_rate", "limit": 5}]}), "guardrails[0].limit"),
        (json!({"unit": "session"}), "unit"),
        (json!({"variants": [{"name": "alone"}]}), "variants"),
        (json!({"rollout": {"steps": [50, 5], "margin": 0}}), "rollout.steps"),
        (json!({"rollouts": {}}), "rollouts"),
        (json!({"id": "a b"}), "id"),
        (json!({"id": 7}), "id"),
    ];
    for (more, field) in rows {
        let body = definition("bad", "satisfaction", &more);
        let (status, answer) = server.post("/api/v1/experiments", &body);
        assert_eq!((status, &answer["field"]), (422, &json!(field)), "{more}: {answer}");
    }
    assert_eq!(server.get("/api/v1/experiments").1["experiments"], json!([]));
    for (method, path) in [("get", ""), ("get", "/results"), ("post", "/start"), ("post", "/stop")]
    {
        let path = format!("/api/v1/experiments/bad{path}");
        let (status, answer) =
            if method == "get" { server.get(&path) } else { server.post(&path, &json!({})) };
        assert_eq!(status, 404, "{path}: {answer}");
    }
    run(&server.client(), "x", "satisfaction", &json!({}));
    for (body, field) in
        [(json!({"unit_id": "a\nb"}), "unit_id"), (json!({}), "unit_id"), (json!({"u": 1}), "u")]
    {
        let (status, answer) = server.post("/api/v1/experiments/x/assign", &body);
        assert_eq!((status, &answer["field"]), (422, &json!(field)), "{answer}");
    }
    let (status, answer) = server.post("/api/v1/experiments/x/pause", &json!({"now": true}));
    assert_eq!((status, &answer["field"]), (422, &json!("now")), "{answer}");
}

#[test]
fn replayed_experiment_requests_change_nothing() {
    let server = Server::start();
    let mut body = definition("x", "satisfaction", &json!({}));
    create(&server.client(), &body);
    assert_eq!(server.post("/api/v1/experiments", &body).0, 200, "the same again");
    body["name"] = json!("another");
    assert_eq!(server.post("/api/v1/experiments", &body).0, 409, "another under its id");
    body.as_object_mut().unwrap().remove("id");
    let keyed = server.client().with_header("Idempotency-Key", "k1");
    let (first, second) =
        (keyed.post("/api/v1/experiments", &body), keyed.post("/api/v1/experiments", &body));
    assert_eq!((first.0, second.0), (201, 200));
    assert_eq!(first.1, second.1);
    let id = first.1["id"].as_str().unwrap();
    let keyed = server.client().with_header("Idempotency-Key", "k2");
    let answers: Vec<u16> = (0..2).map(|_| act(&keyed, id, "start").0).collect();
    assert_eq!(answers, [200, 200], "the same request, not another start");
    assert_eq!(act(&server.client(), id, "start").0, 409);
    assert_eq!(act(&keyed, id, "pause").0, 409, "the key stands for something else");
    let list = server.get("/api/v1/experiments").1;
    let ids: Vec<&Value> =
        list["experiments"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, [&json!("x"), &json!(id)]);
    let behind = server.get(&format!("/api/v1/experiments?limit=1&after={}", list["next"])).1;
    assert_eq!(behind["experiments"], json!([]));
    let first = server.get("/api/v1/experiments?limit=1").1;
    assert_eq!(first["experiments"][0]["id"], "x");
    let second = server.get(&format!("/api/v1/experiments?after={}", first["next"])).1;
    assert_eq!(second["experiments"][0]["id"], json!(id));
}

#[test]
fn experiments_are_isolated_by_tenant() {
    let server = Server::start();
    let other = server.client().with_header("X-Uptake-Tenant", "other");
    run(&server.client(), "x", "error_rate", &json!({}));
    assign(&server.client(), "x", "u1");
    assert_eq!(other.get("/api/v1/experiments/x").0, 404);
    assert_eq!(act(&other, "x", "pause").0, 404);
    assert_eq!(other.post("/api/v1/experiments/x/assign", &json!({"unit_id": "u1"})).0, 404);
    assert_eq!(other.get("/api/v1/experiments").1["experiments"], json!([]));
    create(&other, &definition("x", "cost", &json!({})));
    super::experiment_calls::turn(&other, "t1", "u1", &super::experiment_calls::failed());
    let found = super::experiment_calls::results(&server.client(), "x");
    let observed = |n: usize| found["variants"][n]["observed"].as_u64().unwrap();
    assert_eq!((observed(0), observed(1)), (0, 0), "{found}");
    assert_eq!(show(&server.client(), "x")["status"], "RUNNING");
    assert_eq!(show(&other, "x")["status"], "DRAFT");
}
