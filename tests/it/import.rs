//! Chat logs through `uptake import`.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scan::{ASKED, all_formats, write_file};
use crate::server::{Server, uptake};

#[test]
fn chat_log_is_imported_once_and_served() {
    let expected = |imported: u64, replayed: u64| -> Value {
        json!({"imported": imported, "replayed": replayed, "rejected": 0, "empty": 0})
    };
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
    let expected = json!({"imported": 0, "replayed": 0, "rejected": 0, "empty": 2});
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
