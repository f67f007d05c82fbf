//! Metrics in the Prometheus format.

use std::io::{Read, Write};

use serde_json::{Value, json};

use crate::feedback_calls::{react, turn};
use crate::server::Server;

#[test]
fn metrics_count_requests_commits_and_log_events() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    react(&server, "c1", "t1", &json!({"reaction": "ok"}));
    react(&server, "c1", "unknown", &json!({"reaction": "ok"}));
    server.get("/nowhere/in/particular");
    let (status, Value::String(page)) = server.get("/metrics") else { panic!("not a text") };
    assert_eq!(status, 200);
    let route = "/conversations/{tenant}/{project}/{conversation_id}/turns/{turn_id}/feedback";
    let expected = [
        "uptake_log_position 4".to_owned(),
        "uptake_commit_queue_bytes 0".to_owned(),
        "uptake_commit_failures_total 0".to_owned(),
        "uptake_commit_seconds_count 2".to_owned(),
        "uptake_commit_writes_sum 2".to_owned(),
        "uptake_commit_statements_count 2".to_owned(),
        "uptake_commit_writes_bucket{le=\"+Inf\"} 2".to_owned(),
        format!(
            "uptake_request_seconds_count{{method=\"POST\",route=\"{route}\",status=\"200\"}} 1"
        ),
        format!(
            "uptake_request_seconds_count{{method=\"POST\",route=\"{route}\",status=\"404\"}} 1"
        ),
        "uptake_request_seconds_count{method=\"GET\",route=\"unknown\",status=\"404\"} 1"
            .to_owned(),
        "# TYPE uptake_request_seconds histogram".to_owned(),
    ];
    for line in expected {
        assert!(page.lines().any(|found| found == line), "{line} is not in\n{page}");
    }
    assert!(!page.contains("c1"), "an id became a label:\n{page}");
    let sum = page.lines().find_map(|line| line.strip_prefix("uptake_commit_statements_sum "));
    // Two commits of a row each are at least BEGIN, INSERT and COMMIT.
    assert!(sum.is_some_and(|sum| sum.parse::<f64>().unwrap() >= 6.0), "{sum:?}");
    let mut client = server.connect();
    client.write_all(b"INVENTED /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert_ne!(client.read(&mut [0; 100]).unwrap(), 0, "it was answered");
    let (_, Value::String(page)) = server.get("/metrics") else { panic!("not a text") };
    assert!(page.contains("method=\"other\"") && !page.contains("INVENTED"), "{page}");
}
