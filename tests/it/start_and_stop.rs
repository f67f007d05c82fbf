//! How the server starts, refuses to start, and stops.

use std::process::Stdio;

use testkit::rating_body;

use crate::server::{Server, command};

#[test]
fn sigterm_finishes_what_was_accepted_and_exits_with_zero() {
    let server = Server::start();
    assert_eq!(server.post("/api/v1/feedback", &rating_body("t1")).0, 201);
    let (status, folder) = server.stop();
    assert_eq!(status.code(), Some(0));
    let server = Server::start_in(folder);
    assert_eq!(server.get("/api/v1/events").1["items"][0]["message_id"], "t1");
}

#[track_caller]
fn check_refused(folder: &std::path::Path, listen: &str, expected: &str) {
    let output = command(folder, listen).stderr(Stdio::piped()).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains(expected), "{message}");
}

#[test]
fn without_keys_only_this_machine_may_reach_it() {
    let folder = tempfile::tempdir().unwrap();
    check_refused(folder.path(), "0.0.0.0:0", "no keys exist");
    check_refused(folder.path(), "[::]:0", "no keys exist");
    check_refused(folder.path(), "here", "expected one like 127.0.0.1:8787");
}

#[test]
fn a_second_server_on_the_same_folder_is_told_who_has_it() {
    let server = Server::start();
    check_refused(server.folder(), "127.0.0.1:0", "in use by another uptake process (process ");
    assert_eq!(server.get("/health/ready").0, 200);
}

#[test]
fn an_address_of_redis_that_is_of_no_use_is_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path(), "127.0.0.1:0");
    command.env("UPTAKE__HISTORY__REDIS", "http://:secret@127.0.0.1:1").stderr(Stdio::piped());
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    let expected = match cfg!(feature = "scaled") {
        true => "the address of Redis cannot be read",
        false => "build with `--features scaled`, or leave history.redis empty",
    };
    assert!(message.contains(expected) && !message.contains("secret"), "{message}");
}

#[test]
fn a_request_that_never_ends_does_not_keep_it_from_stopping() {
    let server = Server::start();
    let mut client = server.connect();
    let head = "POST /api/v1/feedback HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Content-Length: 100\r\n\r\n{";
    std::io::Write::write_all(&mut client, head.as_bytes()).unwrap();
    // Seen by the server, because a later request on another connection is answered.
    assert_eq!(server.get("/health/live").0, 200);
    let (status, _folder) = server.stop();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn without_keys_a_page_elsewhere_cannot_pose_as_this_machine() {
    let server = Server::start();
    let evil = server.client().with("Host", "evil.example");
    assert_eq!(evil.get("/api/v1/events").0, 403);
    assert_eq!(server.get("/api/v1/events").0, 200);
}
