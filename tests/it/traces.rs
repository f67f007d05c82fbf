//! Traces of other instrumentations become turns.

pub(crate) mod payload;

use std::io::Write;

use serde_json::{Value, json};

use crate::experiments::experiment_calls::until;
use crate::keys::create;
use crate::privacy::is_on_disk;
use crate::server::{Answer, Client, Server, uptake};
use payload::{TestSpan, gzip, model_call, protobuf, request, retrieval, root, trace_id};

const PROTOBUF: &str = "application/x-protobuf";
const JSON: &str = "application/json";

/// A request of 3 spans: retrieval, model call and root.
fn spans(trace: u64, conversation: &str) -> Vec<TestSpan> {
    let call = model_call(trace, "What is x?", "X is y.");
    vec![retrieval(trace), call, root(trace, conversation)]
}

fn send(client: &Client, spans: &[TestSpan]) -> Answer {
    client.post("/v1/traces", &request(spans))
}

/// The turn of a trace, once it is completed.
fn wait_for_turn(server: &Server, trace: u64) -> Value {
    let path = format!("/api/v1/turns/{}", trace_id(trace));
    until("the trace is a turn", || server.get(&path).1["completed"] == true);
    server.get(&path).1
}

/// Waits until no trace waits to be assembled, and returns a metric.
fn metric(server: &Server, name: &str) -> u64 {
    let page = server.get("/metrics").1;
    let line = page.as_str().unwrap().lines().find(|line| line.starts_with(&format!("{name} ")));
    line.unwrap().split(' ').nth(1).unwrap().parse().unwrap()
}

fn check_rebuild(server: Server) {
    let folder = server.kill_and_leave();
    let (code, out, err) = uptake(folder.path(), &["rebuild", "--json"]);
    let rebuilt: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{code:?} {err}"));
    assert_eq!(rebuilt["changed"], false, "the projections differed from the log");
}

#[test]
fn every_encoding_of_a_trace_gives_the_same_turn() {
    let server = Server::start();
    let gzipped = server.client().with_header("Content-Encoding", "gzip");
    for (trace, (media, is_gzip)) in
        (1..).zip([(PROTOBUF, false), (PROTOBUF, true), (JSON, false), (JSON, true)])
    {
        let body = request(&spans(trace, "c1"));
        let body = if media == JSON { body.to_string().into_bytes() } else { protobuf(&body) };
        let sent = match is_gzip {
            true => gzipped.send("/v1/traces", media, &gzip(&body)),
            false => server.client().send("/v1/traces", media, &body),
        };
        let (status, answer) = sent.unwrap();
        let empty = if media == JSON { json!({}) } else { json!("") };
        assert_eq!((status, answer), (200, empty), "{media} {is_gzip}");
        let turn = wait_for_turn(&server, trace);
        assert_eq!(turn["conversation_id"], "c1");
        assert_eq!(turn["user_id"], "ann");
        assert_eq!(turn["user"]["text"], "What is x?");
        let answer = &turn["assistant"];
        assert_eq!(answer["response"], "X is y.", "{turn}");
        assert_eq!(answer["status"], "success");
        assert_eq!(answer["model"], "m-1");
        assert_eq!((&answer["tokens_in"], &answer["tokens_out"]), (&json!(10), &json!(5)));
        assert_eq!(answer["latency_ms"], 1250.0);
        assert_eq!(
            answer["retrieved"],
            json!([{"entity_id": "d1", "content": "x is y", "rank": 1, "score": 0.5}])
        );
    }
    check_rebuild(server);
}

#[test]
fn chunked_request_is_read() {
    let server = Server::start();
    let body = request(&spans(1, "c1")).to_string();
    let mut stream = server.connect();
    let head = "POST /v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    for part in body.as_bytes().chunks(500) {
        stream.write_all(format!("{:x}\r\n", part.len()).as_bytes()).unwrap();
        stream.write_all(part).unwrap();
        stream.write_all(b"\r\n").unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    wait_for_turn(&server, 1);
}

