//! A chat model judges messages that the detectors are uncertain about.

use std::time::Duration;

use serde_json::{Value, json};
use store::Stopwatch;

use crate::chat_server::{ChatServer, Reply};
use crate::experiments::experiment_calls::until;
use crate::server::{Server, uptake_with};

/// The instant models are uncertain about it.
const MESSAGE: &str = "the warehouse report says 1,412";

type Settings<'a> = Vec<(&'a str, &'a str)>;

fn settings(url: &str) -> Settings<'_> {
    vec![
        ("UPTAKE__DETECT__LLM_READER", "uncertain"),
        ("UPTAKE__LLM__URL", url),
        ("UPTAKE__LLM__MODEL", "judge-1"),
    ]
}

fn start(settings: &[(&str, &str)]) -> Server {
    Server::start_with(tempfile::tempdir().unwrap(), settings)
}

/// Sends an answer and the message about it with more fields. Returns the verdict of the response.
fn send(server: &Server, conversation: &str, message: &str, more: &Value) -> Value {
    let turn = json!({"conversation_id": conversation, "turn_id": format!("{conversation}-1"), "user_id": "ann",
        "text": "how many orders did we ship in march", "response": "You shipped 1,240 orders in March."});
    assert_eq!(server.post("/api/v1/turns", &turn).0, 201);
    let mut turn = json!({"conversation_id": conversation, "turn_id": format!("{conversation}-2"),
        "user_id": "ann", "text": message});
    turn.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let (status, opened) = server.post("/api/v1/turns", &turn);
    assert_eq!(status, 201, "{opened}");
    opened["previous"].clone()
}

fn verdict(server: &Server, conversation: &str) -> Value {
    server.get(&format!("/api/v1/turns/{conversation}-1")).1["verdict"]["found"].clone()
}

fn is_by_llm(found: &Value) -> bool {
    found["detector"].as_str().is_some_and(|name| name.starts_with("verdict.llm/"))
}

fn metric(server: &Server, name: &str) -> u64 {
    let page = server.get("/metrics").1;
    let start = format!("uptake_llm_reader_{name} ");
    let mut lines = page.as_str().unwrap().lines();
    lines.find_map(|line| line.strip_prefix(&start)).unwrap().parse().unwrap()
}

fn opinion(status: &str, quote: &str) -> String {
    json!({"status": status, "confidence": 0.97, "quote": quote, "wants": "1,412"}).to_string()
}

#[test]
fn opinion_replaces_an_uncertain_verdict_also_after_a_kill_and_redetect() {
    let chat = ChatServer::with_content(&opinion("rejected", "says 1,412"));
    let settings = settings(&chat.url);
    let server = start(&settings);
    let instant = send(&server, "c", MESSAGE, &json!({}));
    assert_ne!(instant["rule"], "llm", "{instant}");
    until("the model is asked", || is_by_llm(&verdict(&server, "c")));
    let found = verdict(&server, "c");
    assert_eq!((&found["status"], &found["confidence"]), (&json!("rejected"), &json!(0.9)));
    assert_eq!(found["contrast"]["wants"], "1,412", "{found}");
    assert_eq!(found["evidence"], json!([{"start": 21, "end": 31, "rule": "llm"}]), "{found}");
    assert!(found["detector"].as_str().unwrap().ends_with("-judge-1"), "{found}");
    let turn = server.get("/api/v1/turns/c-1").1;
    assert_eq!(turn["reactions"][0]["reaction"], "not_ok", "{turn}");
    let server = Server::start_with(server.kill_and_leave(), &settings);
    assert_eq!(verdict(&server, "c"), found);
    let (_, folder) = server.stop();
    let run = |command: &str| {
        let (code, out, err) = uptake_with(folder.path(), &[command, "--json"], &settings);
        assert_eq!(code, Some(0), "{err}");
        serde_json::from_str::<Value>(&out).unwrap()
    };
    assert_eq!(run("redetect")["findings"], 0, "the opinion stays");
    assert_eq!(run("rebuild")["changed"], false);
    assert_eq!(chat.requests.try_iter().count(), 1);
}

