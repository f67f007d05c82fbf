//! Fuzz tests: every body is either accepted or refused with a 4xx status.

use serde::de::DeserializeOwned;

use super::decision::DecisionRequest;
use super::feedback::EventRequest;
use super::reaction::ReactionRequest;
use super::report::PeriodRequestBody;
use super::retrieval::SignalsRequest;
use super::turn::OpeningRequest;
use crate::body::{decode_fields, parse_json_bytes};

/// Decodes the rows and mutations of them.
fn check<T: DeserializeOwned>(rows: &[&str]) {
    let mut accepted = 0;
    testkit::fuzz_rows(rows, 2000, |bytes| {
        match parse_json_bytes(bytes).and_then(decode_fields::<T>) {
            Ok(_) => accepted += 1,
            Err(problem) => {
                let status = problem.status.as_u16();
                assert!((400..500).contains(&status), "{status} {}", problem.detail);
                assert!(problem.detail.len() < 5000, "the detail grows with the request");
            }
        }
    });
    assert!(accepted > 50, "only {accepted} were accepted");
}

#[test]
fn mutated_events_are_accepted_or_refused() {
    check::<EventRequest>(&[
        r#"{"id":"e1","type":"explicit","source":"user_rating","category":"quality","user_id":"u","session_id":"c","message_id":"t","timestamp":"2026-01-02T03:04:05Z","tags":["x"],"data":{"rating":4}}"#,
        r#"{"type":"log","source":"trace","category":"cost","data":{"a":[1,{"b":null}]}}"#,
    ]);
}

#[test]
fn mutated_turns_are_accepted_or_refused() {
    check::<OpeningRequest>(&[
        r#"{"turn_id":"t","conversation_id":"c","user_id":"u","text":"q","include":["context","route"],"router":"r","ts":"2026-01-02T03:04:05Z"}"#,
    ]);
}

#[test]
fn other_mutated_bodies_are_accepted_or_refused() {
    check::<ReactionRequest>(&[
        r#"{"reaction":"ok","text":"x","user_id":"u","origin":"machine","confidence":0.5}"#,
    ]);
    check::<DecisionRequest>(&[
        r#"{"decision_id":"d","session_id":"c","turn_id":"t","decision_type":"x","decision_data":{"a":1},"confidence":0.8}"#,
    ]);
    check::<SignalsRequest>(&[r#"{"query_id":"q","signals":[{"entity_id":"e","signal":"used"}]}"#]);
    check::<PeriodRequestBody>(&[
        r#"{"start":"2026-01-01T00:00:00Z","end":"2026-02-01T00:00:00Z","include_turns":true,"limit":20,"cursor":"00ff"}"#,
    ]);
}
