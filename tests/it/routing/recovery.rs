//! A router leaves an arm whose reward fell.

use serde_json::json;

use super::{Dice, MODELS, arm, put_router, router, three_models};
use crate::feedback_calls::react;
use crate::server::{Server, uptake};

/// Serves and rates turns with the given chance of a thumbs up per arm. Returns the chosen arms.
fn rate_turns(
    server: &Server,
    dice: &mut Dice,
    turns: std::ops::Range<u32>,
    liking: [f64; 3],
) -> Vec<String> {
    let serve = |n: u32| {
        let (turn, conversation) = (format!("t{n}"), format!("c{n}"));
        let body = json!({"turn_id": turn, "conversation_id": conversation, "text": "A question",
            "user_id": format!("u{n}"), "include": ["route"], "router": "chat"});
        let (status, opened) = server.post("/api/v1/turns", &body);
        assert_eq!(status, 201, "{opened}");
        let arm = opened["route"]["arm"].as_str().unwrap().to_owned();
        let done = json!({"response": "An answer to it.", "latency_ms": 900, "model": arm});
        assert_eq!(server.post(&format!("/api/v1/turns/{turn}/complete"), &done).0, 200);
        let place = MODELS.iter().position(|(id, _)| *id == arm).unwrap();
        let reaction = if dice.next_roll() < liking[place] { "ok" } else { "not_ok" };
        assert_eq!(react(server, &conversation, &turn, &json!({ "reaction": reaction })).0, 200);
        arm
    };
    turns.map(serve).collect()
}

#[test]
fn default_router_recovers_within_250_decisions_when_the_best_arm_collapses() {
    let server = Server::start();
    put_router(&server, "chat", &three_models());
    let mut dice = Dice(24);
    let count = |arms: &[String], id: &str| arms.iter().filter(|arm| *arm == id).count();
    let before = rate_turns(&server, &mut dice, 0..400, [0.5, 0.85, 0.65]);
    assert!(count(&before[300..], "good") > 75, "{before:?}");
    assert_eq!(arm(&router(&server, "chat"), "good")["falls"], 0);
    let server = server.kill_and_restart();
    let after = rate_turns(&server, &mut dice, 400..650, [0.5, 0.35, 0.65]);
    let last = count(&after[200..], "middle");
    assert!(last >= 40, "{last} of the last 50: {after:?}");
    let shown = router(&server, "chat");
    let fallen = arm(&shown, "good");
    assert_eq!(fallen["falls"], 1, "{shown}");
    assert!(fallen["observations"].as_u64() > Some(300) && fallen["weight"].as_f64() < Some(100.0));
    let server = server.kill_and_restart();
    assert_eq!(router(&server, "chat")["arms"], shown["arms"], "after a crash");
    let (_, folder) = server.stop();
    assert_eq!(uptake(folder.path(), &["rebuild"]).0, Some(0));
    let server = Server::start_in(folder);
    assert_eq!(router(&server, "chat")["arms"], shown["arms"], "from the beginning of the log");
}

#[test]
fn default_router_loses_at_most_3_points_while_rewards_are_stationary() {
    let server = Server::start();
    put_router(&server, "chat", &three_models());
    let mut dice = Dice(25);
    let liking = [0.5, 0.85, 0.65];
    rate_turns(&server, &mut dice, 0..300, liking);
    let server = server.kill_and_restart();
    let chosen = rate_turns(&server, &mut dice, 300..600, liking);
    let place = |arm: &String| MODELS.iter().position(|(id, _)| id == arm).unwrap();
    let mean = chosen.iter().map(|arm| liking[place(arm)]).sum::<f64>() / chosen.len() as f64;
    assert!(mean >= 0.85 - 0.03, "{mean}: {chosen:?}");
    for (id, _) in MODELS {
        assert_eq!(arm(&router(&server, "chat"), id)["falls"], 0, "{id}");
    }
}
