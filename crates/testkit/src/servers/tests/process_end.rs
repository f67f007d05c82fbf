//! A server must end with its test, however the test ends.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::panic;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::exists;
use crate::servers::{Redis, or_skip};

const HOLD: &str = "UPTAKE_TESTKIT_HOLD";

#[test]
fn a_server_ends_when_its_test_panics() {
    let Some(redis) = or_skip(Redis::start()) else { return };
    let pid = redis.pid();
    let ended = panic::catch_unwind(move || {
        assert!(!redis.is_alive(), "on purpose");
    });
    assert!(ended.is_err() && !exists(pid));
}

/// Does nothing by itself; the next test starts it in another process and kills that.
#[test]
fn wait_for_kill() {
    if env::var_os(HOLD).is_none() {
        return;
    }
    let redis = Redis::start().unwrap();
    writeln!(std::io::stderr(), "{} {}", redis.pid(), redis.folder().display()).unwrap();
    loop {
        thread::park();
    }
}

#[test]
fn a_server_ends_when_its_test_process_is_killed() {
    if or_skip(Redis::start()).is_none() {
        return;
    }
    let mut process = Command::new(env::current_exe().unwrap())
        .args(["--exact", "servers::tests::process_end::wait_for_kill"])
        .env(HOLD, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(process.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let (pid, folder) = line.trim().split_once(' ').unwrap();
    let pid = pid.parse().unwrap();
    assert!(exists(pid) && Path::new(folder).exists());
    process.kill().unwrap();
    process.wait().unwrap();
    let gone = || !exists(pid) && !Path::new(folder).exists();
    for _ in 0..3000 {
        if gone() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("process {pid} or its folder {folder} is still there");
}
