//! Kills under load: no acknowledged write is lost, nothing is stored twice, and the projections match
//! the log.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use testkit::rating_body;

use crate::feedback_calls::react_path;
use crate::server::{Client, Server, uptake};

const ROUNDS: usize = 20;
const SENDERS: usize = 4;

/// Writes acknowledged to the senders.
#[derive(Default)]
struct Acknowledged {
    events: Mutex<HashSet<String>>,
    // Turns with an answer and a reaction.
    turns: Mutex<HashSet<String>>,
}

#[test]
fn twenty_kills_under_load_lose_and_duplicate_nothing() {
    let mut server = Server::start();
    let acknowledged = Acknowledged::default();
    for round in 0..ROUNDS {
        let last = random_below(100) + 5;
        send_until_killed(&mut server, round, last, &acknowledged);
        let folder = server.kill_and_leave();
        let (code, out, err) = uptake(folder.path(), &["rebuild", "--json"]);
        let rebuilt: Value =
            serde_json::from_str(&out).unwrap_or_else(|_| panic!("{code:?} {err}"));
        assert_eq!(rebuilt["changed"], false, "the projections differed from the log");
        server = Server::start_in(folder);
    }
    let stored = read_log(&server);
    let ids: Vec<&str> = stored.iter().map(|event| event["id"].as_str().unwrap()).collect();
    let unique: HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(unique.len(), ids.len(), "an event is stored twice");
    for id in acknowledged.events.lock().unwrap().iter() {
        assert!(unique.contains(id.as_str()), "{id} was acknowledged and is gone");
    }
    for turn in acknowledged.turns.lock().unwrap().iter() {
        let (status, shown) = server.get(&format!("/api/v1/turns/{turn}"));
        assert_eq!((status, &shown["completed"]), (200, &json!(true)), "{turn}");
        let reactions: Vec<&Value> =
            shown["reactions"].as_array().unwrap().iter().map(|one| &one["reaction"]).collect();
        assert_eq!(
            reactions,
            ["ok", "not_ok"],
            "the machine's and the last of the user's: {shown}"
        );
    }
    let positions: Vec<u64> = stored.iter().map(|e| e["position"].as_u64().unwrap()).collect();
    assert_eq!(positions, (1..=ids.len() as u64).collect::<Vec<_>>(), "positions have gaps");
}

/// A random number below the limit, from the process's hash map seed.
fn random_below(below: u64) -> usize {
    use std::hash::{BuildHasher, RandomState};
    (RandomState::new().hash_one(0) % below) as usize
}

/// Sends until the server is killed at a random moment.
fn send_until_killed(server: &mut Server, round: usize, last: usize, acknowledged: &Acknowledged) {
    let answers = AtomicUsize::new(0);
    let client = server.client();
    std::thread::scope(|scope| {
        for sender in 0..SENDERS {
            let (client, answers) = (client.clone(), &answers);
            scope.spawn(move || {
                for n in 0.. {
                    let id = format!("r{round}-s{sender}-n{n}");
                    let sent = if n % 2 == 0 {
                        send_event(&client, &id, &acknowledged.events)
                    } else {
                        send_turn(&client, &id, &acknowledged.turns)
                    };
                    if sent.is_err() {
                        return;
                    }
                    answers.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        while answers.load(Ordering::SeqCst) < last {
            std::thread::yield_now();
        }
        // Not right after a response: anywhere in the following commits.
        for _ in 0..random_below(20_000) {
            std::hint::spin_loop();
        }
        server.kill();
    });
}

/// Sends each event twice, like a client that got no response the first time.
fn send_event(
    client: &Client,
    id: &str,
    acknowledged: &Mutex<HashSet<String>>,
) -> Result<(), ureq::Error> {
    let mut body = rating_body("t1");
    body["id"] = json!(id);
    let (first, _) = client.try_post("/api/v1/feedback", &body)?;
    assert_eq!(first, 201);
    acknowledged.lock().unwrap().insert(id.to_owned());
    let (second, _) = client.try_post("/api/v1/feedback", &body)?;
    assert_eq!(second, 200);
    Ok(())
}

/// Sends feedback before its turn, the turn with its answer, a machine reaction, a reaction, a
/// replacement of it, and another user's reaction that is cleared.
fn send_turn(
    client: &Client,
    id: &str,
    acknowledged: &Mutex<HashSet<String>>,
) -> Result<(), ureq::Error> {
    let mut early = rating_body(id);
    early["user_id"] = json!("early");
    assert_eq!(client.try_post("/api/v1/feedback", &early)?.0, 201);
    let conversation = format!("c-{id}");
    let body =
        json!({"turn_id": id, "conversation_id": conversation, "text": "q", "response": "a"});
    assert_eq!(client.try_post("/api/v1/turns", &body)?.0, 201);
    let path = react_path(&conversation, id);
    let reactions = [
        json!({"reaction": "ok", "origin": "machine", "confidence": 0.812_345_678_901_234}),
        json!({"reaction": "ok"}),
        json!({"reaction": "ok", "user_id": "other"}),
        json!({"reaction": null, "user_id": "early"}),
        json!({"reaction": "not_ok"}),
        json!({"reaction": null, "user_id": "other"}),
    ];
    for reaction in reactions {
        assert_eq!(client.try_post(&path, &reaction)?.0, 200);
    }
    acknowledged.lock().unwrap().insert(id.to_owned());
    Ok(())
}

pub(crate) fn read_log(server: &Server) -> Vec<Value> {
    read_log_with(&server.client())
}

pub(crate) fn read_log_with(client: &Client) -> Vec<Value> {
    let mut events: Vec<Value> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event["position"].as_u64().unwrap());
        let (status, page) = client.get(&format!("/api/v1/events?after={after}"));
        assert_eq!(status, 200);
        let items = page["items"].as_array().unwrap();
        if items.is_empty() {
            return events;
        }
        events.extend(items.iter().cloned());
    }
}
