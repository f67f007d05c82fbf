//! Start, refusal to start, and shutdown of the server.

use std::process::Stdio;

use testkit::rating_body;

use crate::server::{Server, command};

#[test]
fn sigterm_completes_accepted_requests_and_exits_with_zero() {
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
fn server_without_keys_refuses_public_addresses() {
    let folder = tempfile::tempdir().unwrap();
    check_refused(folder.path(), "0.0.0.0:0", "no keys exist");
    check_refused(folder.path(), "[::]:0", "no keys exist");
    check_refused(folder.path(), "here", "expected an address like 127.0.0.1:8787");
}

#[test]
fn second_server_on_a_folder_is_refused_with_the_holder() {
    let server = Server::start();
    check_refused(server.folder(), "127.0.0.1:0", "in use by another uptake process (process ");
    assert_eq!(server.get("/health/ready").0, 200);
}

#[test]
fn serve_refuses_an_unusable_redis_address_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path(), "127.0.0.1:0");
    command.env("UPTAKE__HISTORY__REDIS", "http://:secret@127.0.0.1:1").stderr(Stdio::piped());
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let (code, expected) = match cfg!(feature = "scaled") {
        true => (1, "the address of Redis is invalid"),
        false => (
            2,
            "this build has no Redis support: build with `cargo build --release --features scaled`",
        ),
    };
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert!(message.contains(expected) && !message.contains("secret"), "{message}");
}

#[test]
#[cfg(not(feature = "scaled"))]
fn a_default_build_names_the_missing_feature_of_commands_and_settings() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, service) in [
        (&["consume"][..], "Kafka"),
        (&["consume", "--topic", "t", "--group", "g", "--brokers", "h:1"], "Kafka"),
        (&["migrate-store"], "Postgres"),
        (&["migrate-store", "--from", "data", "--to", "postgres://h/db"], "Postgres"),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_uptake"));
        check_unsupported(command.args(arguments).current_dir(folder.path()), service);
    }
    for (variable, value, service) in [
        ("UPTAKE__STORE__POSTGRES", "postgres://u:secret@h/db", "Postgres"),
        ("UPTAKE__HISTORY__REDIS", "redis://:secret@h", "Redis"),
        ("UPTAKE__KAFKA__BROKERS", "h:9092", "Kafka"),
        ("UPTAKE__TURN_LOG__BUCKET", "copies", "S3"),
    ] {
        check_unsupported(command(folder.path(), "127.0.0.1:0").env(variable, value), service);
    }
}

#[cfg(not(feature = "scaled"))]
#[track_caller]
fn check_unsupported(command: &mut std::process::Command, service: &str) {
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    let expected = format!(
        "this build has no {service} support: build with `cargo build --release --features scaled`"
    );
    assert!(message.contains(&expected) && !message.contains("secret"), "{message}");
}

#[test]
fn unfinished_request_does_not_block_shutdown() {
    let server = Server::start();
    let mut client = server.connect();
    let head = "POST /api/v1/feedback HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Content-Length: 100\r\n\r\n{";
    std::io::Write::write_all(&mut client, head.as_bytes()).unwrap();
    // A later response on another connection shows that the server has read the request.
    assert_eq!(server.get("/health/live").0, 200);
    let (status, _folder) = server.stop();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn foreign_host_header_is_refused_without_keys() {
    let server = Server::start();
    let evil = server.client().with_header("Host", "evil.example");
    assert_eq!(evil.get("/api/v1/events").0, 403);
    assert_eq!(server.get("/api/v1/events").0, 200);
}
