//! A node with an unconfirmed commit, or with a log that was set back.

use std::io::Read;
use std::process::Stdio;

use serde_json::json;
use testkit::servers::{Database, Postgres, or_skip};
use testkit::{CommitFate, FaultProxy};

use super::{database, node, until};
use crate::server::{Server, command};

fn metric() -> serde_json::Value {
    json!({"type": "metric", "source": "system_metric", "category": "cost"})
}

/// Events without ids, which a client that retries would store twice.
#[test]
fn unconfirmed_commit_is_verified() {
    let Some(database) = database() else { return };
    let cutter = FaultProxy::start(database.url()).unwrap();
    let server = node(cutter.url(), &[]);
    let mut sent = 0;
    while cutter.count_cuts() < 5 {
        if sent % 3 == 0 {
            cutter.cut_next_commit(CommitFate::Done);
        }
        let (status, answer) = server.post("/api/v1/feedback", &metric());
        assert_eq!(status, 201, "{answer}");
        sent += 1;
        assert!(sent < 200, "{} cuts", cutter.count_cuts());
    }
    let stored = database.run("SELECT count(*) FROM events").unwrap();
    assert_eq!(stored.trim(), sent.to_string());
}

/// Waits until the node has polled the head of the log once more.
fn wait_for_poll(database: &Database) {
    let now = database.run("SELECT clock_timestamp()").unwrap();
    let looks = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
            AND query LIKE 'SELECT position, %FROM log_head' AND query_start > '{}' AND state = 'idle'",
        now.trim()
    );
    until("it has looked", || database.run(&looks).unwrap().trim() != "0");
}

/// As after a failover to a replica that lagged.
#[test]
fn node_exits_when_the_log_was_set_back() {
    let Some(postgres) = or_skip(Postgres::shared()) else { return };
    let database = postgres.database().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path(), "127.0.0.1:0");
    command.env("UPTAKE__STORE__POSTGRES", database.url()).stderr(Stdio::piped());
    let mut server = Server::spawn(command, folder);
    for _ in 0..10 {
        assert_eq!(server.post("/api/v1/feedback", &metric()).0, 201);
    }
    let cut = "UPDATE log_head SET position = 7; DELETE FROM events WHERE position > 7;
        DELETE FROM claims WHERE position > 7";
    // The second poll begins when the node has the result of the first.
    (0..2).for_each(|_| wait_for_poll(&database));
    database.run(cut).unwrap();
    let mut ended = None;
    until("it ends", || {
        ended = server.ended();
        ended.is_some()
    });
    let (status, mut said) = ended.unwrap();
    assert!(!status.success(), "{status}");
    let mut text = String::new();
    said.read_to_string(&mut text).unwrap();
    assert!(text.contains("shorter than the position this node has read"), "{text}");
    let again = node(database.url(), &[]);
    assert_eq!(again.post("/api/v1/feedback", &metric()).0, 201);
    assert_eq!(again.get("/health/ready").1["position"], 8);
}
