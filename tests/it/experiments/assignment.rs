//! Assignment of variants.

use serde_json::json;

use super::experiment_calls::{act, assign, exposures, for_each, rebuilt, results, run, units};
use crate::server::Server;

#[test]
fn assignment_keeps_shares_and_exposes_units_once_across_a_kill() {
    let server = Server::start();
    let weights = json!({"variants": [
        {"name": "control", "weight": 1, "payload": {"prompt": "p@1"}},
        {"name": "treatment", "weight": 3, "payload": {"prompt": "p@2"}}]});
    run(&server.client(), "x", "satisfaction", &weights);
    let give = |server: &Server| {
        for_each(&server.client(), 0..400, |client, n| assign(client, "x", &format!("u{n}")))
    };
    let first = give(&server);
    let treated = first.iter().filter(|variant| *variant == "treatment").count();
    assert!((250..350).contains(&treated), "{treated} of 400, expected about 300");
    assert_eq!(units(&server.client(), "x"), (400 - treated as u64, treated as u64));
    assert_eq!(give(&server), first);
    let server = server.kill_and_restart();
    assert_eq!(give(&server), first);
    assert_eq!(exposures(&server.client()), 400, "once for each");
    let found = results(&server.client(), "x");
    assert_eq!(found["srm"]["ok"], true, "{found}");
    let server = rebuilt(server);
    assert_eq!(results(&server.client(), "x"), found);
}

#[test]
fn concurrent_assignments_of_a_unit_expose_it_once() {
    let server = Server::start();
    run(&server.client(), "x", "satisfaction", &json!({}));
    let given = for_each(&server.client(), 0..64, |client, _| assign(client, "x", "u1"));
    assert!(given.iter().all(|variant| *variant == given[0]));
    assert_eq!(exposures(&server.client()), 1);
}

#[test]
fn paused_experiment_keeps_assignments_and_takes_no_new_units() {
    let server = Server::start();
    run(&server.client(), "x", "satisfaction", &json!({}));
    let give = |n: usize| assign(&server.client(), "x", &format!("u{n}"));
    let before: Vec<String> = (0..20).map(give).collect();
    assert!(before.contains(&"treatment".to_owned()));
    assert_eq!(act(&server.client(), "x", "pause").0, 200);
    assert_eq!((0..20).map(give).collect::<Vec<_>>(), before);
    assert!((100..120).map(give).all(|variant| variant == "control"));
    assert_eq!(exposures(&server.client()), 20);
    assert_eq!(act(&server.client(), "x", "resume").0, 200);
    let later: Vec<String> = (100..120).map(give).collect();
    assert!(later.contains(&"treatment".to_owned()), "{later:?}");
    assert_eq!(exposures(&server.client()), 40);
}

#[test]
fn sample_ratio_mismatch_blocks_a_verdict() {
    let server = Server::start();
    let other = server.client().with_header("X-Uptake-Tenant", "other");
    run(&server.client(), "x", "satisfaction", &json!({}));
    run(&other, "x", "satisfaction", &json!({}));
    let given =
        for_each(&server.client(), 0..300, |client, n| assign(client, "x", &format!("u{n}")));
    assert_eq!(results(&server.client(), "x")["srm"]["ok"], true);
    // The application loses most of the control units before they are assigned.
    for_each(&other, 0..300, |client, n| {
        if given[n] == "treatment" || n % 4 == 0 {
            assert_eq!(assign(client, "x", &format!("u{n}")), given[n], "by the same id");
        }
    });
    let found = results(&other, "x");
    assert_eq!(found["srm"]["ok"], false, "{found}");
    assert!(found["srm"]["p"].as_f64() < Some(0.001), "{found}");
    assert_eq!(
        (&found["verdict"], &found["why"]),
        (&json!("no_verdict"), &json!("sample_ratio_mismatch"))
    );
}
