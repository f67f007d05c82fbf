//! The command `uptake consume`.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use connectors::kafka::{KafkaSettings, KafkaSink};
use connectors::{EventSink, OutgoingMessage};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::rating_body;
use testkit::servers::{Kafka, Postgres, or_skip};

use super::broker::{WAIT_TIMEOUT, publishing, until, until_published};
use crate::server::Server;

/// A group member that stores into its own folder.
pub(super) struct Consumer {
    child: Child,
    folder: TempDir,
    lines: Receiver<String>,
}

impl Consumer {
    pub(super) fn start(kafka: &Kafka, prefix: &str, topics: &[&str]) -> Self {
        Self::start_with(kafka, prefix, topics, &[], &[])
    }

    fn start_with(
        kafka: &Kafka,
        prefix: &str,
        topics: &[&str],
        settings: &[(&str, &str)],
        flags: &[&str],
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_uptake"));
        command.args(["consume", "--brokers", kafka.bootstrap(), "--data"]).arg(folder.path());
        for topic in topics {
            command.arg("--topic").arg(format!("{prefix}{topic}"));
        }
        command.arg("--group").arg(format!("{prefix}copy")).args(flags);
        crate::engine::equip(&mut command, folder.path());
        command.envs(settings.iter().copied());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (tell, lines) = channel();
        let said = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            said.lines().map_while(Result::ok).for_each(|line| drop(tell.send(line)));
        });
        Self { child, folder, lines }
    }

    /// Waits for a line of its output.
    #[track_caller]
    fn wait_for_line(&self, what: impl Fn(&str) -> bool) -> String {
        loop {
            let line = self.lines.recv_timeout(WAIT_TIMEOUT).unwrap();
            if what(&line) {
                return line;
            }
        }
    }

    /// Sends SIGTERM and returns its output and its folder.
    #[track_caller]
    pub(super) fn stop(mut self) -> (String, TempDir) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let mut text = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{text}");
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        (text, folder)
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        // The process has ended already, or must not outlive the test.
        if self.child.kill().is_ok() {
            self.child.wait().unwrap();
        }
    }
}

/// Number of events in a member's store, also while it runs.
pub(super) fn stored_in(consumer: &Consumer) -> usize {
    let (code, text, _) = crate::server::uptake(consumer.folder.path(), &["export"]);
    if code == Some(0) { text.lines().count() } else { 0 }
}

