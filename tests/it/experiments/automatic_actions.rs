//! Automatic actions of experiments: rollout, rollback, adaptive shares.

use serde_json::json;

use super::experiment_calls::{
    assign, exposures, failed, for_each, moves, rebuilt, results, run, show, turn, units, until,
};
use crate::server::Server;

fn rollout(steps: &[u32]) -> serde_json::Value {
    json!({"guardrails": [{"metric": "error_rate", "limit": 0.05}],
        "rollout": {"steps": steps, "margin": 0.5}})
}

#[test]
fn failing_treatment_is_rolled_back_with_evidence_in_the_log() {
    let server = Server::start();
    run(&server.client(), "x", "satisfaction", &rollout(&[50, 100]));
    let given = for_each(&server.client(), 0..300, |client, n| {
        let unit = format!("u{n}");
        let variant = assign(client, "x", &unit);
        let fails = variant == "treatment" && n % 2 == 0;
        turn(client, &format!("t{n}"), &unit, &if fails { failed() } else { json!({}) });
        variant
    });
    assert!(given.iter().any(|variant| variant == "treatment"));
    until("the rollback", || show(&server.client(), "x")["progress"]["rolled_back"] == true);
    let shown = show(&server.client(), "x");
    assert_eq!(shown["progress"], json!({"percent": 0.0, "rolled_back": true}));
    assert_eq!(shown["shares"], json!({"control": 1.0, "treatment": 0.0}));
    let logged = moves(&server.client());
    assert_eq!(logged.len(), 1, "{logged:?}");
    let (step, why) = (&logged[0]["move"], &logged[0]["move"]["evidence"]);
    assert_eq!(
        (&step["from"], &step["to"], &step["why"]),
        (&json!(50.0), &json!(0.0), &json!("guardrail_crossed"))
    );
    assert_eq!(
        (&why["variant"], &why["metric"], &why["limit"]),
        (&json!("treatment"), &json!("error_rate"), &json!(0.05))
    );
    assert!(
        why["bound"].as_f64() > Some(0.05) && why["mean"].as_f64() > why["bound"].as_f64(),
        "{why}"
    );
    assert!(why["units"].as_u64() >= Some(100), "{why}");
    let found = results(&server.client(), "x");
    assert_eq!(
        (&found["verdict"], &found["why"]),
        (&json!("worse"), &json!("guardrail_crossed")),
        "{found}"
    );

    let server = server.kill_and_restart();
    assert_eq!(show(&server.client(), "x"), shown);
    let treated = given.iter().position(|variant| variant == "treatment").unwrap();
    assert_eq!(assign(&server.client(), "x", &format!("u{treated}")), "control", "also who had it");
    assert_eq!(assign(&server.client(), "x", "new"), "control");
    let before = exposures(&server.client());
    assert_eq!(before, 302, "one is served something else, one is new");
    let server = rebuilt(server);
    assert_eq!(show(&server.client(), "x"), shown);
    assert_eq!(moves(&server.client()), logged);
}

#[test]
fn harmless_treatment_is_rolled_out_and_units_count_in_their_first_variant() {
    let server = Server::start();
    run(&server.client(), "x", "error_rate", &rollout(&[50, 100]));
    let live = |server: &Server, round: usize| {
        for_each(&server.client(), 0..280, |client, n| {
            let unit = format!("u{n}");
            let variant = assign(client, "x", &unit);
            turn(client, &format!("t{round}-{n}"), &unit, &json!({}));
            variant
        })
    };
    let first = live(&server, 1);
    until("the next step", || show(&server.client(), "x")["progress"]["percent"] == 100.0);
    let logged = moves(&server.client());
    let why = &logged[0]["move"]["evidence"]["treatments"][0];
    assert_eq!((&logged[0]["move"]["why"], &logged[0]["number"]), (&json!("not_worse"), &json!(1)));
    assert!(why["gain_at_least"].as_f64() > Some(-0.5), "{why}");
    let before = units(&server.client(), "x");
    let server = server.kill_and_restart();
    assert!(live(&server, 2).iter().all(|variant| variant == "treatment"));
    assert_eq!(units(&server.client(), "x"), before, "no unit is counted twice");
    let control = first.iter().filter(|variant| *variant == "control").count();
    assert_eq!(exposures(&server.client()), 280 + control);
    let found = results(&server.client(), "x");
    assert_eq!(found["guardrails"][0]["units"], 280, "guardrails go by what is served: {found}");
    let server = rebuilt(server);
    assert_eq!(results(&server.client(), "x"), found);
}

#[test]
fn adaptive_shares_follow_the_results() {
    let server = Server::start();
    run(&server.client(), "x", "quality_score", &json!({"adaptive": {"min_share": 0.1}}));
    let given = for_each(&server.client(), 0..280, |client, n| {
        let unit = format!("u{n}");
        let variant = assign(client, "x", &unit);
        let score = if variant == "treatment" { 0.9 } else { 0.3 } + (n % 10) as f64 / 100.0;
        turn(client, &format!("t{n}"), &unit, &json!({"quality_score": score}));
        variant
    });
    until("other shares", || !moves(&server.client()).is_empty());
    let server = server.kill_and_restart();
    let shares = show(&server.client(), "x")["shares"].clone();
    assert!((shares["treatment"].as_f64().unwrap() - 0.9).abs() < 1e-6, "{shares}");
    let again =
        for_each(&server.client(), 0..280, |client, n| assign(client, "x", &format!("u{n}")));
    assert_eq!(again, given, "who was exposed keeps what they have");
    let new =
        for_each(&server.client(), 1000..1100, |client, n| assign(client, "x", &format!("u{n}")));
    let treated = new.iter().filter(|variant| *variant == "treatment").count();
    assert!(treated > 75, "{treated} of 100, expected about 90");
    rebuilt(server);
}
