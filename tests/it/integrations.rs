//! Clients of other systems, unchanged, against a running server. `make test-integrations` runs
//! these tests; each group of packages has its own environment.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::experiments::experiment_calls::until;
use crate::server::Server;

/// OpenTelemetry's exporter, and OpenInference for OpenAI's client.
const OPENINFERENCE: [&str; 6] = [
    "openinference",
    "opentelemetry-sdk==1.45.1",
    "opentelemetry-exporter-otlp-proto-http==1.45.1",
    "openinference-instrumentation==0.1.72",
    "openinference-instrumentation-openai==0.1.66",
    "openai==3.49.0",
];

/// Runs a script with these packages. Returns its lines; it must log nothing.
fn run_script(packages: &[&str], script: &str, arguments: &[&str]) -> Vec<Value> {
    let python = Command::new("scripts/python-with").args(packages).output().unwrap();
    let said = String::from_utf8_lossy(&python.stderr);
    assert!(python.status.success(), "no environment for {script}: {said}");
    let python = String::from_utf8(python.stdout).unwrap();
    let script = Path::new("tests/integrations").join(script);
    let output = Command::new(python.trim()).arg(&script).args(arguments).output().unwrap();
    let (said, logged) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {logged}", script.display());
    assert_eq!(logged, "", "{} logged a warning", script.display());
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn openinference_traces_become_turns_with_verdicts() {
    let server = Server::start();
    let traces = run_script(&OPENINFERENCE, "openinference_traces.py", &[&server.url]);
    assert_eq!(traces.len(), 6);
    let turn = |trace: &Value| {
        let path = format!("/api/v1/turns/{}", trace["trace"].as_str().unwrap());
        until("the trace is a turn", || server.get(&path).1["completed"] == true);
        server.get(&path).1
    };
    for conversation in traces.chunks(3) {
        let [asked, complaint, failed] = conversation else { panic!("{conversation:?}") };
        turn(failed);
        let stored = turn(asked);
        assert_eq!(stored["conversation_id"], asked["conversation"]);
        assert_eq!(stored["user_id"], "ann");
        assert_eq!(stored["user"]["text"], "What is x?", "the root's, not the template");
        let answer = &stored["assistant"];
        assert_eq!(answer["response"], "X is y.");
        assert_eq!(answer["model"], "m-1");
        assert_eq!((&answer["tokens_in"], &answer["tokens_out"]), (&json!(3), &json!(2)));
        assert_eq!(answer["retrieved"][0]["entity_id"], "d1");
        assert_eq!(stored["verdict"]["status"], "rejected", "{stored}");
        assert_eq!(stored["verdict"]["found"]["user_said"], complaint["question"]);
        let failure = turn(failed);
        assert_eq!(failure["assistant"]["status"], "error", "{failure}");
        assert_eq!(failure["user"]["text"], "boom");
    }
    let measured = server.get("/api/v1/events?type=performance&source=trace").1;
    assert_eq!(measured["items"].as_array().unwrap().len(), 2, "one embedding each: {measured}");
}
