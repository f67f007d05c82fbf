//! Runs the tests in another process: with servers that already run, and without any server.

use std::env;
use std::process::Command;

use crate::servers::{Kafka, Postgres, Redis, S3, or_skip};

/// Runs the tests whose names contain one of these in an environment without installed servers.
fn run(names: &[&str], environment: &[(&str, &str)]) -> (bool, String) {
    let mut command = Command::new(env::current_exe().unwrap());
    for server in ["POSTGRES", "REDIS", "KAFKA", "S3"] {
        command.env_remove(format!("UPTAKE_TEST_{server}"));
    }
    command.args(names).env("XDG_CACHE_HOME", "/nonexistent").env_remove("UPTAKE_TEST_NO_SKIP");
    let output = command.envs(environment.iter().copied()).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn servers_that_run_already_are_used_and_none_is_started() {
    let Some(postgres) = or_skip(Postgres::shared()) else { return };
    let Some(redis) = or_skip(Redis::shared()) else { return };
    let Some(kafka) = or_skip(Kafka::shared()) else { return };
    let Some(s3) = or_skip(S3::shared()) else { return };
    let host = s3.endpoint().trim_start_matches("http://");
    let s3 = format!("http://{}:{}@{host}", s3.access_key(), s3.secret_key());
    let environment = [
        ("UPTAKE_TEST_POSTGRES", postgres.url()),
        ("UPTAKE_TEST_REDIS", redis.url()),
        ("UPTAKE_TEST_KAFKA", kafka.bootstrap()),
        ("UPTAKE_TEST_S3", &s3),
    ];
    let shared = ["tests_that_share", "s3_refuses_a_wrong_secret"];
    assert_eq!(run(&shared, &environment), (true, String::new()));
    let (passed, said) = run(&["redis_can_be_paused_and_stopped"], &environment);
    assert!(passed && said.contains("UPTAKE_TEST_REDIS names one that this test must not stop"));
}

#[test]
fn without_servers_every_test_is_skipped_visibly_or_fails() {
    let (passed, said) = run(&["over_a_crash"], &[]);
    assert!(passed, "{said}");
    for server in ["PostgreSQL", "Redis", "Kafka", "S3"] {
        let reason = format!("over_a_crash: no {server}: `make servers` installs it");
        let skipped = |line: &str| line.starts_with("[skipped] ") && line.ends_with(&reason);
        assert!(said.lines().any(skipped), "{said}");
    }
    assert!(!run(&["over_a_crash"], &[("UPTAKE_TEST_NO_SKIP", "1")]).0, "skipped nevertheless");
}