#[test]
fn order_and_repeats_of_requests_do_not_matter() {
    let server = Server::start();
    let client = server.client();
    for (trace, is_together) in [(1, false), (2, true)] {
        let mut all = spans(trace, "c1");
        if is_together {
            assert_eq!(send(&client, &all).0, 200);
        } else {
            // Each span alone, the root last.
            for span in &all {
                assert_eq!(send(&client, std::slice::from_ref(span)).0, 200);
            }
        }
        let turn = wait_for_turn(&server, trace);
        assert_eq!(turn["assistant"]["response"], "X is y.");
        assert_eq!(turn["assistant"]["retrieved"][0]["entity_id"], "d1");
        // The same spans again, in other requests.
        all.reverse();
        for _ in 0..2 {
            assert_eq!(send(&client, &all).0, 200);
        }
        assert_eq!(send(&client, &all[..2]).0, 200);
        until("every trace is assembled", || {
            let log = server.get("/api/v1/events?type=quality&source=engine&limit=1000").1;
            let items = log["items"].as_array().unwrap();
            let last = items.iter().rev().find(|item| item["data"]["finding"] == "trace");
            let spans = server.get("/api/v1/events?type=log&source=trace&limit=1000").1;
            let newest = spans["items"].as_array().unwrap().last().unwrap()["position"].clone();
            last.is_some_and(|last| last["data"]["upto"] == newest)
        });
    }
    let turns = server.get("/api/v1/turns?conversation_id=c1").1;
    assert_eq!(turns["items"].as_array().unwrap().len(), 2, "{turns}");
    assert_eq!(metric(&server, "uptake_traces_assembled_total"), 2);
    check_rebuild(server);
}

#[test]
fn acknowledged_spans_survive_a_kill() {
    let server = Server::start();
    let all = spans(1, "c1");
    assert_eq!(send(&server.client(), &all[..2]).0, 200);
    let server = server.kill_and_restart();
    assert_eq!(send(&server.client(), &all[2..]).0, 200);
    // Right after the acknowledgement, whether the turn is stored or not.
    let server = server.kill_and_restart();
    let turn = wait_for_turn(&server, 1);
    assert_eq!(turn["user"]["text"], "What is x?");
    assert_eq!(turn["assistant"]["response"], "X is y.");
    assert_eq!(turn["assistant"]["retrieved"][0]["entity_id"], "d1");
    check_rebuild(server);
}

#[test]
fn later_message_judges_the_answer_before_it() {
    let server = Server::start();
    let complaint = "No, that is wrong.";
    // The later trace comes first in the request.
    let mut both = vec![model_call(2, complaint, "Sorry."), root(2, "c1")];
    both.extend(spans(1, "c1"));
    assert_eq!(send(&server.client(), &both).0, 200);
    wait_for_turn(&server, 2);
    let judged = wait_for_turn(&server, 1);
    assert_eq!(judged["verdict"]["status"], "rejected", "{judged}");
    assert_eq!(judged["verdict"]["found"]["user_said"], complaint);
}

#[test]
fn failed_calls_are_failed_turns_and_embeddings_are_none() {
    let server = Server::start();
    let failed = TestSpan { error: Some("Error code: 503 - down"), ..model_call(1, "boom", "") };
    let embedding = TestSpan {
        parent: 0,
        attributes: json!({"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "e",
            "gen_ai.usage.input_tokens": 7, "gen_ai.input.messages": "secret text"}),
        ..model_call(2, "", "")
    };
    assert_eq!(send(&server.client(), &[failed, root(1, "c1"), embedding]).0, 200);
    let turn = wait_for_turn(&server, 1);
    assert_eq!(turn["assistant"]["status"], "error");
    assert_eq!(turn["assistant"]["error"], "Error code: 503 - down");
    assert_eq!(turn["user"]["text"], "boom");
    let measured = || server.get("/api/v1/events?type=performance&source=trace").1["items"].clone();
    until("the embedding is measured", || measured().as_array().is_some_and(|all| all.len() == 1));
    let data = &measured()[0]["data"];
    assert_eq!((&data["model"], &data["tokens_in"]), (&json!("e"), &json!(7)));
    assert_eq!(server.get(&format!("/api/v1/turns/{}", trace_id(2))).0, 404);
}

#[test]
fn spans_about_other_things_are_dropped() {
    let server = Server::start();
    let query = |id| TestSpan {
        id,
        name: "SELECT",
        scope: "opentelemetry.instrumentation.sqlite",
        attributes: json!({"db.system": "sqlite"}),
        ..model_call(1, "", "")
    };
    let many: Vec<TestSpan> = (1..=10_000).map(query).collect();
    let body = protobuf(&request(&many));
    assert_eq!(server.client().send("/v1/traces", PROTOBUF, &body).unwrap().0, 200);
    assert_eq!(server.get("/api/v1/events").1["items"], json!([]));
    assert_eq!(metric(&server, "uptake_spans_dropped_total"), 10_000);
    // Beside a model call they are dropped as well.
    let mut some = spans(2, "c1");
    some.push(TestSpan { trace: 2, ..query(9) });
    assert_eq!(send(&server.client(), &some).0, 200);
    wait_for_turn(&server, 2);
    assert_eq!(metric(&server, "uptake_spans_dropped_total"), 10_001);
    assert_eq!(metric(&server, "uptake_spans_total"), 3);
}

