use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::{crash_and_restart, drop_and_check};
use crate::servers::{Postgres, or_skip};

#[test]
fn postgres_keeps_committed_rows_over_a_crash() {
    let Some(postgres) = or_skip(Postgres::start()) else { return };
    let database = postgres.database().unwrap();
    database.run("create table kept (word text)").unwrap();
    database.run("insert into kept values ('yes')").unwrap();
    crash_and_restart(&postgres);
    assert_eq!(database.run("select word from kept").unwrap(), "yes");
    drop(database);
    drop_and_check(postgres);
}

#[test]
fn postgres_syncs_to_disk_and_is_not_root() {
    let Some(postgres) = or_skip(Postgres::start()) else { return };
    let database = postgres.database().unwrap();
    assert_eq!(database.run("show fsync").unwrap(), "on");
    let status = fs::read_to_string(format!("/proc/{}/status", postgres.pid())).unwrap();
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap();
    assert_ne!(uid.split_whitespace().next(), Some("0"));
}

#[test]
fn tests_that_share_postgres_have_databases_of_their_own() {
    let Some(postgres) = or_skip(Postgres::shared()) else { return };
    let (one, other) = (postgres.database().unwrap(), postgres.database().unwrap());
    one.run("create table mine (n int)").unwrap();
    assert!(other.run("select * from mine").unwrap_err().contains("does not exist"));
    let url = one.url().to_owned();
    drop(one);
    let count = "select count(*) from pg_database where datname = ";
    let name = url.rsplit('/').next().unwrap();
    assert_eq!(other.run(&format!("{count}'{name}'")).unwrap(), "0");
}

#[test]
fn a_paused_postgres_pauses_its_sessions_too() {
    let Some(postgres) = or_skip(Postgres::start()) else { return };
    let mut psql = Command::new("psql")
        .args(["-X", "-q", "-A", "-t", postgres.url()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut questions, answers) = (psql.stdin.take().unwrap(), psql.stdout.take().unwrap());
    let (send, heard) = mpsc::channel();
    let reader = thread::spawn(move || {
        for line in BufReader::new(answers).lines() {
            send.send(line.unwrap()).unwrap();
        }
    });
    writeln!(questions, "select 'before';").unwrap();
    assert_eq!(heard.recv().unwrap(), "before");
    postgres.pause();
    writeln!(questions, "select 'while';").unwrap();
    assert!(heard.recv_timeout(Duration::from_millis(300)).is_err(), "a session went on");
    postgres.resume();
    assert_eq!(heard.recv().unwrap(), "while");
    drop(questions);
    reader.join().unwrap();
    psql.wait().unwrap();
}
