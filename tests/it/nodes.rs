//! Several nodes on one Postgres: a killed node loses and duplicates nothing, all nodes learn the same,
//! and writes to one node are visible on the others.

mod uncertain_commits;
mod faults;
mod propagation;
mod load;
mod outage;
mod restarts;
mod tls;

use std::time::Duration;

use serde_json::Value;
use store::Stopwatch;
use testkit::servers::{Database, Postgres, or_skip};

use crate::server::Server;

/// Longest wait on a busy machine.
const WAIT_TIMEOUT: Duration = Duration::from_secs(180);

fn database() -> Option<Database> {
    Some(or_skip(Postgres::shared())?.database().unwrap())
}

/// A node on this database.
fn node(address: &str, more: &[(&str, &str)]) -> Server {
    let mut settings = vec![("UPTAKE__STORE__POSTGRES", address)];
    settings.extend(more);
    Server::start_with(tempfile::tempdir().unwrap(), &settings)
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Stopwatch::start();
    while !is_so() {
        assert!(begin.elapsed() < WAIT_TIMEOUT, "not in {WAIT_TIMEOUT:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn router(server: &Server) -> Value {
    server.get("/api/v1/routers/chat").1
}
