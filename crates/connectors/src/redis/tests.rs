//! Redis against the contract, and tests that need a real server.

use std::time::Duration;

use testkit::servers::{Redis, ServerProcess, or_skip};
use tokio::time::Instant;

use crate::query_history::QueryHistory;
use crate::query_history::contract::{START, asked, turns, user};

use super::{RedisHistory, RedisSettings};

const WINDOW: Duration = Duration::from_secs(300);

fn settings(url: &str) -> RedisSettings {
    // Long, so that a slow machine does not fail the test.
    let timeout = Duration::from_secs(60);
    RedisSettings { address: url.to_owned(), timeout, window: WINDOW, most: 10 }
}

async fn open(url: &str) -> RedisHistory {
    RedisHistory::open(settings(url)).await.unwrap()
}

/// A history under a key prefix of its own.
struct Fresh;

impl Fresh {
    async fn open(window: Duration, most: usize) -> Option<(Self, RedisHistory)> {
        let redis = or_skip(Redis::shared())?;
        let settings = RedisSettings { window, most, ..settings(redis.url()) };
        let mut history = RedisHistory::open(settings).await.unwrap();
        history.prefix.insert_str(0, &redis.prefix());
        Some((Self, history))
    }
}

crate::query_history::contract::history_tests!(Fresh);

async fn raw<T: redis::FromRedisValue>(url: &str, command: &[&str]) -> T {
    let client = redis::Client::open(url).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut cmd = redis::cmd(command[0]);
    cmd.arg(&command[1..]).query_async(&mut connection).await.unwrap()
}

fn own() -> Option<ServerProcess<Redis>> {
    or_skip(Redis::start())
}

