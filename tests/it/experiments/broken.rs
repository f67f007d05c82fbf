//! Experiments that cannot be read do not keep others from being taken back.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::lab::{assign, failed, for_each, results, run, show, turn, until};
use crate::server::{Server, uptake};

/// By another program, as a bad disk would.
fn damage(folder: &Path, sql: &str) {
    let code = "import sqlite3,sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2])";
    let done =
        Command::new("python3").args(["-c", code]).arg(folder.join("uptake.db")).arg(sql).output();
    let done = done.unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn unreadable_definitions_and_evidence_stop_nobody_else() {
    let more = json!({"guardrails": [{"metric": "error_rate", "limit": 0.05}],
        "rollout": {"steps": [50, 100], "margin": 0.5}});
    let server = Server::start();
    for id in ["a-definition", "b-evidence", "c-sound"] {
        run(&server.client(), id, "satisfaction", &more);
        assign(&server.client(), id, "somebody");
    }
    let (_, folder) = server.stop();
    damage(
        folder.path(),
        "UPDATE experiments SET definition = '{' WHERE id = 'a-definition';
         UPDATE experiment_sums SET sums = x'00'
             WHERE experiment = (SELECT key FROM experiments WHERE id = 'b-evidence');",
    );
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
