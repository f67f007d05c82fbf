//! A strategy is a name with its parameters: what is offered, avoided and preferred.

use serde_json::{Value, json};

use crate::conversation_calls::{TestConversation, turn_ids};
use crate::feedback_calls::react;
use crate::server::Server;

const QUESTION: &str = "Show the sales of the north region as a chart";

/// Stores a turn whose chart has a kind, in a conversation of its own.
fn chart(server: &Server, (turn, user): (&str, &str), kind: &str, reaction: Option<&str>) {
    let talk = TestConversation::new(server, turn, user);
    talk.send(turn, QUESTION, &json!({}));
    let strategy = json!({"name": "chart", "params": {"kind": kind, "size": 3}});
    talk.complete(turn, &json!({"response": "Here is the chart.", "strategy": strategy}));
    if let Some(reaction) = reaction {
        react(server, turn, turn, &json!({"reaction": reaction}));
    }
}

/// Turns to reuse and turns to avoid.
fn search(server: &Server) -> (Vec<String>, Vec<String>) {
    let body = json!({"query": QUESTION, "k": 10, "include_rejected": true});
    let mut found = Value::Null;
    // The index loads in the background after a start.
    for _ in 0..10_000 {
        found = server.post("/api/v1/strategies/search", &body).1;
        if found["search"]["complete"] == true {
            break;
        }
        std::thread::yield_now();
    }
    let sorted = |turns: &Value| {
        let mut ids = turn_ids(turns);
        ids.sort();
        ids
    };
    (sorted(&found["strategies"]), sorted(&found["avoid"]))
}

#[test]
fn rejected_strategy_is_not_offered_from_another_turn() {
    let server = Server::start();
    chart(&server, ("pie-1", "u1"), "pie", Some("not_ok"));
    chart(&server, ("pie-2", "u2"), "pie", None);
    chart(&server, ("bar-1", "u3"), "bar", None);
    let check = |server: &Server| {
        assert_eq!(search(server), (vec!["bar-1".to_owned()], vec!["pie-1".to_owned()]));
        let few = json!({"query": QUESTION, "k": 10});
        let found = server.post("/api/v1/strategies/search", &few).1;
        assert_eq!(turn_ids(&found["strategies"]), ["bar-1"], "{found}");
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
    // More acceptances than rejections bring the strategy back.
    chart(&server, ("pie-3", "u4"), "pie", Some("ok"));
    assert_eq!(search(&server).1, ["pie-1"], "as many rejections as acceptances");
    chart(&server, ("pie-4", "u5"), "pie", Some("ok"));
    let (offered, avoided) = search(&server);
    assert_eq!((offered.len(), avoided.len()), (4, 0), "{offered:?} {avoided:?}");
}

#[test]
fn just_rejected_strategy_is_avoided_even_when_others_accepted_it() {
    let server = Server::start();
    for (turn, user) in [("pie-1", "u1"), ("pie-2", "u2")] {
        chart(&server, (turn, user), "pie", Some("ok"));
    }
    chart(&server, ("mine-1", "u3"), "pie", None);
    let talk = TestConversation::new(&server, "mine-1", "u3");
    let next = talk.send_message("mine-2", "No, that's wrong, I do not want a pie chart");
    assert_eq!(next["previous"]["status"], "rejected", "{next}");
    assert_eq!(turn_ids(&next["avoid"]), ["mine-1"], "{next}");
    assert_eq!(next["strategies"], json!([]), "{next}");
}

#[test]
fn preferences_name_the_parameters_that_made_the_difference() {
    let server = Server::start();
    chart(&server, ("bar-1", "ann"), "bar", Some("ok"));
    chart(&server, ("pie-1", "ann"), "pie", Some("not_ok"));
    let check = |server: &Server, turn: &str| {
        let talk = TestConversation::new(server, turn, "ann");
        let opened = talk.send_message(turn, "Show the costs of the south region");
        let text = opened["context"]["markdown"].as_str().unwrap().to_owned();
        for line in [
            "- Accepted strategies: chart with kind 'bar' (once)",
            "- Rejected strategies: chart with kind 'pie' (once)",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    };
    check(&server, "next-1");
    check(&server.kill_and_restart(), "next-2");
}
