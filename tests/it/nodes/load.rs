//! Clients that send turns, answers and ratings to any node, and record acknowledged writes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::rating_body;

use crate::durability::read_log;
use crate::server::{Client, Server};

/// Number of concurrent senders.
const SENDERS: usize = 4;

/// Target nodes and acknowledged writes.
pub(super) struct Load {
    nodes: Mutex<Vec<Client>>,
    is_over: AtomicBool,
    events: Mutex<BTreeSet<String>>,
    turns: Mutex<BTreeSet<String>>,
}

impl Load {
    pub(super) fn new(nodes: &[&Server]) -> Self {
        let load = Self {
            nodes: Mutex::default(),
            is_over: AtomicBool::default(),
            events: Mutex::default(),
            turns: Mutex::default(),
        };
        load.turn_to(nodes);
        load
    }

    /// Sends requests to these nodes from now on.
    pub(super) fn turn_to(&self, nodes: &[&Server]) {
        let clients = nodes.iter().map(|node| node.client()).collect();
        *self.nodes.lock().unwrap_or_else(PoisonError::into_inner) = clients;
    }

    /// Sends while `something` runs.
    pub(super) fn during(&self, something: impl FnOnce()) {
        std::thread::scope(|scope| {
            for sender in 0..SENDERS {
                scope.spawn(move || {
                    for n in 0.. {
                        if self.is_over.load(Ordering::Relaxed) {
                            return;
                        }
                        self.send_one(&format!("s{sender}-{n}"), sender + n);
                    }
                });
            }
            // Also on a panic, or the senders would run forever.
            let over = Over(&self.is_over);
            something();
            drop(over);
        });
    }

    pub(super) fn turns(&self) -> usize {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Sends a turn that a router's arm answers, and a rating: each request to another node.
    fn send_one(&self, id: &str, first: usize) {
        let opening = json!({"turn_id": id, "conversation_id": format!("c-{id}"), "user_id": "ann",
            "text": format!("how do I do {id}?"), "include": ["route"], "router": "chat"});
        let Some(opened) = self.send(first, "/api/v1/turns", &opening) else { return };
        let answered =
            json!({"response": "so", "model": opened["route"]["arm"], "latency_ms": 900});
        let path = format!("/api/v1/turns/{id}/complete");
        if self.send(first + 1, &path, &answered).is_none() {
            return;
        }
        let mut rating = rating_body(id);
        rating["id"] = json!(format!("rating-{id}"));
        rating["data"]["rating"] =
            json!(if first.is_multiple_of(3) { "negative" } else { "positive" });
        if self.send(first + 2, "/api/v1/feedback", &rating).is_some() {
            self.events.lock().unwrap().insert(format!("rating-{id}"));
            self.turns.lock().unwrap().insert(id.to_owned());
        }
    }

    /// Retries until a node acknowledges the request. `None` when the test is over.
    fn send(&self, first: usize, path: &str, body: &Value) -> Option<Value> {
        for n in first.. {
            let client = {
                let nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
                nodes[n % nodes.len()].clone()
            };
            match client.try_post(path, body) {
                Ok((200 | 201, answer)) => return Some(answer),
                Ok((503, _)) | Err(_) => {}
                Ok((status, answer)) => panic!("{status} {answer} for {path} {body}"),
            }
            if self.is_over.load(Ordering::Relaxed) {
                return None;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }

    /// Checks that every acknowledged write is stored once, in a log without gaps.
    pub(super) fn check(&self, server: &Server) {
        let stored = read_log(server);
        let positions: Vec<u64> = stored.iter().map(|e| e["position"].as_u64().unwrap()).collect();
        let expected: Vec<u64> = (1..=stored.len() as u64).collect();
        assert_eq!(positions, expected, "positions have gaps");
        let ids: Vec<&str> = stored.iter().map(|event| event["id"].as_str().unwrap()).collect();
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(unique.len(), ids.len(), "an event is stored twice");
        for id in self.events.lock().unwrap().iter() {
            assert!(unique.contains(id.as_str()), "{id} was acknowledged and is gone");
        }
        for turn in self.turns.lock().unwrap().iter() {
            let (status, shown) = server.get(&format!("/api/v1/turns/{turn}"));
            assert_eq!((status, &shown["completed"]), (200, &json!(true)), "{turn}: {shown}");
            let of_turn = |kind: &str| {
                let is = |event: &&Value| event["message_id"] == **turn && event["source"] == kind;
                stored.iter().filter(is).count()
            };
            assert_eq!(of_turn("user_rating"), 1, "{turn} was rated once");
        }
    }
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