#[test]
fn only_uncertain_messages_are_sent_after_redaction() {
    let chat = ChatServer::with_content(&opinion("neutral", "report"));
    let server = start(&settings(&chat.url));
    let sure = send(&server, "sure", "Perfect, thanks a lot!", &json!({"read": "now"}));
    assert_eq!(sure["status"], "accepted", "{sure}");
    let message = "the report of jo.doe@example.com says 1,412";
    send(&server, "c", message, &json!({"read": "now"}));
    let sent: Vec<String> = chat.requests.try_iter().collect();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(sent[0].contains("says 1,412") && !sent[0].contains("jo.doe"), "{}", sent[0]);
}

#[test]
fn request_that_waits_gets_the_opinion_within_its_budget() {
    let chat = ChatServer::start(|_, sent| {
        let opinion = opinion("rejected", "says 1,412");
        let is_slow = sent.contains("slow");
        if is_slow {
            Reply::Late(Duration::from_secs(20), opinion)
        } else {
            Reply::Content(opinion)
        }
    });
    let mut settings = settings(&chat.url);
    settings.push(("UPTAKE__DETECT__LLM_READER_BUDGET_MS", "5000"));
    let server = start(&settings);
    let found = send(&server, "c", MESSAGE, &json!({"read": "now"}));
    assert_eq!((&found["status"], &found["rule"]), (&json!("rejected"), &json!("llm")), "{found}");
    assert!(is_by_llm(&verdict(&server, "c")));
    drop(server);

    let last = settings.len() - 1;
    settings[last].1 = "200";
    let server = start(&settings);
    let began = Stopwatch::start();
    let found = send(&server, "d", &format!("slow: {MESSAGE}"), &json!({"include": ["context"]}));
    assert_ne!(found["rule"], "llm", "{found}");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!(metric(&server, "late_total"), 1);
}

#[test]
fn failing_model_changes_nothing_and_is_left_alone() {
    let chat = ChatServer::start(|call, _| match call % 3 {
        0 => Reply::Status(500),
        1 => Reply::Body("<html>no</html>".to_owned()),
        _ => Reply::Content(opinion("rejected", "words that are not there")),
    });
    let server = start(&settings(&chat.url));
    let before = send(&server, "c0", MESSAGE, &json!({}));
    until("calls are paused", || metric(&server, "paused") == 1);
    for n in 1..6 {
        send(&server, &format!("c{n}"), MESSAGE, &json!({"read": "now"}));
    }
    for n in 0..6 {
        let found = verdict(&server, &format!("c{n}"));
        assert_eq!((&found["status"], is_by_llm(&found)), (&before["status"], false), "{found}");
    }
    assert_eq!(chat.requests.try_iter().count(), 3, "no call while they are paused");
    assert_eq!((metric(&server, "failures_total"), metric(&server, "messages_total")), (3, 0));
}

#[test]
fn opinion_on_words_that_are_erased_meanwhile_is_not_stored() {
    let late = Reply::Late(Duration::from_secs(3), opinion("rejected", "says 1,412"));
    let chat = ChatServer::start(move |_, _| late.clone());
    let server = start(&settings(&chat.url));
    send(&server, "c", MESSAGE, &json!({}));
    let wait = Duration::from_secs(20);
    chat.requests.recv_timeout(wait).expect("the model is asked");
    assert_eq!(server.client().delete("/api/v1/users/ann").0, 200);
    until("the model has answered", || metric(&server, "messages_total") == 1);
    until("nothing waits", || metric(&server, "queue_messages") == 0);
    let (_, folder) = server.stop();
    let (code, out, err) = uptake_with(folder.path(), &["export"], &[]);
    assert_eq!(code, Some(0), "{err}");
    assert!(!out.contains("1,412") && !out.contains("verdict.llm"), "{out}");
}

#[test]
fn llm_reader_without_a_model_is_refused_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("UPTAKE__DETECT__LLM_READER", "uncertain")];
    let (code, _, err) =
        uptake_with(folder.path(), &["serve", "--listen", "127.0.0.1:0"], &settings);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("detect.llm_reader") && err.contains("llm.url"), "{err}");
}
