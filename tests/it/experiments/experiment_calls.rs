//! Calls of the tests about experiments.

use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Client, Server, uptake};

const HANDS: usize = 8;

/// A definition of two variants, with more fields.
pub(crate) fn definition(id: &str, metric: &str, more: &Value) -> Value {
    let mut body = json!({"id": id, "name": "warmer", "unit": "user", "metric": metric,
        "variants": [{"name": "control", "payload": {"prompt": "p@1"}},
            {"name": "treatment", "payload": {"prompt": "p@2"}}]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

pub(crate) fn create(client: &Client, body: &Value) {
    let (status, answer) = client.post("/api/v1/experiments", body);
    assert_eq!((status, &answer["status"]), (201, &json!("DRAFT")), "{answer}");
}

pub(crate) fn act(client: &Client, id: &str, action: &str) -> (u16, Value) {
    client.post(&format!("/api/v1/experiments/{id}/{action}"), &json!({}))
}

/// Creates and starts an experiment.
pub(crate) fn run(client: &Client, id: &str, metric: &str, more: &Value) {
    create(client, &definition(id, metric, more));
    let (status, answer) = act(client, id, "start");
    assert_eq!((status, &answer["status"]), (200, &json!("RUNNING")), "{answer}");
}

/// Assigns a unit and returns its variant.
pub(crate) fn assign(client: &Client, id: &str, unit: &str) -> String {
    let path = format!("/api/v1/experiments/{id}/assign");
    let (status, answer) = client.post(&path, &json!({"unit_id": unit}));
    assert_eq!((status, &answer["experiment_id"]), (200, &json!(id)), "{answer}");
    let version = if answer["variant"] == "control" { "p@1" } else { "p@2" };
    assert_eq!(answer["payload"], json!({"prompt": version}), "{answer}");
    answer["variant"].as_str().unwrap().to_owned()
}

/// A complete turn in a conversation of its own.
pub(crate) fn turn(client: &Client, turn: &str, user: &str, more: &Value) {
    let mut body = json!({"turn_id": turn, "conversation_id": format!("c-{user}"), "user_id": user,
        "text": "What do the orders of this month add up to?", "response": "They add up to 12."});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (status, answer) = client.post("/api/v1/turns", &body);
    assert_eq!(status, 201, "{answer}");
}

/// A failed answer.
pub(crate) fn failed() -> Value {
    json!({"status": "error", "error": "timeout", "response": null})
}

pub(crate) fn rate(client: &Client, turn: &str, rating: u8) {
    let body = json!({"type": "explicit", "source": "user_rating", "category": "quality",
        "message_id": turn, "data": {"rating": rating}});
    let (status, answer) = client.post("/api/v1/feedback", &body);
    assert_eq!(status, 201, "{answer}");
}

pub(crate) fn show(client: &Client, id: &str) -> Value {
    let (status, body) = client.get(&format!("/api/v1/experiments/{id}"));
    assert_eq!(status, 200, "{body}");
    body
}

pub(crate) fn results(client: &Client, id: &str) -> Value {
    let (status, body) = client.get(&format!("/api/v1/experiments/{id}/results"));
    assert_eq!(status, 200, "{body}");
    body
}

/// Numbers of units in control and treatment.
pub(crate) fn units(client: &Client, id: &str) -> (u64, u64) {
    let found = results(client, id);
    let of = |n: usize| found["variants"][n]["units"].as_u64().unwrap();
    (of(0), of(1))
}

/// Polls until the condition holds, or fails after a timeout.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("in vain: {what}");
}

/// Runs several calls at a time, since each waits for the disk. Results are in order.
pub(crate) fn for_each<T: Send>(
    client: &Client,
    units: std::ops::Range<usize>,
    work: impl Fn(&Client, usize) -> T + Sync,
) -> Vec<T> {
    let (next, done) = (Mutex::new(units), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..HANDS {
            let (client, next, done, work) = (client.clone(), &next, &done, &work);
            scope.spawn(move || {
                while let Some(unit) = { next.lock().unwrap().next() } {
                    let result = work(&client, unit);
                    done.lock().unwrap().push((unit, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(unit, _)| *unit);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The data of the events of a kind.
pub(crate) fn events(client: &Client, kind: &str, is_it: impl Fn(&Value) -> bool) -> Vec<Value> {
    let (mut after, mut found) = (0, Vec::new());
    loop {
        let path = format!("/api/v1/events?type={kind}&source=engine&limit=500&after={after}");
        let (status, page) = client.get(&path);
        assert_eq!(status, 200, "{page}");
        let items = page["items"].as_array().unwrap();
        if items.is_empty() {
            return found;
        }
        found.extend(items.iter().map(|item| item["data"].clone()).filter(|data| is_it(data)));
        after = page["next"].as_u64().unwrap();
    }
}

pub(crate) fn exposures(client: &Client) -> usize {
    events(client, "quality", |data| data["finding"] == "exposure").len()
}

pub(crate) fn moves(client: &Client) -> Vec<Value> {
    events(client, "log", |data| data["rule"] == "experiment" && data["change"] == "moved")
}

/// Stops, rebuilds (which must change nothing) and restarts the server.
pub(crate) fn rebuilt(server: Server) -> Server {
    let folder = server.kill_and_leave();
    let (_, out, err) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains(r#""changed":false"#), "{out}{err}");
    Server::start_in(folder)
}
