//! The latest questions in Redis: shared by nodes, and away for a while.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use store::Stopwatch;
use testkit::servers::{Postgres, Redis, or_skip};

use crate::server::{Server, command};
use crate::talk::Talk;

const QUESTION: &str = "How do I reset my router password?";
const AGAIN: &str = "how do i reset my ROUTER password";

/// A node that is patient with Redis on a busy machine.
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

/// What Redis answers to one short command.
fn ask_redis(redis: &Redis, request: &str) -> String {
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
fn what_is_asked_on_one_node_and_again_on_another_is_a_retry() {
    let Some(redis) = or_skip(Redis::start()) else { return };
    let Some(postgres) = or_skip(Postgres::shared()) else { return };
    let database = postgres.database().unwrap();
    let store = [("UPTAKE__STORE__POSTGRES", database.url())];
    let (one, other) = (node(&redis, &store), node(&redis, &store));
    Talk::new(&one, "c1", "u1").say("t1", QUESTION);
    Talk::new(&one, "c1", "u1").answer("t1", "Press the button for ten seconds.");
    let heard = Talk::new(&other, "c2", "u1").say("t2", AGAIN);
    assert_eq!(heard["retry"]["original_turn_id"], "t1", "{heard}");
    let nobody = Talk::new(&other, "c3", "u2").say("t3", QUESTION);
    assert_eq!(nobody["retry"], Value::Null, "another user's question is no retry");
    assert_eq!(one.get("/api/v1/turns/t1").1["retries"], 1);
    // Both nodes look at one place, and one that starts anew adds nothing to it.
    assert_eq!((queries(&one), queries(&other)), (2, 2));
    drop(one);
    let one = node(&redis, &store);
    assert_eq!((queries(&one), queries(&other)), (2, 2));
    // The same request again is the same question.
    let repeat = json!({"conversation_id": "c2", "user_id": "u1", "turn_id": "t2", "text": AGAIN,
        "include": ["context", "strategies"]});
    let (status, answer) = one.post("/api/v1/turns", &repeat);
    assert_eq!((status, &answer["replayed"]), (200, &json!(true)), "{answer}");
    assert_eq!(queries(&other), 2);
    let path = "/api/v1/users/u1/history";
    assert_eq!(one.client().delete(path).1["forgotten"], 2);
    let again = Talk::new(&other, "c4", "u1").say("t4", QUESTION);
    assert_eq!(again["retry"], Value::Null, "{again}");
    // Erased on one node, forgotten for all.
    assert!(ask_redis(&redis, "KEYS *").contains("uptake:history:default:default:u1"));
    assert_eq!(one.client().delete("/api/v1/users/u1").0, 200);
    let keys = ask_redis(&redis, "KEYS *");
    assert!(keys.contains(":u2") && !keys.contains("u1"), "{keys}");
}

#[test]
fn a_question_that_this_store_does_not_have_is_not_named() {
    let Some(redis) = or_skip(Redis::start()) else { return };
    let (one, stranger) = (node(&redis, &[]), node(&redis, &[]));
    Talk::new(&one, "c1", "u1").say("t1", QUESTION);
    let talk = Talk::new(&stranger, "c1", "u1");
    assert_eq!(talk.say("t2", QUESTION)["retry"], Value::Null);
    // The next best is taken instead.
    let heard = talk.say("t3", AGAIN);
    assert_eq!(heard["retry"]["original_turn_id"], "t2", "{heard}");
}

fn check_goes_on_without(server: &Server, number: usize) {
    let (conversation, turn) = (format!("away{number}"), format!("away{number}"));
    let talk = Talk::new(server, &conversation, "u1");
    let heard = talk.say(&turn, AGAIN);
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
fn without_redis_the_rest_goes_on_and_retries_are_seen_again_when_it_is_back() {
    let Some(redis) = or_skip(Redis::start()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("stderr");
    let server = logging_node(&redis, &log);
    let arms = json!({"arms": [{"id": "a"}, {"id": "b"}]});
    assert_eq!(server.client().put("/api/v1/routers/r", &arms).0, 200);
    assert!(!unavailable(&server));
    Talk::new(&server, "c1", "u1").say("t1", QUESTION);
    let heard = Talk::new(&server, "c1", "u1").say("t2", AGAIN);
    assert_eq!(heard["retry"]["original_turn_id"], "t1", "{heard}");
    redis.kill();
    wait_until_unavailable(&server, true);
    for number in 0..20 {
        check_goes_on_without(&server, number);
    }
    redis.restart();
    wait_until_unavailable(&server, false);
    // Nothing to be done by anybody: the next question finds those from before.
    let heard = Talk::new(&server, "c3", "u1").say("t3", AGAIN);
    assert_eq!(heard["retry"]["original_turn_id"], "t2", "{heard}");
    let said = std::fs::read_to_string(&log).unwrap();
    let warnings = said.lines().filter(|line| line.contains("Redis is unavailable"));
    assert_eq!(warnings.count(), 1, "{said}");
}

fn logging_node(redis: &Redis, log: &Path) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path(), "127.0.0.1:0");
    command.env("UPTAKE__HISTORY__REDIS", redis.url()).env("UPTAKE__HISTORY__TIMEOUT_MS", "60000");
    command.stderr(File::create(log).unwrap());
    Server::spawn(command, folder)
}

#[test]
fn a_redis_that_hangs_holds_up_nobody() {
    let Some(redis) = or_skip(Redis::start()) else { return };
    // As it is without settings of one's own.
    let settings = [("UPTAKE__HISTORY__REDIS", redis.url())];
    let server = Server::start_with(tempfile::tempdir().unwrap(), &settings);
    Talk::new(&server, "c1", "u1").say("t1", QUESTION);
    redis.pause();
    for number in 0..20 {
        let turn = format!("p{number}");
        let heard = Talk::new(&server, &turn, "u1").say(&turn, AGAIN);
        assert_eq!(heard["retry"], Value::Null, "{heard}");
    }
    assert!(unavailable(&server));
    redis.resume();
    wait_until_unavailable(&server, false);
    let begin = Stopwatch::start();
    for number in 0.. {
        // A busy machine may miss one; it must not miss all.
        let turn = format!("r{number}");
        if Talk::new(&server, &turn, "u1").say(&turn, AGAIN)["retry"] != Value::Null {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "no retry is seen any more");
    }
}

#[test]
fn it_starts_without_redis_and_finds_it_later() {
    let Some(redis) = or_skip(Redis::start()) else { return };
    redis.kill();
    let server = node(&redis, &[]);
    assert!(unavailable(&server));
    assert_eq!(Talk::new(&server, "c1", "u1").say("t1", QUESTION)["retry"], Value::Null);
    redis.restart();
    wait_until_unavailable(&server, false);
    Talk::new(&server, "c1", "u1").say("t2", QUESTION);
    let heard = Talk::new(&server, "c2", "u1").say("t3", AGAIN);
    assert_eq!(heard["retry"]["original_turn_id"], "t2", "{heard}");
}
