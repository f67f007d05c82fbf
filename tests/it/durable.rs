//! Nothing acknowledged is lost and nothing is stored twice, whenever the server dies.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use testkit::rating_body;

use crate::server::{Client, Server};

const ROUNDS: usize = 20;
const SENDERS: usize = 4;

#[test]
fn twenty_crashes_under_load_lose_and_double_nothing() {
    let mut server = Server::start();
    let acknowledged = Mutex::new(HashSet::new());
    for round in 0..ROUNDS {
        // Crash after a different number of answers each time, so that it hits every moment of a
        // commit sooner or later.
        let last = (round * 37) % 90 + 5;
        crash_after(&mut server, round, last, &acknowledged);
        server = server.kill_and_restart();
    }
    let stored = whole_log(&server);
    let ids: Vec<&str> = stored.iter().map(|event| event["id"].as_str().unwrap()).collect();
    let unique: HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(unique.len(), ids.len(), "an event is stored twice");
    for id in acknowledged.lock().unwrap().iter() {
        assert!(unique.contains(id.as_str()), "{id} was acknowledged and is gone");
    }
    let positions: Vec<u64> = stored.iter().map(|e| e["position"].as_u64().unwrap()).collect();
    assert_eq!(positions, (1..=ids.len() as u64).collect::<Vec<_>>(), "positions have gaps");
}

/// Senders write until the server dies under them. Each event is sent twice, as a client does that
/// got no answer the first time.
fn crash_after(
    server: &mut Server,
    round: usize,
    last: usize,
    acknowledged: &Mutex<HashSet<String>>,
) {
    let answers = AtomicUsize::new(0);
    let client = server.client();
    std::thread::scope(|scope| {
        for sender in 0..SENDERS {
            let (client, answers) = (client.clone(), &answers);
            scope.spawn(move || {
                for n in 0.. {
                    let id = format!("r{round}-s{sender}-n{n}");
                    if send_twice(&client, &id).is_err() {
                        return;
                    }
                    acknowledged.lock().unwrap().insert(id);
                    answers.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        while answers.load(Ordering::SeqCst) < last {
            std::thread::yield_now();
        }
        server.kill();
    });
}

fn send_twice(client: &Client, id: &str) -> Result<(), ureq::Error> {
    let mut body = rating_body("t1");
    body["id"] = json!(id);
    let (first, _) = client.try_post("/api/v1/feedback", &body)?;
    assert_eq!(first, 201);
    // The first answer counts even if the repeat gets none.
    if let Ok((second, _)) = client.try_post("/api/v1/feedback", &body) {
        assert_eq!(second, 200);
    }
    Ok(())
}

fn whole_log(server: &Server) -> Vec<Value> {
    let mut events: Vec<Value> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event["position"].as_u64().unwrap());
        let (status, page) = server.get(&format!("/api/v1/events?after={after}"));
        assert_eq!(status, 200);
        let items = page["items"].as_array().unwrap();
        if items.is_empty() {
            return events;
        }
        events.extend(items.iter().cloned());
    }
}
