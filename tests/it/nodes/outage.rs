//! What a node says while Postgres is away.

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
    command.env("UPTAKE__STORE__POSTGRES", database.url());
    command.stderr(File::create(said.path()).unwrap());
    let server = Server::spawn(command, folder);
    let body = json!({"type": "metric", "source": "system_metric", "category": "cost"});
    assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
    postgres.kill();
    for _ in 0..REQUESTS {
        assert_eq!(server.post("/api/v1/feedback", &body).0, 503);
        assert_eq!(server.get("/api/v1/events").0, 503);
    }
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
    // It may take so long that it is said again.
    let errors = count("ERROR") - count("the store still cannot be");
    assert!(errors < REQUESTS / 4, "{errors} errors:\n{said}");
}