/// Polls until the condition holds.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let begin = Instant::now();
    while !is_so().await {
        assert!(begin.elapsed() < Duration::from_secs(60), "still not: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn redis_list_is_trimmed_and_expires() {
    let Some(server) = own() else { return };
    let history = open(server.url()).await;
    let ann = user("acme", "ann");
    for number in 0..25 {
        history.add(&ann, &asked(&format!("t{number}"), number)).await.unwrap();
    }
    let key = "uptake:history:acme:p:ann";
    assert_eq!(raw::<Vec<String>>(server.url(), &["KEYS", "*"]).await, [key]);
    assert_eq!(raw::<usize>(server.url(), &["LLEN", key]).await, 10);
    let left = raw::<i64>(server.url(), &["PTTL", key]).await;
    assert!((200_000..=300_000).contains(&left), "{left}");
    // Forces the expiry.
    assert_eq!(raw::<u64>(server.url(), &["PEXPIRE", key, "1"]).await, 1);
    until("expired", async || turns(&history, &ann, 25).await.is_empty()).await;
    history.forget(&ann).await.unwrap();
    assert_eq!(raw::<Vec<String>>(server.url(), &["KEYS", "*"]).await, Vec::<String>::new());
}

#[tokio::test]
async fn one_round_trip_reads_and_one_adds() {
    let Some(server) = own() else { return };
    let history = open(server.url()).await;
    let ann = user("acme", "ann");
    let reads = async || {
        let info: String = raw(server.url(), &["INFO", "stats"]).await;
        let line = info.lines().find(|line| line.starts_with("total_reads_processed:")).unwrap();
        line.split(':').nth(1).unwrap().trim().parse::<u64>().unwrap()
    };
    // The counter's own cost, including health checks.
    let (first, second) = (reads().await, reads().await);
    let look = second - first;
    let begin = reads().await;
    for number in 0..100 {
        history.recent(&ann, START).await.unwrap();
        history.add(&ann, &asked(&format!("t{number}"), 0)).await.unwrap();
    }
    let took = reads().await - begin - look;
    assert!((200..=290).contains(&took), "{took} reads for 200 requests");
}

#[tokio::test]
async fn nodes_share_questions_despite_clock_skew() {
    let Some(server) = own() else { return };
    let (one, other) = (open(server.url()).await, open(server.url()).await);
    // Questions of other nodes are looked up in the log first.
    assert!(one.is_shared());
    let ann = user("acme", "ann");
    one.add(&ann, &asked("t1", 50)).await.unwrap();
    assert_eq!(turns(&other, &ann, 60).await, ["t1"]);
    // A node with a slow clock accepts it.
    let recent = other.recent(&ann, START).await.unwrap();
    assert_eq!(recent[0].1, Duration::ZERO);
    assert_eq!(turns(&other, &ann, -60).await, Vec::<String>::new());
    assert_eq!(other.forget(&ann).await.unwrap(), 1);
    assert_eq!(turns(&one, &ann, 60).await, Vec::<String>::new());
}

#[tokio::test]
async fn unreadable_entry_is_skipped() {
    let Some(server) = own() else { return };
    let history = open(server.url()).await;
    let ann = user("acme", "ann");
    history.add(&ann, &asked("t1", 0)).await.unwrap();
    raw::<u64>(server.url(), &["LPUSH", "uptake:history:acme:p:ann", "\u{2}of tomorrow"]).await;
    assert_eq!(turns(&history, &ann, 1).await, ["t1"]);
    // A key of another type affects one user only.
    raw::<String>(server.url(), &["SET", "uptake:history:acme:p:bob", "mine"]).await;
    assert!(history.recent(&user("acme", "bob"), START).await.is_err());
    assert!(history.add(&user("acme", "bob"), &asked("t2", 0)).await.is_err());
    assert!(!history.health().away);
    assert_eq!(turns(&history, &ann, 1).await, ["t1"]);
}

#[tokio::test]
async fn history_reconnects_after_a_kill() {
    let Some(server) = own() else { return };
    let history = open(server.url()).await;
    let (ann, bob) = (user("acme", "ann"), user("acme", "bob"));
    history.add(&ann, &asked("t1", 0)).await.unwrap();
    history.add(&bob, &asked("t2", 0)).await.unwrap();
    server.kill();
    // Noticed by the health check.
    until("noticed", async || history.health().away).await;
    assert_eq!(history.health().missed, 0);
    assert!(history.recent(&ann, START).await.is_err());
    assert!(history.add(&ann, &asked("t3", 1)).await.is_err());
    assert!(history.forget(&bob).await.is_err(), "told, and done later");
    assert_eq!(history.health().missed, 3);
    server.restart();
    until("back", async || !history.health().away).await;
    assert_eq!(turns(&history, &ann, 2).await, ["t1"]);
    assert_eq!(turns(&history, &bob, 2).await, Vec::<String>::new());
    history.add(&ann, &asked("t4", 2)).await.unwrap();
    assert_eq!(turns(&history, &ann, 3).await, ["t4", "t1"]);
}

#[tokio::test]
async fn paused_redis_fails_fast() {
    let Some(server) = own() else { return };
    let timeout = Duration::from_millis(50);
    let history =
        RedisHistory::open(RedisSettings { timeout, ..settings(server.url()) }).await.unwrap();
    let ann = user("acme", "ann");
    until("up", async || history.add(&ann, &asked("t1", 0)).await.is_ok()).await;
    server.pause();
    assert!(history.recent(&ann, START).await.is_err());
    // Calls fail at once: 50 ms each would take 50 s.
    let begin = Instant::now();
    for _ in 0..1_000 {
        assert!(history.recent(&ann, START).await.is_err());
    }
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    assert!(history.health().away);
    server.resume();
    until("back", async || history.recent(&ann, START).await.is_ok()).await;
    until("as it was", async || turns(&history, &ann, 1).await.ends_with(&["t1".to_owned()])).await;
}

#[tokio::test]
async fn unreachable_redis_is_no_error_but_a_bad_address_is() {
    let Some(server) = own() else { return };
    server.kill();
    let history = open(server.url()).await;
    assert!(history.health().away);
    server.restart();
    until("there", async || !history.health().away).await;
    for wrong in ["http://127.0.0.1:1/", "127.0.0.1:6379", "redis://:secret@"] {
        let error = RedisHistory::open(settings(wrong)).await.err().unwrap().to_string();
        assert!(error.contains("address") && !error.contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn a_password_is_needed_where_one_is_set() {
    let Some(server) = own() else { return };
    raw::<String>(server.url(), &["CONFIG", "SET", "requirepass", "hunter2"]).await;
    let stranger = open(server.url()).await;
    assert!(stranger.health().away);
    let known = open(&server.url().replace("redis://", "redis://:hunter2@")).await;
    let ann = user("acme", "ann");
    known.add(&ann, &asked("t1", 0)).await.unwrap();
    assert_eq!(turns(&known, &ann, 1).await, ["t1"]);
}