#[test]
fn bad_requests_are_refused_in_the_form_of_the_protocol() {
    let server = Server::start();
    let client = server.client();
    let mut body = request(&spans(1, "c1"));
    body["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = json!("");
    let (status, answer) = client.post("/v1/traces", &body);
    assert_eq!((status, &answer["partialSuccess"]["rejectedSpans"]), (200, &json!("1")));
    let reason = answer["partialSuccess"]["errorMessage"].as_str().unwrap();
    assert!(reason.contains("traceId") && reason.contains("/v1/logs"), "{reason}");
    assert_eq!(wait_for_turn(&server, 1)["assistant"]["response"], "X is y.", "the others stay");
    let (status, answer) = client.send("/v1/traces", JSON, b"{").unwrap();
    assert_eq!(status, 400);
    assert!(answer["message"].as_str().unwrap().contains("JSON"), "{answer}");
    assert_eq!(client.send("/v1/traces", PROTOBUF, b"\xff\xff").unwrap().0, 400);
    assert_eq!(client.send("/v1/traces", "text/plain", b"{}").unwrap().0, 415);
    let deflated = server.client().with_header("Content-Encoding", "deflate");
    assert_eq!(deflated.send("/v1/traces", JSON, b"{}").unwrap().0, 415);
    // Widgets are public and send no traces.
    let widget = create(&server, &["--tenant", "default", "--role", "widget"]);
    let widget = server.client().with_header("Authorization", &format!("Bearer {widget}"));
    assert_eq!(send(&widget, &spans(2, "c1")).0, 403);
    assert_eq!(send(&client, &spans(2, "c1")).0, 401, "there are keys now");
}

/// Resident memory in KiB.
fn resident_kib(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn zip_bomb_is_refused_with_flat_memory() {
    let server = Server::start();
    assert_eq!(send(&server.client(), &spans(1, "c1")).0, 200);
    wait_for_turn(&server, 1);
    let before = resident_kib(&server);
    let bomb = gzip(&vec![b' '; 128 << 20]);
    let client = server.client().with_header("Content-Encoding", "gzip");
    let (status, answer) = client.send("/v1/traces", JSON, &bomb).unwrap();
    assert_eq!(status, 413, "{answer}");
    let mut lying = bomb;
    let end = lying.len() - 4;
    lying[end..].copy_from_slice(&100_u32.to_le_bytes());
    assert_eq!(client.send("/v1/traces", JSON, &lying).unwrap().0, 413);
    let grown = resident_kib(&server).saturating_sub(before);
    assert!(grown < 40 * 1024, "{grown} KiB more");
}

#[test]
fn erasure_reaches_the_spans_of_a_user() {
    let words = "zwxqv-question";
    let server = Server::start();
    let client = server.client();
    // A turn, and a trace that waits for its root. Only one of its spans names the user.
    let call = |trace| model_call(trace, words, words);
    assert_eq!(send(&client, &[call(1), root(1, "c1")]).0, 200);
    wait_for_turn(&server, 1);
    assert_eq!(send(&client, &[call(2)]).0, 200);
    let named = json!({"user.id": "ann", "input.value": words});
    let named = TestSpan { id: 7, attributes: named, ..retrieval(2) };
    assert_eq!(send(&client, &[named]).0, 200);
    assert!(is_on_disk(&server, words));
    let (status, erased) = client.delete("/api/v1/users/ann");
    assert_eq!(status, 200, "{erased}");
    assert!(!is_on_disk(&server, words));
    // What comes later does not bring it back.
    assert_eq!(
        send(&client, &[TestSpan { attributes: json!({"session.id": "c2"}), ..root(2, "") }]).0,
        200
    );
    until("the rest of the trace is done with", || {
        let log = server.get("/api/v1/events?type=quality&source=engine&limit=1000").1;
        let is_end = |item: &&Value| item["data"]["finding"] == "trace";
        log["items"].as_array().unwrap().iter().filter(is_end).count() == 2
    });
    assert_eq!(server.get(&format!("/api/v1/turns/{}", trace_id(2))).0, 404);
    check_rebuild(server);
}
