//! Killed nodes, Postgres restarts and clock skew.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use store::Stopwatch;
use testkit::servers::{Postgres, or_skip};

use super::load::Load;
use super::{WAIT_TIMEOUT, database, node, router, until};
use crate::server::{Server, command};

fn set_router(server: &Server) {
    let body = json!({"arms": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "seed": 5,
        "algorithm": "hybrid"});
    assert_eq!(server.client().put("/api/v1/routers/chat", &body).0, 200);
}

/// Checks that the nodes have learned exactly the same state.
fn check_same_state(nodes: &[&Server]) {
    let learnt = |server: &Server| router(server)["arms"].clone();
    let begin = Stopwatch::start();
    while !nodes.iter().all(|node| learnt(node) == learnt(nodes[0])) {
        let all: Vec<Value> = nodes.iter().map(|node| learnt(node)).collect();
        assert!(begin.elapsed() < WAIT_TIMEOUT, "they have not learnt the same: {all:#?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    let observations = |arms: &Value| -> u64 {
        arms.as_array().unwrap().iter().map(|arm| arm["observations"].as_u64().unwrap()).sum()
    };
    assert!(observations(&learnt(nodes[0])) > 50, "{}", learnt(nodes[0]));
}

fn check_rebuild_changes_nothing(address: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut rebuild = Command::new(env!("CARGO_BIN_EXE_uptake"));
    rebuild.args(["rebuild", "--json", "--data"]).arg(folder.path());
    let done = rebuild.env("UPTAKE__STORE__POSTGRES", address).output().unwrap();
    let rebuilt: Value = serde_json::from_slice(&done.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&done.stderr)));
    assert_eq!(rebuilt["changed"], false, "the projections differed from the log");
}

#[test]
fn killing_one_of_two_nodes_loses_and_duplicates_nothing() {
    let Some(database) = database() else { return };
    let mut one = node(database.url(), &[]);
    let other = node(database.url(), &[]);
    set_router(&one);
    until("the other node has the router", || other.get("/api/v1/routers/chat").0 == 200);
    let load = Load::new(&[&one, &other]);
    let mut back = None;
    load.during(|| {
        until("a hundred turns", || load.turns() > 100);
        one.kill();
        let so_far = load.turns();
        until("the other one goes on", || load.turns() > so_far + 50);
        let again = node(database.url(), &[]);
        load.turn_to(&[&again, &other]);
        let so_far = load.turns();
        until("both go on", || load.turns() > so_far + 50);
        back = Some(again);
    });
    let back = back.unwrap();
    load.check(&other);
    check_same_state(&[&other, &back]);
    // And the same as a node that has just read everything.
    let third = node(database.url(), &[]);
    check_same_state(&[&other, &back, &third]);
    check_rebuild_changes_nothing(database.url());
}

#[test]
fn restarting_postgres_loses_and_duplicates_nothing() {
    let Some(postgres) = or_skip(Postgres::start()) else { return };
    let database = postgres.database().unwrap();
    let (one, other) = (node(database.url(), &[]), node(database.url(), &[]));
    set_router(&one);
    until("the other node has the router", || other.get("/api/v1/routers/chat").0 == 200);
    let load = Load::new(&[&one, &other]);
    load.during(|| {
        for _ in 0..2 {
            let so_far = load.turns();
            until("both go on", || load.turns() > so_far + 60);
            postgres.kill();
            until("it is not ready", || one.get("/health/ready").0 == 503);
            let body = json!({"type": "metric", "source": "system_metric", "category": "cost"});
            let (status, answer) = one.post("/api/v1/feedback", &body);
            assert_eq!(status, 503, "{answer}");
            postgres.restart();
            postgres.wait_until_ready().unwrap();
            until("it is ready again", || one.get("/health/ready").0 == 200);
        }
        let so_far = load.turns();
        until("both go on", || load.turns() > so_far + 60);
    });
    load.check(&one);
    check_same_state(&[&one, &other]);
    check_rebuild_changes_nothing(database.url());
}

