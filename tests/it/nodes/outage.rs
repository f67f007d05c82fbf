//! What a node says while Postgres is away.

use std::collections::BTreeSet;
use std::fs::File;

use serde_json::json;
use testkit::servers::{Postgres, or_skip};

use super::until;
use crate::server::{Server, command};

/// Requests that fail, of either sort.
const REQUESTS: usize = 40;

#[test]
fn an_outage_is_said_once_and_not_for_each_request() {
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
    // What goes on beside requests tries again and again too.
    until("that was tried more than once", || {
        let said = std::fs::read_to_string(said.path()).unwrap();
        said.matches("keys of other nodes are heard of later").count() > 2
    });
    postgres.restart();
    postgres.wait_until_it_answers().unwrap();
    until("it stores again", || server.post("/api/v1/feedback", &body).0 == 201);
    until("it reads again", || server.get("/api/v1/events").0 == 200);
    drop(server);
    let said = std::fs::read_to_string(said.path()).unwrap();
    let count = |text: &str| said.lines().filter(|line| line.contains(text)).count();
    for what in ["written to", "read"] {
        assert_eq!(count(&format!("the store cannot be {what}")), 1, "{said}");
        assert_eq!(count(&format!("the store can be {what} again")), 1, "{said}");
    }
    let of = |level: &'static str| said.lines().filter(move |line| level_of(line) == Some(level));
    // It may take so long that it is said again.
    let errors = of("ERROR").count() - count("the store still cannot be");
    assert!(errors < REQUESTS / 4, "{errors} errors:\n{said}");
    let mut warned = BTreeSet::new();
    for line in of("WARN").filter(|line| line.contains("uptake_engine::")) {
        assert!(warned.insert(what(line)), "more than once: {line}");
    }
}

/// `time LEVEL module: what error=why`
fn level_of(line: &str) -> Option<&str> {
    line.split_whitespace().nth(1)
}

fn what(line: &str) -> &str {
    let behind_time = line.split_once("WARN").map_or(line, |(_, rest)| rest);
    behind_time.split(" error=").next().unwrap_or(behind_time)
}
