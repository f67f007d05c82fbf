//! Ratings and reviews calibrate the detectors' confidences.

use serde_json::{Value, json};

use crate::conversation_calls::TestConversation;
use crate::experiments::experiment_calls::until;
use crate::feedback_calls::react;
use crate::server::{Server, uptake};

fn start_with_fast_sweep(folder: tempfile::TempDir) -> Server {
    Server::start_with(folder, &[("UPTAKE__DETECT__SWEEP_SECS", "1")])
}

/// Sends a question and a message that rejects the answer. Returns the confidence of the rejection.
fn reject_answer(server: &Server, n: usize) -> f64 {
    let (conversation, first, second) = (format!("c{n}"), format!("a{n}"), format!("b{n}"));
    let talk = TestConversation::new(server, &conversation, &conversation);
    talk.send(&first, "How do I bake bread at home?", &json!({}));
    talk.answer(&first, "Mix flour, water, salt and yeast, let it rise, and bake it.");
    let heard = talk.send(&second, "That's wrong, try again", &json!({}));
    assert_eq!(heard["previous"]["turn_id"], first, "{heard}");
    heard["previous"]["confidence"].as_f64().unwrap()
}

#[test]
fn two_hundred_labels_lower_overconfident_verdicts() {
    let server = start_with_fast_sweep(tempfile::tempdir().unwrap());
    let sure = reject_answer(&server, 0);
    assert!(sure >= 0.85, "{sure}");
    let start = server.get("/api/v1/calibration").1;
    assert_eq!((&start["labels"], &start["curve"]), (&json!(0), &Value::Null), "{start}");
    // In this project, users who send this message are satisfied half of the time.
    for n in 1..=210 {
        reject_answer(&server, n);
        let (conversation, turn) = (format!("c{n}"), format!("a{n}"));
        if n % 3 == 0 {
            let status = if n % 2 == 0 { "rejected" } else { "accepted" };
            let path = format!("/api/v1/turns/{turn}/review");
            assert_eq!(server.post(&path, &json!({"status": status})).0, 200);
        } else {
            let reaction = if n % 2 == 0 { "not_ok" } else { "ok" };
            assert_eq!(react(&server, &conversation, &turn, &json!({"reaction": reaction})).0, 200);
        }
    }
    let mut shown = Value::Null;
    until("the curve", || {
        shown = server.get("/api/v1/calibration").1;
        !shown["curve"].is_null()
    });
    // From then on such messages have too little confidence to be labels.
    let labels = shown["labels"].as_u64().unwrap();
    assert!((200..=210).contains(&labels), "{shown}");
    let error = &shown["error"];
    assert!(error["with"].as_f64().unwrap() < error["without"].as_f64().unwrap(), "{shown}");
    let bins = shown["reliability"].as_array().unwrap();
    let counted: u64 = bins.iter().map(|bin| bin["n"].as_u64().unwrap()).sum();
    assert_eq!(counted, labels, "{shown}");
    // The same words now have a confidence below the rejection threshold.
    let check = |server: &Server, n: usize| {
        let talk_of = rejected_status(server, n);
        assert_eq!(talk_of.0, "neutral", "{talk_of:?}");
        assert_eq!(talk_of.1, sure, "the finding keeps what the detector said");
    };
    check(&server, 1000);
    let server = start_with_fast_sweep(server.kill_and_leave());
    check(&server, 1001);
    assert_eq!(server.get("/api/v1/calibration").1["curve"], shown["curve"]);
    let log = server.get("/api/v1/events?type=log&source=engine").1;
    let kept = log["items"].as_array().unwrap().iter().any(|e| e["data"]["rule"] == "calibration");
    assert!(kept, "{log}");
    // Another project is not affected.
    let other = server.client().with_header("X-Uptake-Project", "other");
    assert_eq!(other.get("/api/v1/calibration").1["curve"], Value::Null);
    let (_, folder) = server.stop();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}");
    check(&start_with_fast_sweep(folder), 1002);
}

/// The status of a turn that a message rejects, and the detector's raw confidence.
fn rejected_status(server: &Server, n: usize) -> (String, f64) {
    reject_answer(server, n);
    let shown = server.get(&format!("/api/v1/turns/a{n}")).1;
    let verdict = &shown["verdict"];
    let raw = verdict["found"]["raw_confidence"].as_f64().unwrap();
    (verdict["status"].as_str().unwrap().to_owned(), raw)
}