#[track_caller]
fn produce(kafka: &Kafka, prefix: &str, values: &[&str]) {
    let settings = KafkaSettings {
        brokers: kafka.bootstrap().to_owned(),
        prefix: prefix.to_owned(),
        create_topics: true,
        partitions: 1,
        replication: 1,
    };
    let outlet = KafkaSink::new(settings, &["mixed"]);
    let message = |value: &&str| OutgoingMessage {
        topic: "mixed",
        key: "k".into(),
        value: Some((*value).to_owned()),
        headers: Vec::new(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let refused = runtime.block_on(outlet.publish(values.iter().map(message).collect())).unwrap();
    assert_eq!(refused, []);
}

fn metric_line(id: &str) -> String {
    json!({"id": id, "type": "metric", "source": "system_metric", "category": "cost"}).to_string()
}

#[test]
fn invalid_message_becomes_a_dead_letter_and_the_rest_is_stored() {
    let Some(kafka) = or_skip(Kafka::shared()) else { return };
    let prefix = kafka.prefix();
    let unfit = json!({"id": "unfit", "type": "nonsense", "source": "trace", "category": "cost",
        "user_id": "ann"});
    let (first, last) = (metric_line("first"), metric_line("last"));
    let values = [&first, "{not json", &unfit.to_string(), "[]", &first, &last];
    produce(kafka, &prefix, &values);
    let consumer = Consumer::start(kafka, &prefix, &["mixed"]);
    until("the last one is there", || stored_in(&consumer) == 2);
    let (text, folder) = consumer.stop();
    let expected = "stored 2 events, 1 already stored, 3 dead letters, 0 users erased";
    assert_eq!(text.trim(), expected);
    let server = Server::start_in(folder);
    let letters = server.get("/api/v1/dead-letters").1;
    let letters = letters["items"].as_array().unwrap().clone();
    let offsets: Vec<&Value> = letters.iter().map(|letter| &letter["data"]["offset"]).collect();
    assert_eq!(offsets, [&json!(1), &json!(2), &json!(3)]);
    let topic = format!("{prefix}mixed");
    assert!(letters[1]["reason"].as_str().unwrap().contains(&format!("{topic}/0@2: type")));
    assert_eq!(letters[0]["data"]["message"], "{not json");
    let id = letters[1]["id"].as_str().unwrap();
    let (status, answer) = server.post(&format!("/api/v1/dead-letters/{id}/replay"), &json!({}));
    assert_eq!(status, 422, "it still is no event: {answer}");
    assert_eq!(server.client().delete("/api/v1/users/ann").0, 200);
    let left = server.get("/api/v1/dead-letters").1["items"].as_array().unwrap().len();
    assert_eq!(left, 2, "erasure removes the user's events");
}

#[test]
fn consume_print_writes_lines_and_reports_invalid_messages() {
    let Some(kafka) = or_skip(Kafka::shared()) else { return };
    let prefix = kafka.prefix();
    let (first, last) = (metric_line("first"), metric_line("last"));
    produce(kafka, &prefix, &[&first, "{not json", &last, "{the end"]);
    let consumer = Consumer::start_with(kafka, &prefix, &["mixed"], &[], &["--print"]);
    // When the last one is reported, all before it are printed.
    for offset in [1, 3] {
        let line = consumer.wait_for_line(|line| line.contains("not JSON"));
        let place = format!("topic {prefix}mixed, partition 0, offset {offset}: not JSON");
        assert!(line.starts_with(&place), "{line}");
    }
    let (text, folder) = consumer.stop();
    let printed: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<&Value> = printed.iter().map(|event| &event["id"]).collect();
    assert_eq!(ids, [&json!("first"), &json!("last")]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is stored");
    // Printed messages are committed: the group continues after them.
    produce(kafka, &prefix, &["{not json either"]);
    let again = Consumer::start_with(kafka, &prefix, &["mixed"], &[], &["--print"]);
    let line = again.wait_for_line(|line| line.contains("not JSON"));
    let place = format!("topic {prefix}mixed, partition 0, offset 4: not JSON");
    assert!(line.starts_with(&place), "{line}");
    assert_eq!(again.stop().0, "");
}

#[test]
fn two_group_members_store_each_event_once() {
    let Some(kafka) = or_skip(Kafka::shared()) else { return };
    let Some(postgres) = or_skip(Postgres::shared()) else { return };
    let database = postgres.database().unwrap();
    let prefix = kafka.prefix();
    let server = publishing(kafka, &prefix, &[("UPTAKE__KAFKA__PARTITIONS", "4")]);
    let send = |from: usize| {
        let rating = |n: usize| {
            let mut body = rating_body("t1");
            body["id"] = json!(format!("r{n}"));
            body["session_id"] = json!(format!("c{}", n % 40));
            body
        };
        let batch: Value = (from..from + 1000).map(rating).collect();
        assert_eq!(server.post("/api/v1/feedback/batch", &batch).1["accepted"], 1000);
    };
    send(0);
    until_published(&server);
    let on_postgres = [("UPTAKE__STORE__POSTGRES", database.url()), ("UPTAKE__LOG__LEVEL", "info")];
    let start = || Consumer::start_with(kafka, &prefix, &["feedback-ratings"], &on_postgres, &[]);
    let members = [start(), start()];
    for member in &members {
        member.wait_for_line(|line| line.ends_with("partitions=2"));
    }
    send(1000);
    send(2000);
    let count = || {
        let found = database.run("select count(*) from events").unwrap();
        found.trim().parse::<usize>().unwrap()
    };
    until("all are stored", || count() >= 3000);
    let stored = members.map(|member| {
        let (text, _) = member.stop();
        let stored = text.strip_prefix("stored ").and_then(|rest| rest.split(' ').next());
        stored.unwrap_or_else(|| panic!("{text}")).parse::<usize>().unwrap()
    });
    assert!(stored.iter().all(|count| *count > 0), "both did something: {stored:?}");
    assert_eq!((stored[0] + stored[1], count()), (3000, 3000), "each event once");
}
