//! Fuzz tests: any input is accepted or refused with a reason, and accepted input round-trips.

use model::{EventId, Scope, Timestamp};
use serde_json::{Map, Value, json};

use crate::accept::RawEvent;
use crate::{
    ImportLine, Line, accept_event, accept_privacy, accept_profile, chat_events, read_chat,
    read_import_line, read_line,
};

const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

const EVENTS: [&str; 6] = [
    r#"{"id":"e1","type":"explicit","source":"user_rating","category":"quality","severity":"info","user_id":"u","session_id":"c","message_id":"t","tenant_id":"a","project":"p","timestamp":"2026-01-02T03:04:05.678Z","received_at":"2026-01-02T03:04:06Z","tags":["x"],"data":{"rating":4,"comment":"good"},"position":7}"#,
    r#"{"type":"explicit","source":"user_correction","category":"accuracy","message_id":"t","data":{"original_sql":"SELECT 1","corrected_sql":"SELECT 2","message_id":"t"}}"#,
    r#"{"type":"query","source":"turn","category":"quality","message_id":"t","session_id":"c","data":{"phase":"opened","text":"q","intent":"i"}}"#,
    r#"{"type":"query","source":"turn","category":"quality","message_id":"t","data":{"phase":"completed","response":"a","status":"success","latency_ms":3.5,"strategy":{"name":"s","params":{"a":1}},"retrieved":[{"entity_id":"e","content":"c","score":0.5}]}}"#,
    r#"{"type":"explicit","source":"reaction","category":"user_satisfaction","message_id":"t","data":{"reaction":"ok","origin":"machine","confidence":0.9,"text":"x"}}"#,
    r#"{"type":"log","source":"engine","category":"compliance","data":{"rule":"privacy","settings":{"redact":{"phone":false},"retention_days":{"events":90}}}}"#,
];

const CHATS: [&str; 6] = [
    r#"{"id":"x","user":"u","created_at":"2026-01-02T03:04:05Z","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":"b","model":"m","latency_ms":3},{"role":"user","content":"no"}]}"#,
    r#"{"conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"}]}"#,
    r#"{"conversation_id":"1","model":"m","conversation":[{"role":"user","content":"a","timestamp":1700000000},{"role":"assistant","content":"b"}]}"#,
    r#"{"id":"t","sessionId":"s","timestamp":"2026-01-02T03:04:05Z","input":{"messages":[{"role":"user","content":"a"}]},"output":{"content":"b"},"scores":[{"name":"rating","value":1,"comment":"c"}]}"#,
    r#"{"text":"a","response":"b","turn_id":"t","conversation_id":"c"}"#,
    r#"{"type":"query","source":"turn","message_id":"t","session_id":"c","data":{"phase":"opened","text":"q"}}"#,
];

const FOREIGN: [&str; 6] = [
    r#"{"role":"artifact","tags":["kind:turn.log.reaction","turn:t"],"user_id":"u","payload":{"reaction":{"turn_id":"t","text":"x","confidence":0.9,"ts":"2026-01-02T03:04:05Z","reaction":"ok","origin":"machine"},"meta":{"rn":"ef:x","track_id":"A"},"conversation_id":"c"}}"#,
    r#"{"id":"s","timestamp":"2026-01-02 03:04:05.678000","name":"user-feedback","value":1,"data_type":"BOOLEAN","source":"API","trace_id":"t","comment":"good","metadata":{"userId":"u"}}"#,
    r#"{"id":"t","traceId":"t","type":"SPAN","sessionId":"s","input":"[{\"role\":\"user\",\"content\":\"q\"}]","output":"{\"content\":\"a\"}","scores":{"thumb":[1]}}"#,
    r#"{"id":"f","run_id":"r","trace_id":"r","key":"user_score","score":0.5,"comment":"c","correction":{"output":"b"},"created_at":"2026-01-02T03:04:05+00:00"}"#,
    r#"{"id":"r","trace_id":"r","run_type":"chain","inputs":{"messages":[[{"id":["HumanMessage"],"kwargs":{"content":"q"}}]]},"outputs":{"generations":[[{"text":"a"}]]},"extra":{"metadata":{"thread_id":"c"}},"feedback_stats":{"user_score":{"n":1,"avg":1.0}}}"#,
    r#"{"id":"o","trace_id":"t","parent_observation_id":"p","input":"q","output":"a"}"#,
];