/// One node with a clock one minute fast, and one with the correct clock.
#[test]
fn clock_skew_of_a_minute_does_not_change_counts() {
    let Some(database) = database() else { return };
    let Some(faketime) = or_skip(testkit::servers::faketime()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path(), "127.0.0.1:0");
    command.env("UPTAKE__STORE__POSTGRES", database.url());
    // libfaketime changes the wall clock; timeouts use the monotonic clock, which stays correct.
    command.env("LD_PRELOAD", faketime).env("FAKETIME", "+60s");
    command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    let fast = Server::spawn(command, folder);
    let right = node(database.url(), &[]);
    set_router(&fast);
    until("the other node has the router", || right.get("/api/v1/routers/chat").0 == 200);
    let load = Load::new(&[&fast, &right]);
    load.during(|| until("a hundred turns", || load.turns() > 100));
    load.check(&right);
    check_same_state(&[&right, &fast]);
    check_rebuild_changes_nothing(database.url());
    let received = |server: &Server, id: &str| -> String {
        let body =
            json!({"id": id, "type": "metric", "source": "system_metric", "category": "cost"});
        assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
        let event = server.get(&format!("/api/v1/feedback/{id}")).1;
        event["received_at"].as_str().unwrap().to_owned()
    };
    assert!(received(&fast, "fast") > received(&right, "right"), "the clocks do differ");
    // A turn from the fast node to the other must not have a negative latency.
    let turn = json!({"turn_id": "skewed", "conversation_id": "c", "user_id": "bob", "text": "q"});
    assert_eq!(fast.post("/api/v1/turns", &turn).0, 201);
    let (status, done) = right.post("/api/v1/turns/skewed/complete", &json!({"response": "a"}));
    assert_eq!(status, 200, "{done}");
    assert!(done["signals"]["latency"]["ms"].as_f64().is_none_or(|ms| ms >= 0.0), "{done}");
    let sessions = right.get("/api/v1/turns/skewed").1;
    assert_eq!(sessions["completed"], true, "{sessions}");
}

/// One of three nodes is killed, one paused longer than a lease, and Postgres killed, under load.
#[test]
fn three_nodes_survive_a_kill_a_pause_and_a_postgres_restart() {
    let Some(postgres) = or_skip(Postgres::start()) else { return };
    let database = postgres.database().unwrap();
    let mut killed = node(database.url(), &[]);
    let (paused, steady) = (node(database.url(), &[]), node(database.url(), &[]));
    set_router(&steady);
    for other in [&killed, &paused] {
        until("the router is known", || other.get("/api/v1/routers/chat").0 == 200);
    }
    let load = Load::new(&[&killed, &paused, &steady]);
    let go_on = || {
        let so_far = load.turns();
        until("they go on", || load.turns() > so_far + 50);
    };
    let mut back = None;
    load.during(|| {
        go_on();
        killed.kill();
        load.turn_to(&[&paused, &steady]);
        go_on();
        let again = node(database.url(), &[]);
        // Its clients wait for the whole pause; the other two nodes serve theirs.
        send_signal(&paused, "STOP");
        load.turn_to(&[&again, &steady]);
        std::thread::sleep(PAUSE);
        let so_far = load.turns();
        send_signal(&paused, "CONT");
        until("they go on after the pause", || load.turns() > so_far + 50);
        load.turn_to(&[&again, &paused, &steady]);
        go_on();
        postgres.kill();
        postgres.restart();
        postgres.wait_until_ready().unwrap();
        until("all are ready", || {
            [&again, &paused, &steady].iter().all(|node| node.get("/health/ready").0 == 200)
        });
        go_on();
        back = Some(again);
    });
    let back = back.unwrap();
    load.check(&steady);
    check_same_state(&[&back, &paused, &steady]);
    check_rebuild_changes_nothing(database.url());
}

/// Longer than a lease, and than the time that a node waits for the log.
const PAUSE: Duration = Duration::from_secs(16);

fn send_signal(server: &Server, signal: &str) {
    let arguments = [format!("-{signal}"), server.pid().to_string()];
    assert!(Command::new("kill").args(arguments).status().unwrap().success());
}
