//! Unreadable experiments do not block the rollback of others.

use serde_json::json;

use super::experiment_calls::{assign, failed, for_each, results, run, show, turn, until};
use crate::engine::tamper;
use crate::server::{Server, uptake};

#[test]
fn unreadable_experiments_do_not_block_others() {
    let more = json!({"guardrails": [{"metric": "error_rate", "limit": 0.05}],
        "rollout": {"steps": [50, 100], "margin": 0.5}});
    let server = Server::start();
    for id in ["a-definition", "b-evidence", "c-sound"] {
        run(&server.client(), id, "satisfaction", &more);
        assign(&server.client(), id, "unit-1");
    }
    let (_, folder) = server.stop();
    let spoil = |byte: &str| {
        format!(
            "UPDATE experiments SET definition = '{{' WHERE id = 'a-definition';
             UPDATE experiment_sums SET sums = {byte}
                 WHERE experiment = (SELECT key FROM experiments WHERE id = 'b-evidence')"
        )
    };
    tamper(folder.path(), &spoil("x'00'"), &spoil("'\\x00'"));
    let server = Server::start_in(folder);
    for_each(&server.client(), 0..300, |client, n| {
        let unit = format!("u{n}");
        assign(client, "b-evidence", &unit);
        let fails = assign(client, "c-sound", &unit) == "treatment";
        turn(client, &format!("t{n}"), &unit, &if fails { failed() } else { json!({}) });
    });
    until("the rollback", || show(&server.client(), "c-sound")["progress"]["rolled_back"] == true);
    let (status, answer) = server.get("/api/v1/experiments/b-evidence/results");
    assert!(status >= 500, "{status} {answer}");

    let (_, folder) = server.stop();
    let (_, out, err) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains(r#""changed":true"#), "{out}{err}");
    let server = Server::start_in(folder);
    let found = results(&server.client(), "b-evidence");
    let seen =
        found["variants"].as_array().unwrap().iter().map(|one| one["units"].as_u64().unwrap());
    assert_eq!(seen.sum::<u64>(), 301, "{found}");
    until("it is taken back too", || {
        show(&server.client(), "b-evidence")["progress"]["rolled_back"] == true
    });
}