fn object(bytes: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(bytes).ok()
}

fn fresh() -> EventId {
    EventId::new("fresh").unwrap()
}

/// The line of an event as written by `uptake export`.
fn written(line: &Line) -> Map<String, Value> {
    let event = &line.event;
    let fields = json!({"id": event.id.as_str(), "tenant_id": event.scope.tenant.as_str(),
        "project": event.scope.project.as_str(), "type": event.kind.event_type.as_word(),
        "source": event.kind.source.as_word(), "severity": event.severity.as_word(),
        "category": event.category.as_word(), "user_id": event.user.as_ref().map(ToString::to_string),
        "session_id": event.conversation.as_ref().map(ToString::to_string),
        "message_id": event.turn.as_ref().map(ToString::to_string),
        "timestamp": event.ts.to_string(), "received_at": event.received_at.to_string(),
        "tags": event.tags, "data": event.body.to_fields()});
    fields.as_object().unwrap().clone()
}

#[test]
fn mangled_lines_are_refused_or_round_trip() {
    let mut taken = 0;
    testkit::fuzz_rows(&EVENTS, 3000, |bytes| {
        let Some(fields) = object(bytes) else { return };
        let Ok(line) = read_line(fields, NOW, fresh) else { return };
        taken += 1;
        assert_eq!(read_line(written(&line), NOW, fresh).unwrap(), line);
    });
    assert!(taken > 300, "only {taken} were taken, the rest proves little");
}

#[test]
fn mangled_events_are_accepted_or_refused_by_field() {
    let mut taken = 0;
    testkit::fuzz_rows(&EVENTS, 3000, |bytes| {
        let Some(fields) = object(bytes) else { return };
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let raw = RawEvent {
            id: text("id"),
            event_type: text("type").unwrap_or_default(),
            source: text("source").unwrap_or_default(),
            severity: text("severity"),
            category: text("category").unwrap_or_default(),
            user_id: text("user_id"),
            session_id: text("session_id"),
            message_id: text("message_id"),
            timestamp: text("timestamp"),
            data: fields.get("data").and_then(Value::as_object).cloned().unwrap_or_default(),
            tags: Vec::new(),
        };
        match accept_event(&Scope::default(), raw, NOW, fresh) {
            Ok(_) => taken += 1,
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
    assert!(taken > 100, "only {taken} were taken");
}

#[test]
fn mangled_chat_logs_are_refused_or_yield_readable_lines() {
    let mut read = 0;
    testkit::fuzz_rows(&CHATS, 3000, |bytes| {
        let Some(fields) = object(bytes) else { return };
        let Ok(record) = read_chat(&fields) else { return };
        read += 1;
        for line in chat_events(&record, 3, NOW) {
            // A line may be refused, for example for a long text, but nothing worse.
            drop(read_line(line, NOW, fresh));
        }
    });
    assert!(read > 300, "only {read} were read");
}

#[test]
fn mangled_exports_of_other_systems_are_skipped_refused_or_yield_lines() {
    let mut read = 0;
    testkit::fuzz_rows(&FOREIGN, 3000, |bytes| {
        let Some(fields) = object(bytes) else { return };
        let Ok(ImportLine::Events(lines)) = read_import_line(fields, 3, NOW) else { return };
        read += 1;
        for line in lines {
            drop(read_line(line, NOW, fresh));
        }
    });
    assert!(read > 300, "only {read} were read");
}

#[test]
fn mangled_rules_are_accepted_or_refused() {
    let rules = [
        r#"{"redact":{"phone":false,"email":true},"retention_days":{"events":90}}"#,
        r#"{"attributes":{"plan":"pro","seats":3,"beta":true}}"#,
    ];
    testkit::fuzz_rows(&rules, 2000, |bytes| {
        let Some(fields) = object(bytes) else { return };
        drop(accept_privacy(&fields));
        drop(accept_profile(fields));
    });
}
