//! Recent questions in Redis: shared by nodes, and unreachable for a while.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use store::Stopwatch;
use testkit::servers::{Postgres, Redis, or_skip};

use crate::conversation_calls::TestConversation;
use crate::server::{Server, command};

const QUESTION: &str = "How do I reset my router password?";
const AGAIN: &str = "how do i reset my ROUTER password";

/// A node with a long Redis timeout, for busy machines.
fn node(redis: &Redis, more: &[(&str, &str)]) -> Server {
    let mut settings =
        vec![("UPTAKE__HISTORY__REDIS", redis.url()), ("UPTAKE__HISTORY__TIMEOUT_MS", "60000")];
    settings.extend(more);
    Server::start_with(tempfile::tempdir().unwrap(), &settings)
}

fn unavailable(server: &Server) -> bool {
    let (_, Value::String(page)) = server.get("/metrics") else { panic!("not a text") };
    let is = |line: &str| page.lines().any(|found| found == line);
    assert!(is("uptake_history_unavailable 1") != is("uptake_history_unavailable 0"), "{page}");
    is("uptake_history_unavailable 1")
}

fn wait_until_unavailable(server: &Server, expected: bool) {
    let begin = Stopwatch::start();
    while unavailable(server) != expected {
        assert!(begin.elapsed() < Duration::from_secs(60), "not in a minute: {expected}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The response of Redis to one short command.
fn send_to_redis(redis: &Redis, request: &str) -> String {
    let address = redis.url().trim_start_matches("redis://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("{request}\r\nQUIT\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.trim_end_matches("+OK\r\n").to_owned()
}

fn queries(server: &Server) -> usize {
    server.get("/api/v1/users/u1/history").1["queries"].as_array().unwrap().len()
}

#[test]
fn question_repeated_on_another_node_is_a_retry() {
    let Some(redis) = or_skip(Redis::start()) else { return };
    let Some(postgres) = or_skip(Postgres::shared()) else { return };
    let database = postgres.database().unwrap();
    let store = [("UPTAKE__STORE__POSTGRES", database.url())];
    let (one, other) = (node(&redis, &store), node(&redis, &store));
    TestConversation::new(&one, "c1", "u1").send_message("t1", QUESTION);
    TestConversation::new(&one, "c1", "u1").answer("t1", "Press the button for ten seconds.");
    let heard = TestConversation::new(&other, "c2", "u1").send_message("t2", AGAIN);
    assert_eq!(heard["retry"]["original_turn_id"], "t1", "{heard}");
    let other_user = TestConversation::new(&other, "c3", "u2").send_message("t3", QUESTION);
    assert_eq!(other_user["retry"], Value::Null, "another user's question is no retry");
    assert_eq!(one.get("/api/v1/turns/t1").1["retries"], 1);
    // Both nodes share the history; a restarted node adds nothing to it.
    assert_eq!((queries(&one), queries(&other)), (2, 2));
    drop(one);
    let one = node(&redis, &store);
    assert_eq!((queries(&one), queries(&other)), (2, 2));
    // A replayed request is the same question.
    let repeat = json!({"conversation_id": "c2", "user_id": "u1", "turn_id": "t2", "text": AGAIN,
        "include": ["context", "strategies"]});
    let (status, answer) = one.post("/api/v1/turns", &repeat);
    assert_eq!((status, &answer["replayed"]), (200, &json!(true)), "{answer}");
    assert_eq!(queries(&other), 2);
    let path = "/api/v1/users/u1/history";
    assert_eq!(one.client().delete(path).1["forgotten"], 2);
    let again = TestConversation::new(&other, "c4", "u1").send_message("t4", QUESTION);
    assert_eq!(again["retry"], Value::Null, "{again}");
    // Erasure on one node removes it for all.
    assert!(send_to_redis(&redis, "KEYS *").contains("uptake:history:default:default:u1"));
    assert_eq!(one.client().delete("/api/v1/users/u1").0, 200);
    let keys = send_to_redis(&redis, "KEYS *");
    assert!(keys.contains(":u2") && !keys.contains("u1"), "{keys}");
}

#[test]
fn questions_missing_in_the_store_are_not_reported() {
    let Some(redis) = or_skip(Redis::start()) else { return };
    let (one, stranger) = (node(&redis, &[]), node(&redis, &[]));
    TestConversation::new(&one, "c1", "u1").send_message("t1", QUESTION);
    let talk = TestConversation::new(&stranger, "c1", "u1");
    assert_eq!(talk.send_message("t2", QUESTION)["retry"], Value::Null);
    // The next best match is used instead.
    let heard = talk.send_message("t3", AGAIN);
    assert_eq!(heard["retry"]["original_turn_id"], "t2", "{heard}");
}

fn check_without_redis(server: &Server, number: usize) {
    let (conversation, turn) = (format!("away{number}"), format!("away{number}"));
    let talk = TestConversation::new(server, &conversation, "u1");
    let heard = talk.send_message(&turn, AGAIN);
    assert_eq!(heard["retry"], Value::Null, "{heard}");
    let body = json!({"status": "error", "error": "no model", "latency_ms": 100});
    let done = talk.complete(&turn, &body);
    assert_eq!(done["signals"]["error"]["occurred"], true, "{done}");
    assert_eq!(done["signals"]["latency"]["tolerance"], "high", "{done}");
    assert_eq!(server.post("/api/v1/route", &json!({"router": "r", "text": AGAIN})).0, 200);
    let (status, body) = server.get("/api/v1/users/u1/history");
    assert_eq!(status, 503, "{body}");
}

#[test]
fn retry_detection_resumes_when_redis_is_back() {
    let Some(redis) = or_skip(Redis::start()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("stderr");
    let server = start_logging_node(&redis, &log);
    let arms = json!({"arms": [{"id": "a"}, {"id": "b"}]});
    assert_eq!(server.client().put("/api/v1/routers/r", &arms).0, 200);
    assert!(!unavailable(&server));
    TestConversation::new(&server, "c1", "u1").send_message("t1", QUESTION);
    let heard = TestConversation::new(&server, "c1", "u1").send_message("t2", AGAIN);
    assert_eq!(heard["retry"]["original_turn_id"], "t1", "{heard}");
    redis.kill();
    wait_until_unavailable(&server, true);
    for number in 0..20 {
        check_without_redis(&server, number);
    }
    redis.restart();
    wait_until_unavailable(&server, false);
    // No action is needed: the next question finds the earlier ones.
    let heard = TestConversation::new(&server, "c3", "u1").send_message("t3", AGAIN);
    assert_eq!(heard["retry"]["original_turn_id"], "t2", "{heard}");
    let said = std::fs::read_to_string(&log).unwrap();
    let warnings =
        said.lines().filter(|line| line.contains("Redis is unavailable; retry detection is off"));
    assert_eq!(warnings.count(), 1, "{said}");
}

fn start_logging_node(redis: &Redis, log: &Path) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path(), "127.0.0.1:0");
    command.env("UPTAKE__HISTORY__REDIS", redis.url()).env("UPTAKE__HISTORY__TIMEOUT_MS", "60000");
    command.stderr(File::create(log).unwrap());
    Server::spawn(command, folder)
}

#[test]
fn hanging_redis_does_not_block_requests() {
    let Some(redis) = or_skip(Redis::start()) else { return };
    // With the default timeout.
    let settings = [("UPTAKE__HISTORY__REDIS", redis.url())];
    let server = Server::start_with(tempfile::tempdir().unwrap(), &settings);
    TestConversation::new(&server, "c1", "u1").send_message("t1", QUESTION);
    redis.pause();
    for number in 0..20 {
        let turn = format!("p{number}");
        let heard = TestConversation::new(&server, &turn, "u1").send_message(&turn, AGAIN);
        assert_eq!(heard["retry"], Value::Null, "{heard}");
    }
    assert!(unavailable(&server));
    redis.resume();
    wait_until_unavailable(&server, false);
    let begin = Stopwatch::start();
    for number in 0.. {
        // A busy machine may miss one retry, but not all.
        let turn = format!("r{number}");
        if TestConversation::new(&server, &turn, "u1").send_message(&turn, AGAIN)["retry"]
            != Value::Null
        {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "no retry is seen any more");
    }
}

#[test]
fn server_starts_without_redis_and_connects_later() {
    let Some(redis) = or_skip(Redis::start()) else { return };
    redis.kill();
    let server = node(&redis, &[]);
    assert!(unavailable(&server));
    assert_eq!(
        TestConversation::new(&server, "c1", "u1").send_message("t1", QUESTION)["retry"],
        Value::Null
    );
    redis.restart();
    wait_until_unavailable(&server, false);
    TestConversation::new(&server, "c1", "u1").send_message("t2", QUESTION);
    let heard = TestConversation::new(&server, "c2", "u1").send_message("t3", AGAIN);
    assert_eq!(heard["retry"]["original_turn_id"], "t2", "{heard}");
}
