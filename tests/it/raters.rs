//! Several raters of one turn: status, label, example and reward follow one rule.

use serde_json::{Value, json};

use crate::conversation_calls::read_verdict;
use crate::feedback_calls::react;
use crate::server::{Server, uptake};

/// A turn that the router's only arm answered.
fn send_turn(server: &Server, turn: &str, question: &str) {
    let body = json!({"conversation_id": format!("c-{turn}"), "turn_id": turn, "user_id": "asker",
        "text": question, "include": ["route"], "router": turn});
    let router = json!({"arms": [{"id": "m1"}], "reward": {"implicit_weight": 0}});
    assert_eq!(server.client().put(&format!("/api/v1/routers/{turn}"), &router).0, 200);
    let (status, opened) = server.post("/api/v1/turns", &body);
    assert_eq!(status, 201, "{opened}");
    let answer = json!({"response": format!("The answer of {turn}."), "model": "m1"});
    assert_eq!(server.post(&format!("/api/v1/turns/{turn}/complete"), &answer).0, 200);
}

fn rate(server: &Server, turn: &str, user: &str, rating: &Value) {
    if rating.is_string() {
        let body = json!({"reaction": rating, "user_id": user});
        assert_eq!(react(server, &format!("c-{turn}"), turn, &body).0, 200);
        return;
    }
    let body = json!({"type": "explicit", "source": "user_rating", "category": "quality",
        "message_id": turn, "user_id": user, "data": {"rating": rating}});
    assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
}

/// Question, ratings of users in order, review, and what follows: status, label, reward.
type RatedTurn = (&'static str, Vec<(&'static str, Value)>, Option<&'static str>, Expected);

#[derive(Clone, Copy)]
struct Expected {
    status: &'static str,
    label: Option<bool>,
    mean: f64,
}

fn rated_turns() -> Vec<RatedTurn> {
    let (ok, bad) = (json!("ok"), json!("not_ok"));
    let expected = |status, label, mean| Expected { status, label, mean };
    vec![
        (
            "How do I bake sourdough bread?",
            vec![("ann", bad.clone()), ("bob", bad.clone()), ("eve", ok.clone())],
            None,
            expected("rejected", Some(false), 1.0 / 3.0),
        ),
        (
            "Which trains go to Lisbon?",
            vec![("ann", bad.clone()), ("bob", ok.clone())],
            None,
            expected("neutral", None, 0.5),
        ),
        (
            "What is the capital of Peru?",
            vec![("ann", json!(5)), ("bob", json!(2))],
            None,
            expected("accepted", Some(true), 0.625),
        ),
        (
            "Who painted the ceiling in Rome?",
            vec![("ann", bad.clone()), ("ann", ok.clone()), ("bob", ok.clone())],
            None,
            expected("accepted", Some(true), 1.0),
        ),
        (
            "When does the museum open?",
            vec![("ann", ok.clone()), ("bob", ok)],
            Some("rejected"),
            expected("rejected", Some(false), 0.0),
        ),
        (
            "How tall is the tower?",
            vec![("ann", bad)],
            Some("accepted"),
            expected("accepted", Some(true), 1.0),
        ),
        (
            "Where is the lost property office?",
            Vec::new(),
            Some("rejected"),
            expected("rejected", Some(false), 0.0),
        ),
    ]
}

fn check(server: &Server, turns: &[RatedTurn]) {
    let rows = {
        let url = format!("{}/api/v1/preferences/export?format=kto", server.url);
        let mut response = ureq::Agent::new_with_defaults().get(url).call().unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    for (n, (question, ratings, review, expected)) in turns.iter().enumerate() {
        let turn = format!("t{n}");
        let answer = format!("The answer of {turn}.");
        assert_eq!(read_verdict(server, &turn).0, expected.status, "{question}");
        let row = rows.iter().find(|row| row["completion"][0]["content"] == answer.as_str());
        let label = row.and_then(|row| row["label"].as_bool());
        assert_eq!(label, expected.label, "{question}: {rows:?}");
        let query = json!({"query": question, "k": 10});
        let (_, found) = server.post("/api/v1/examples/select", &query);
        let examples = found["examples"].as_array().unwrap();
        let example = examples.iter().find(|one| one["output_text"] == answer.as_str());
        assert_eq!(example.is_some(), expected.status == "accepted", "{question}: {found}");
        if let (Some(example), None) = (example, review) {
            assert_eq!(example["rating"].as_f64(), Some(expected.mean), "{example}");
        }
        if ratings.is_empty() {
            continue;
        }
        // One turn with weight w and reward r on the prior Beta(1, 1).
        let arm = &server.get(&format!("/api/v1/routers/{turn}")).1["arms"][0];
        let (weight, mean) = (arm["weight"].as_f64().unwrap(), arm["mean"].as_f64().unwrap());
        let reward = (mean * (2.0 + weight) - 1.0) / weight;
        assert!((reward - expected.mean).abs() < 1e-6, "{question}: {reward} {arm}");
    }
}

#[test]
fn several_raters_share_one_rule_for_status_label_example_and_reward() {
    let server = Server::start();
    let turns = rated_turns();
    for (n, (question, ratings, review, _)) in turns.iter().enumerate() {
        let turn = format!("t{n}");
        send_turn(&server, &turn, question);
        for (user, rating) in ratings {
            rate(&server, &turn, user, rating);
        }
        if let Some(status) = review {
            let body = json!({ "status": status });
            assert_eq!(server.post(&format!("/api/v1/turns/{turn}/review"), &body).0, 200);
        }
    }
    check(&server, &turns);
    let server = server.kill_and_restart();
    check(&server, &turns);
    let (_, folder) = server.stop();
    let (_, out, error) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains(r#""changed":false"#), "{out}{error}");
    check(&Server::start_in(folder), &turns);
}
