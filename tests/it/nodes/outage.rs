//! Log lines of a node during a Postgres outage.

use std::collections::BTreeSet;
use std::fs::File;

use serde_json::json;
use testkit::servers::{Postgres, or_skip};

use super::until;
use crate::server::{Server, command};

/// Failing requests, reads and writes.
const REQUESTS: usize = 40;

#[test]
fn outage_is_logged_once_not_per_request() {
    let Some(postgres) = or_skip(Postgres::start()) else { return };
    let database = postgres.database().unwrap();
    let (folder, said) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
    let mut command = command(folder.path(), "127.0.0.1:0");
    command.env("UPTAKE__STORE__POSTGRES", database.url()).env("UPTAKE__LOG__LEVEL", "debug");
    command.stderr(File::create(said.path()).unwrap());
    let server = Server::spawn(command, folder);
    let body = json!({"type": "metric", "source": "system_metric", "category": "cost"});
    assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
    postgres.kill();
    for _ in 0..REQUESTS {
        assert_eq!(server.post("/api/v1/feedback", &body).0, 503);
        assert_eq!(server.get("/api/v1/events").0, 503);
    }
    // Background jobs retry too.
    until("that was tried more than once", || {
        let said = std::fs::read_to_string(said.path()).unwrap();
        said.matches("reading the log head failed; retrying").count() > 2
    });
    postgres.restart();
    postgres.wait_until_ready().unwrap();
    until("it stores again", || server.post("/api/v1/feedback", &body).0 == 201);
    until("it reads again", || server.get("/api/v1/events").0 == 200);
    drop(server);
    let said = std::fs::read_to_string(said.path()).unwrap();
    let count = |text: &str| said.lines().filter(|line| line.contains(text)).count();
    for what in ["written to", "read"] {
        assert_eq!(count(&format!("the store cannot be {what}")), 1, "{said}");
        assert_eq!(count(&format!("the store can be {what} again")), 1, "{said}");
    }
    let of = |level: &'static str| said.lines().filter(move |line| log_level(line) == Some(level));
    // A long outage is logged again.
    let errors = of("ERROR").count() - count("the store still cannot be");
    assert!(errors < REQUESTS / 4, "{errors} errors:\n{said}");
    let mut warned = BTreeSet::new();
    for line in of("WARN").filter(|line| line.contains("uptake_engine::")) {
        assert!(warned.insert(log_message(line)), "more than once: {line}");
    }
}

/// `time LEVEL module: message error=cause`
fn log_level(line: &str) -> Option<&str> {
    line.split_whitespace().nth(1)
}

fn log_message(line: &str) -> &str {
    let behind_time = line.split_once("WARN").map_or(line, |(_, rest)| rest);
    behind_time.split(" error=").next().unwrap_or(behind_time)
}
