//! Turn log copies in a bucket of a real S3 server.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::servers::{S3, or_skip};

use crate::feedback_calls::{react, turn};
use crate::server::{Server, command};

const WORDS: &str = "zwxqv-words";

/// A server with copies in a bucket; its log goes to a file in its folder.
fn start(folder: TempDir, s3: &S3, bucket: &str, secret: &str) -> Server {
    let mut command = command(folder.path(), "127.0.0.1:0");
    let log = folder.path().join("log.txt");
    let log = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
    command.stderr(Stdio::from(log)).envs([
        ("UPTAKE__TURN_LOG__MIRROR", "true"),
        ("UPTAKE__TURN_LOG__KEEP", "s3"),
        ("UPTAKE__TURN_LOG__BUCKET", bucket),
        ("UPTAKE__TURN_LOG__PREFIX", "logs"),
        ("UPTAKE__TURN_LOG__ENDPOINT", s3.endpoint()),
        ("AWS_ACCESS_KEY_ID", s3.access_key()),
        ("AWS_SECRET_ACCESS_KEY", secret),
    ]);
    Server::spawn(command, folder)
}

/// Polls until the condition holds, for at most a minute.
#[expect(clippy::disallowed_methods, reason = "a real server takes real time")]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what} did not come about");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn get_object(s3: &S3, bucket: &str, turn: &str) -> (u16, String) {
    s3.request("GET", &format!("{bucket}/logs/default/default/{turn}.json"), "").unwrap()
}

fn count_failures(server: &Server) -> u64 {
    let (_, Value::String(page)) = server.get("/metrics") else { panic!("not a text") };
    let name = "uptake_turn_log_copy_failures_total ";
    page.lines().find_map(|line| line.strip_prefix(name)).unwrap().parse().unwrap()
}

#[test]
fn turn_log_copy_in_a_bucket_is_updated_and_erased() {
    let Some(s3) = or_skip(S3::shared()) else { return };
    let bucket = s3.bucket().unwrap();
    let server = start(tempfile::tempdir().unwrap(), s3, &bucket, s3.secret_key());
    turn(&server, "c1", "t1");
    react(&server, "c1", "t1", &json!({"reaction": "ok", "text": "first"}));
    react(&server, "c1", "t1", &json!({"reaction": "not_ok", "text": WORDS}));
    wait_until("a copy with the newest words", || get_object(s3, &bucket, "t1").1.contains(WORDS));
    assert!(!get_object(s3, &bucket, "t1").1.contains("first"), "it was replaced");
    // The bucket has the copy a moment before the store records it.
    wait_until("the copy's address", || {
        let shown = server.get("/api/v1/turns/t1/log?copy=true").1;
        let uri = format!("s3://{bucket}/logs/default/default/t1.json?position=");
        shown["turn_log"].to_string().contains(WORDS)
            && shown["hosted_uri"].as_str().is_some_and(|known| known.starts_with(&uri))
    });
    let server = start(server.kill_and_leave(), s3, &bucket, s3.secret_key());
    let (status, response) = server.client().delete("/api/v1/users/u1");
    assert_eq!((status, &response["erased"]["turns"]), (200, &json!(1)), "{response}");
    let (status, left) = get_object(s3, &bucket, "t1");
    assert!(!left.contains(WORDS) && !left.contains("answer?"), "{status} {left}");
    assert_eq!(count_failures(&server), 0);
}

#[test]
fn unreachable_bucket_blocks_erasures_but_no_requests() {
    let Some(s3) = or_skip(S3::start()) else { return };
    let bucket = s3.bucket().unwrap();
    let server = start(tempfile::tempdir().unwrap(), &s3, &bucket, s3.secret_key());
    turn(&server, "c1", "t1");
    react(&server, "c1", "t1", &json!({"reaction": "not_ok", "text": WORDS}));
    wait_until("a copy", || get_object(&s3, &bucket, "t1").1.contains(WORDS));
    s3.kill();
    turn(&server, "c1", "t2");
    assert_eq!(react(&server, "c1", "t2", &json!({"reaction": "ok"})).0, 200);
    for _ in 0..2 {
        let (status, response) = server.client().delete("/api/v1/users/u1");
        assert_eq!(status, 503, "their words are still in the bucket: {response}");
        let detail = response["detail"].as_str().unwrap();
        assert!(detail.starts_with("the user is erased from the store; copies"), "{detail}");
    }
    assert!(count_failures(&server) > 0);
    let log = server.get("/api/v1/turns/t1/log").1;
    assert!(!log.to_string().contains(WORDS), "here they are gone: {log}");
    // Pending erasures survive a kill.
    let server = start(server.kill_and_leave(), &s3, &bucket, s3.secret_key());
    s3.restart();
    wait_until("an erasure", || server.client().delete("/api/v1/users/u1").0 == 200);
    assert!(!get_object(&s3, &bucket, "t1").1.contains(WORDS));
    wait_until("the other copy", || get_object(&s3, &bucket, "t2").0 == 200);
}

#[test]
fn wrong_s3_secret_is_logged_and_blocks_no_request() {
    let Some(s3) = or_skip(S3::shared()) else { return };
    let bucket = s3.bucket().unwrap();
    let server = start(tempfile::tempdir().unwrap(), s3, &bucket, "a-wrong-secret");
    turn(&server, "c1", "t1");
    assert_eq!(react(&server, "c1", "t1", &json!({"reaction": "ok"})).0, 200);
    wait_until("a failure that is counted", || count_failures(&server) > 0);
    let (status, response) = server.get("/api/v1/turns/t1/log?copy=true");
    assert_eq!(status, 503, "{response}");
    let log = std::fs::read_to_string(server.folder().join("log.txt")).unwrap();
    assert!(log.contains("refuses these credentials (SignatureDoesNotMatch)"), "{log}");
    assert!(log.contains(&bucket) && !log.contains("a-wrong-secret"), "{log}");
    let server = start(server.kill_and_leave(), s3, &bucket, s3.secret_key());
    wait_until("a copy", || get_object(s3, &bucket, "t1").0 == 200);
    assert_eq!(count_failures(&server), 0);
}

#[test]
fn changed_storage_moves_all_turn_log_copies() {
    let Some(s3) = or_skip(S3::shared()) else { return };
    let bucket = s3.bucket().unwrap();
    let settings = [("UPTAKE__TURN_LOG__MIRROR", "true"), ("UPTAKE__TURN_LOG__KEEP", "folder")];
    let server = Server::start_with(tempfile::tempdir().unwrap(), &settings);
    turn(&server, "c1", "t1");
    let file = |server: &Server| server.folder().join("turn-logs/default/default/t1.json");
    wait_until("a file", || file(&server).exists());
    let server = start(server.kill_and_leave(), s3, &bucket, s3.secret_key());
    wait_until("an object", || get_object(s3, &bucket, "t1").0 == 200);
    assert!(!file(&server).exists());
}
