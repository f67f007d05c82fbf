use std::io::{Read, Write};
use std::net::TcpStream;

use super::{crash_and_restart, drop_and_check};
use crate::servers::{Redis, or_skip};

fn send_command(redis: &Redis, command: &str) -> String {
    let host = redis.url().trim_start_matches("redis://").trim_end_matches('/');
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "{command}\r\nQUIT\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn redis_keeps_acknowledged_writes_over_a_crash() {
    let Some(redis) = or_skip(Redis::start()) else { return };
    assert!(send_command(&redis, "SET kept yes").starts_with("+OK"));
    crash_and_restart(&redis);
    assert!(send_command(&redis, "GET kept").starts_with("$3\r\nyes"));
    drop_and_check(redis);
}

#[test]
fn tests_that_share_redis_have_prefixes_of_their_own() {
    let Some(redis) = or_skip(Redis::shared()) else { return };
    let (one, other) = (redis.prefix(), redis.prefix());
    assert!(send_command(redis, &format!("SET {one}key 1")).starts_with("+OK"));
    assert!(send_command(redis, &format!("GET {other}key")).starts_with("$-1"));
    assert_eq!(Redis::shared().unwrap().url(), redis.url());
}
