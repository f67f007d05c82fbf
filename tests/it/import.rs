//! Chat logs and exports of other systems through `uptake import`.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scan::{ASKED, all_formats, write_file};
use crate::server::{Server, uptake};

/// Reactions of a conversation: total, user, machine, ok, not_ok, neutral.
fn reaction_counts(server: &Server, conversation: &str) -> [u64; 6] {
    let period = json!({"start": "2025-01-01T00:00:00Z", "end": "2026-12-31T00:00:00Z"});
    let path = "/conversations/default/default/feedback/conversations-in-period";
    let (status, page) = server.post(path, &period);
    assert_eq!(status, 200, "{page}");
    let items = page["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["conversation_id"] == conversation).unwrap();
    let names = ["total", "user", "machine", "ok", "not_ok", "neutral"];
    names.map(|name| item["feedback_counts"][name].as_u64().unwrap())
}

fn counts(imported: u64, replayed: u64, empty: u64, skipped: &Value) -> Value {
    json!({"imported": imported, "replayed": replayed, "rejected": 0, "empty": empty,
        "skipped": skipped})
}

/// Imports the lines as one file. Returns the counts and the lines named on stderr.
fn import_lines(data: &Path, lines: &[Value]) -> (Value, String) {
    let folder = TempDir::new().unwrap();
    let file = write_file(folder.path(), "export.jsonl", lines);
    let (code, out, err) = uptake(data, &["import", "--json", file.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{err}");
    (serde_json::from_str(&out).unwrap(), err)
}

/// A rebuild from the log gives the projections that the import left.
fn check_rebuild(data: &Path) {
    let (code, out, err) = uptake(data, &["rebuild"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("the projections match the log"), "{out}");
}

#[test]
fn chat_log_is_imported_once_and_served() {
    let expected =
        |imported: u64, replayed: u64| -> Value { counts(imported, replayed, 0, &json!({})) };
    for (name, lines) in all_formats() {
        let (folder, data) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let log = write_file(folder.path(), "log.jsonl", &lines);
        let import = || {
            let import = ["import", "--json", log.to_str().unwrap()];
            let (code, out, err) = uptake(data.path(), &import);
            assert_eq!(code, Some(0), "{name}: {err}");
            serde_json::from_str::<Value>(&out).unwrap()
        };
        assert_eq!(import(), expected(6, 0), "{name}");
        assert_eq!(import(), expected(0, 6), "{name}");
        let server = Server::start_in(data);
        // The sweep may end the old session meanwhile, which is an event of another type.
        let shown = server.get("/api/v1/events?type=query").1;
        assert_eq!(shown["items"].as_array().unwrap().len(), 6, "{name}");
        assert_eq!(shown["items"][0]["session_id"], "x1", "{name}");
        assert_eq!(shown["items"][0]["data"]["text"], ASKED, "{name}");
    }
}

#[test]
fn conversations_without_messages_are_counted() {
    let folder = TempDir::new().unwrap();
    let system = json!({"messages": [{"role": "system", "content": "Be kind."}]});
    let lines = [json!({"id": "a", "messages": []}), system];
    let log = write_file(folder.path(), "log.jsonl", &lines);
    let import = |more: &[&str]| {
        let arguments = [&["import", log.to_str().unwrap()][..], more].concat();
        let (code, out, err) = uptake(&folder.path().join("data"), &arguments);
        assert_eq!(code, Some(0), "{err}");
        out
    };
    let expected = counts(0, 0, 2, &json!({}));
    assert_eq!(serde_json::from_str::<Value>(&import(&["--json"])).unwrap(), expected);
    assert!(import(&[]).contains("skipped 2 conversations without messages"));
}

#[test]
fn answer_after_a_tool_call_is_imported_as_the_answer() {
    let folder = TempDir::new().unwrap();
    let tool = json!({"id": "w", "messages": [
        {"role": "user", "content": "weather in Rome?"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "content": "20"},
        {"role": "assistant", "content": "It is 20 degrees."},
        {"role": "user", "content": "thanks"}]});
    let again =
        |answer: &str| json!({"conversation_id": "c", "text": "try again", "response": answer});
    let log =
        write_file(folder.path(), "log.jsonl", &[tool, again("one"), again("two"), again("one")]);
    let data = folder.path().join("data");
    let (code, out, err) = uptake(&data, &["import", "--json", log.to_str().unwrap()]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["imported"], 9);
    let (_, out, _) = uptake(&data, &["export"]);
    let responses: Vec<String> = out
        .lines()
        .filter_map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["data"]["response"]
                .as_str()
                .map(str::to_owned)
        })
        .collect();
    assert_eq!(responses, ["It is 20 degrees.", "one", "two", "one"]);
}

/// An artifact of a turn-reaction system.
fn artifact(turn: &str, reaction: &str, origin: &str, confidence: f64) -> Value {
    json!({
        "reaction": {"turn_id": turn, "text": "The second table was right.",
            "confidence": confidence, "ts": "2025-11-06T17:47:02.162904Z",
            "reaction": reaction, "origin": origin},
        "meta": {"rn": format!("ef:acme:{turn}:artifact:artifact-{origin}"), "turn_id": turn,
            "track_id": "A", "user_type": "privileged", "kind": "turn.log.reaction"},
        "conversation_id": "conv-1", "bundle_id": "with.codegen"})
}

#[test]
fn reaction_artifacts_are_imported_once_also_with_the_old_tag() {
    let row = |turn: &str, tag: &str, payload: Value| {
        json!({"role": "artifact", "tags": [tag, format!("turn:{turn}"), "origin:user"],
            "turn_id": turn, "user_id": "ann", "ts": "2025-11-06T17:47:03Z", "payload": payload})
    };
    let right = "artifact:turn.log.reaction";
    let old_tag = "kind:turn.log.reaction";
    let mut old_kind = artifact("t3", "neutral", "user", 1.0);
    old_kind["meta"]["kind"] = json!("kind:turn.log.reaction");
    let embedded = json!({"role": "artifact", "tags": [old_tag], "turn_id": "t4",
        "conversation_id": "conv-1", "user_id": "ann",
        "text": "[turn.log.reaction] {\"turn_id\": \"t4\", \"reaction\": \"not_ok\", \
            \"origin\": \"user\", \"ts\": \"2025-11-06T18:00:00\"}"});
    let lines = [
        artifact("t1", "ok", "user", 1.0),
        row("t2", old_tag, artifact("t2", "not_ok", "user", 1.0)),
        row("t2", right, artifact("t2", "not_ok", "machine", 0.8)),
        old_kind,
        embedded,
        artifact("t5", "ok", "machine", 0.5),
        json!({"role": "artifact", "tags": ["artifact:turn.log", "turn:t1"], "turn_id": "t1"}),
        json!({"role": "artifact", "tags": [old_tag], "turn_id": "t6"}),
    ];
    let skipped = json!({"a machine reaction below confidence 0.70": 1,
        "an artifact that is not a reaction": 1, "an index row without its payload": 1});
    let data = TempDir::new().unwrap();
    let (first, named) = import_lines(data.path(), &lines);
    assert_eq!(first, counts(5, 0, 0, &skipped));
    for (number, reason) in
        [(6, "below confidence"), (7, "not a reaction"), (8, "without its payload")]
    {
        let line = named.lines().find(|line| line.contains(&format!("export.jsonl:{number}: ")));
        assert!(line.is_some_and(|line| line.contains(reason)), "{number}: {named}");
    }
    assert_eq!(import_lines(data.path(), &lines).0, counts(0, 5, 0, &skipped));
    check_rebuild(data.path());

    let mut server = Server::start_in(data);
    for _ in 0..2 {
        assert_eq!(reaction_counts(&server, "conv-1"), [5, 4, 1, 1, 3, 1]);
        let search = json!({"kinds": ["artifact:turn.log.reaction"], "roles": ["artifact"],
            "scope": "user", "user_id": "ann", "days": 3650, "with_payload": true});
        let (status, page) = server.post("/api/v1/artifacts/search", &search);
        assert_eq!((status, page["items"].as_array().map(Vec::len)), (200, Some(3)), "{page}");
        assert_eq!(page["items"][0]["ts"], "2025-11-06T18:00:00.000000Z", "{page}");
        let (_, events) = server.get("/api/v1/events?limit=10");
        let tags = &events["items"][0]["tags"];
        for tag in [
            right,
            "turn:t1",
            "origin:user",
            "track:A",
            "bundle:with.codegen",
            "user_type:privileged",
            "rn:ef:acme:t1:artifact:artifact-user",
        ] {
            assert!(tags.as_array().unwrap().contains(&json!(tag)), "{tag}: {tags}");
        }
        server = server.kill_and_restart();
    }
}

/// Three traces, the scores of the separate file, and observations of both kinds.
fn langfuse_export() -> Vec<Value> {
    let trace = |id: &str, minute: u32, input: Value, output: Value| {
        json!({"id": id, "timestamp": format!("2026-05-01 10:0{minute}:00.000000"),
            "user_id": "ann lee", "session_id": "chat-7", "input": input, "output": output,
            "latency": 1.5, "provided_model_name": "small", "total_cost": 0.002})
    };
    let score = |id: &str, trace: &str, name: &str, more: Value| {
        let mut score = json!({"id": id, "timestamp": "2026-05-01 10:09:00.000000", "name": name,
            "trace_id": trace, "source": "API", "value": null, "string_value": null,
            "data_type": "NUMERIC", "comment": null});
        score.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        score
    };
    let messages = json!([{"role": "system", "content": "Be brief."},
        {"role": "user", "content": "and per month?"}])
    .to_string();
    let mut nested =
        trace("tr3", 2, json!({"question": "as a chart?"}), json!({"answer": "Done."}));
    nested["scores"] = json!([{"id": "sc9", "name": "thumb", "value": 1, "dataType": "BOOLEAN"}]);
    vec![
        trace("tr1", 0, json!("sales by region"), json!("North 4, South 2.")),
        trace(
            "tr2",
            1,
            json!(messages),
            json!("{\"role\": \"assistant\", \"content\": \"May 6.\"}"),
        ),
        nested,
        json!({"id": "ob1", "trace_id": "tr4", "type": "SPAN", "start_time": "2026-05-01 10:03:00",
            "end_time": "2026-05-01 10:03:02", "user_id": "ann lee", "session_id": "chat-7",
            "parent_observation_id": null, "level": "ERROR", "status_message": "timed out",
            "input": "and in euros?", "output": null}),
        json!({"id": "ob2", "trace_id": "tr4", "type": "GENERATION", "session_id": "chat-7",
            "parent_observation_id": "ob1", "input": "x", "output": "y"}),
        json!({"id": "ob3", "trace_id": "tr1", "type": "SPAN", "input": "x", "output": "y"}),
        score("sc1", "tr1", "user-feedback", json!({"value": 1, "comment": "quick and right"})),
        score("sc2", "tr2", "user_rating", json!({"value": 0.1, "metadata": {"userId": "bob"}})),
        score("sc3", "tr2", "note", json!({"data_type": "TEXT", "string_value": "wrong month"})),
        score(
            "sc4",
            "tr2",
            "output",
            json!({"data_type": "CORRECTION", "string_value": "May 7.", "source": "ANNOTATION"}),
        ),
        score("sc5", "tr1", "hallucination", json!({"value": 0.9, "source": "EVAL"})),
        score("sc6", "tr1", "stars", json!({"value": 4})),
        json!({"id": "sc7", "name": "accuracy", "value": 1, "datasetRunId": "d1"}),
    ]
}

#[test]
fn langfuse_export_brings_turns_ratings_comments_and_corrections_once() {
    let lines = langfuse_export();
    let skipped = json!({"a child observation; the root observation is the turn": 1,
        "an observation without session and user; import the traces instead": 1,
        "a score that names neither a trace nor a session": 1});
    let data = TempDir::new().unwrap();
    // The scores come before their traces: feedback waits for its turn.
    let (scores, traces) = (&lines[6..], &lines[..6]);
    let both = [scores, traces].concat();
    assert_eq!(import_lines(data.path(), &both).0, counts(15, 0, 0, &skipped));
    assert_eq!(import_lines(data.path(), &both).0, counts(0, 15, 0, &skipped));
    // A changed score replaces the earlier one.
    let mut changed = lines[6].clone();
    (changed["value"], changed["timestamp"]) = (json!(0), json!("2026-05-01 10:10:00.000000"));
    assert_eq!(import_lines(data.path(), &[changed]).0, counts(1, 0, 0, &json!({})));
    check_rebuild(data.path());

    let mut server = Server::start_in(data);
    for _ in 0..2 {
        // One reaction per user and turn: tr1 not_ok, tr2 not_ok by bob, tr3 ok.
        assert_eq!(reaction_counts(&server, "chat-7"), [3, 3, 0, 1, 2, 0]);
        let (_, turn) = server.get("/api/v1/turns/tr2");
        assert_eq!(
            (&turn["user"]["text"], &turn["assistant"]["response"]),
            (&json!("and per month?"), &json!("May 6."))
        );
        assert_eq!(
            (&turn["assistant"]["model"], &turn["assistant"]["latency_ms"]),
            (&json!("small"), &json!(1500.0))
        );
        assert_eq!(turn["ts"], "2026-05-01T10:01:00.000000Z", "{turn}");
        let (_, failed) = server.get("/api/v1/turns/tr4");
        assert_eq!(
            (&failed["assistant"]["status"], &failed["assistant"]["error"]),
            (&json!("error"), &json!("timed out"))
        );
        let of_kind = |source: &str| {
            let (_, page) = server.get(&format!("/api/v1/events?source={source}"));
            page["items"].as_array().unwrap().clone()
        };
        assert_eq!(of_kind("user_comment")[0]["data"]["comment"], "wrong month");
        assert_eq!(of_kind("user_correction")[0]["data"]["corrected"], "May 7.");
        let measures = of_kind("external_service");
        assert_eq!(measures.len(), 2, "{measures:?}");
        server = server.kill_and_restart();
    }
}

/// Two root runs with a child run, and feedback rows.
fn langsmith_export() -> Vec<Value> {
    let run = |id: &str, parent: Value, inputs: Value, outputs: Value| {
        json!({"id": id, "trace_id": "run1", "parent_run_id": parent, "run_type": "chain",
            "name": "agent", "session_id": "project-uuid", "inputs": inputs, "outputs": outputs,
            "start_time": "2026-05-01T10:00:00.000000", "end_time": "2026-05-01T10:00:02.500000",
            "status": "success", "error": null, "prompt_tokens": 12, "completion_tokens": 5,
            "extra": {"metadata": {"thread_id": "thread-1", "user_id": "ann",
                "ls_model_name": "small"}}})
    };
    let message = |class: &str, text: &str| {
        json!({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", class],
            "kwargs": {"content": text}})
    };
    let asked = json!({"messages": [[message("SystemMessage", "Be brief."),
        message("HumanMessage", "What is a lease?")]]});
    let answered = json!({"generations": [[{"text": "", "message":
        message("AIMessage", "A lock that expires.")}]]});
    let feedback = |id: &str, key: &str, more: Value| {
        let mut row = json!({"id": id, "run_id": "run1", "trace_id": "run1", "key": key,
            "session_id": "project-uuid", "created_at": "2026-05-01T10:01:00+00:00",
            "score": null, "value": null, "comment": null, "correction": null,
            "feedback_source": {"type": "api", "metadata": {}}});
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row
    };
    let mut second = run(
        "run2",
        Value::Null,
        json!({"input": "And a lock?"}),
        json!({"output": "It has no time limit."}),
    );
    second["trace_id"] = json!("run2");
    second["feedback_stats"] = json!({"user_score": {"n": 1, "avg": 0.0},
        "thumb": {"n": 7, "avg": 0.5}});
    vec![
        run("run1", Value::Null, asked, answered),
        run("child", json!("run1"), json!({"input": "x"}), json!({"output": "y"})),
        second,
        feedback("f1", "user_score", json!({"score": 1, "comment": "clear"})),
        feedback("f2", "note", json!({"comment": "shorter would do"})),
        feedback(
            "f3",
            "correctness",
            json!({"correction": {"output": "A lock with a time limit."}}),
        ),
        feedback("f4", "user_score", json!({"score": 0, "feedback_source": {"type": "model"}})),
        feedback("f5", "empty", json!({})),
    ]
}

#[test]
fn langsmith_export_brings_root_runs_and_their_feedback_once() {
    let lines = langsmith_export();
    let skipped = json!({"a child run; the root run is the turn": 1,
        "feedback without a score, value or comment": 1});
    let data = TempDir::new().unwrap();
    assert_eq!(import_lines(data.path(), &lines).0, counts(9, 0, 0, &skipped));
    assert_eq!(import_lines(data.path(), &lines).0, counts(0, 9, 0, &skipped));
    check_rebuild(data.path());
    let mut server = Server::start_in(data);
    for _ in 0..2 {
        assert_eq!(reaction_counts(&server, "thread-1"), [2, 2, 0, 1, 1, 0]);
        let (_, turn) = server.get("/api/v1/turns/run1");
        assert_eq!(
            (&turn["user"]["text"], &turn["assistant"]["response"]),
            (&json!("What is a lease?"), &json!("A lock that expires."))
        );
        assert_eq!(
            (&turn["user_id"], &turn["assistant"]["latency_ms"]),
            (&json!("ann"), &json!(2500.0))
        );
        let (_, page) = server.get("/api/v1/events?source=user_correction");
        assert_eq!(page["items"][0]["data"]["corrected"], "A lock with a time limit.");
        server = server.kill_and_restart();
    }
}

#[test]
fn import_goes_to_the_named_project() {
    let (folder, data) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let lines = [json!({"id": "x", "sessionId": "s", "input": "hi", "output": "hello"})];
    let file = write_file(folder.path(), "t.jsonl", &lines);
    let arguments = ["import", "--tenant", "acme", "--project", "support", file.to_str().unwrap()];
    let (code, _, err) = uptake(data.path(), &arguments);
    assert_eq!(code, Some(0), "{err}");
    let server = Server::start_in(data);
    assert_eq!(server.get("/api/v1/turns/x").0, 404);
    let (status, list) = server.get("/conversations/acme/support/s/turns-with-feedbacks");
    assert_eq!(status, 200, "{list}");
}

#[test]
fn csv_export_is_imported_row_by_row() {
    let (folder, data) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = folder.path().join("traces.CSV");
    let csv = "id,timestamp,sessionId,userId,input,output,latency,scores\r\n\
        c1,2026-05-01T10:00:00.000Z,csv-1,ann,\"sales,\nby region\",\"North 4, \"\"South\"\" 2.\",1.5,\
        \"[{\"\"id\"\": \"\"s1\"\", \"\"name\"\": \"\"thumb\"\", \"\"value\"\": 1}]\"\r\n\
        c2,2026-05-01T10:01:00.000Z,csv-1,ann,,,,\r\n";
    std::fs::write(&file, csv).unwrap();
    let import = || {
        let (code, out, err) = uptake(data.path(), &["import", "--json", file.to_str().unwrap()]);
        assert_eq!(code, Some(0), "{err}");
        serde_json::from_str::<Value>(&out).unwrap()
    };
    let skipped = json!({"a trace without input and output": 1});
    assert_eq!(import(), counts(3, 0, 0, &skipped));
    assert_eq!(import(), counts(0, 3, 0, &skipped));
    let server = Server::start_in(data);
    assert_eq!(reaction_counts(&server, "csv-1"), [1, 1, 0, 1, 0, 0]);
    let (_, turn) = server.get("/api/v1/turns/c1");
    assert_eq!(turn["user"]["text"], "sales,\nby region", "{turn}");
    assert_eq!(turn["assistant"]["response"], "North 4, \"South\" 2.", "{turn}");
}
