//! Pausing and stopping servers. Kafka starts slowly, so all of its checks are in one test.

use super::{exists, pause_and_resume};
use crate::servers::server_process::{Server, ServerProcess};
use crate::servers::{NoServer, Postgres, Redis, S3, or_skip};

fn pauses_stops_and_starts_again<S: Server>(server: Result<ServerProcess<S>, NoServer>) {
    let Some(server) = or_skip(server) else { return };
    pause_and_resume(&server);
    let pid = server.pid();
    server.stop();
    assert!(!exists(pid) && !server.answers());
    server.restart();
    server.wait_until_ready().unwrap();
    // A paused server must end too.
    server.pause();
    let pid = server.pid();
    drop(server);
    assert!(!exists(pid));
}

#[test]
fn redis_can_be_paused_and_stopped() {
    pauses_stops_and_starts_again(Redis::start());
}

#[test]
fn postgres_can_be_paused_and_stopped() {
    pauses_stops_and_starts_again(Postgres::start());
}

#[test]
fn s3_can_be_paused_and_stopped() {
    pauses_stops_and_starts_again(S3::start());
}
