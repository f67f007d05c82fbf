//! The commands `export`, `rebuild` and `import`, and their errors.

use serde_json::{Value, json};
use testkit::rating_body;

use crate::feedback_calls::{react, turn};
use crate::server::{Server, uptake};

#[test]
fn export_works_with_and_without_a_running_server() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    react(&server, "c1", "t1", &json!({"reaction": "ok", "text": "fine"}));
    let acme = server.client().with_header("X-Uptake-Tenant", "acme");
    assert_eq!(acme.post("/api/v1/feedback", &rating_body("t9")).0, 201);
    let shown = server.get("/api/v1/events").1["items"].clone();
    let check = |folder: &std::path::Path| {
        let (code, out, err) = uptake(folder, &["export"]);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        let lines: Vec<Value> =
            out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 5);
        assert_eq!(Value::Array(lines[..4].to_vec()), shown);
        assert_eq!(lines[4]["tenant_id"], "acme");
    };
    check(server.folder());
    let (_, folder) = server.stop();
    check(folder.path());
    let file = folder.path().join("out.jsonl");
    let arguments = ["export", "--after", "4", "--json", "--output", file.to_str().unwrap()];
    let (code, out, _) = uptake(folder.path(), &arguments);
    assert_eq!(
        (code, serde_json::from_str::<Value>(&out).unwrap()["events"].clone()),
        (Some(0), json!(1))
    );
    assert_eq!(std::fs::read_to_string(file).unwrap().lines().count(), 1);
}

#[test]
fn rebuild_changes_no_projection() {
    let server = Server::start();
    // A rating before its turn and with the wrong conversation, replaced, cleared, plus machine reactions.
    let mut astray = rating_body("t1");
    astray["session_id"] = json!("elsewhere");
    assert_eq!(server.post("/api/v1/feedback", &astray).0, 201);
    turn(&server, "c1", "t1");
    turn(&server, "c1", "t2");
    for (turn, reaction) in [("t1", "ok"), ("t1", "not_ok"), ("t2", "ok")] {
        react(&server, "c1", turn, &json!({"reaction": reaction}));
        let machine = json!({"reaction": reaction, "origin": "machine", "confidence": 0.9});
        react(&server, "c1", turn, &machine);
    }
    react(&server, "c1", "t2", &json!({"reaction": null}));
    // More digits than a float has: the stored value must be the one that is read.
    let precise = br#"{"reaction":"ok","origin":"machine","confidence":0.99227380070639580683}"#;
    let path = crate::feedback_calls::react_path("c1", "t2");
    assert_eq!(server.client().send(&path, "application/json", precise).unwrap().0, 200);
    server.post("/api/v1/decisions", &json!({"decision_id": "d1", "decision_type": "x"}));
    let path = "/conversations/default/default/feedback/conversations-in-period";
    let window = json!({"start": "2026-01-01T00:00:00Z", "end": "2036-01-01T00:00:00Z",
        "include_turns": true});
    let before = server.post(path, &window);
    let (_, folder) = server.stop();
    let (code, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert_eq!((code, out.as_str()), (Some(0), "{\"changed\":false,\"events\":18}\n"));
    let server = Server::start_in(folder);
    assert_eq!(server.post(path, &window), before);
    assert_eq!(server.get("/api/v1/decisions/d1").0, 200);
}

#[test]
fn failing_commands_print_the_next_step() {
    let server = Server::start();
    let (code, _, err) = uptake(server.folder(), &["rebuild"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("stop its server first") && err.contains("process "), "{err}");
    let empty = tempfile::tempdir().unwrap();
    for command in ["rebuild", "export"] {
        let (code, _, err) = uptake(empty.path(), &[command]);
        assert_eq!(code, Some(1));
        assert!(err.contains("there is no store in"), "{err}");
    }
    for command in [&["report"][..], &["routers", "show"], &["keys", "list"], &["demo", "--remove"]]
    {
        let (code, _, err) = uptake(empty.path(), command);
        assert_eq!(code, Some(1), "{command:?}: {err}");
        assert!(err.contains("--data") && err.contains("there is no store in"), "{err}");
    }
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0, "nothing was created");
    assert_eq!(uptake(empty.path(), &["nonsense"]).0, Some(2));
}

#[test]
fn imported_log_equals_the_exported_one() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    for reaction in ["ok", "not_ok"] {
        react(&server, "c1", "t1", &json!({"reaction": reaction, "text": "words"}));
    }
    server.client().put("/api/v1/users/u1", &json!({"attributes": {"plan": "pro"}}));
    let acme = server.client().with_header("X-Uptake-Tenant", "acme");
    assert_eq!(acme.post("/api/v1/feedback", &rating_body("t9")).0, 201);
    server.post("/api/v1/decisions", &json!({"decision_id": "d1", "decision_type": "x"}));
    let file = server.folder().join("log.jsonl");
    let path = file.to_str().unwrap();
    assert_eq!(uptake(server.folder(), &["export", "--output", path]).0, Some(0));
    let elsewhere = tempfile::tempdir().unwrap();
    let import = || uptake(elsewhere.path(), &["import", path, "--json"]);
    let first = import();
    assert_eq!(
        first.1, "{\"empty\":0,\"imported\":8,\"rejected\":0,\"replayed\":0,\"skipped\":{}}\n",
        "{}",
        first.2
    );
    assert_eq!(
        import().1,
        "{\"empty\":0,\"imported\":0,\"rejected\":0,\"replayed\":8,\"skipped\":{}}\n"
    );
    let copy = Server::start_in(elsewhere);
    for path in ["/api/v1/events", "/api/v1/turns/t1", "/api/v1/users/u1", "/api/v1/decisions/d1"] {
        assert_eq!(copy.get(path), server.get(path), "{path}");
    }
    // An imported turn counts as stored: sending it again is a replay.
    let again = json!({"turn_id": "t1", "conversation_id": "c1", "user_id": "u1",
        "text": "What is the answer?", "response": "42", "model": "m1"});
    assert_eq!(copy.post("/api/v1/turns", &again).1["replayed"], true);
    let (_, folder) = server.stop();
    let into_itself = uptake(folder.path(), &["import", path, "--json"]);
    assert_eq!(
        into_itself.1,
        "{\"empty\":0,\"imported\":0,\"rejected\":0,\"replayed\":8,\"skipped\":{}}\n",
        "{}",
        into_itself.2
    );
}

#[test]
fn invalid_lines_are_reported_by_number_and_the_rest_is_imported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mixed.jsonl");
    let good = rating_body("t1").to_string();
    let lines = ["{", "[]", "", &good, "{\"type\": \"log\"}", "{\"source\": \"reaction\"}"];
    std::fs::write(&file, lines.join("\n")).unwrap();
    let (code, out, err) = uptake(folder.path(), &["import", file.to_str().unwrap(), "--json"]);
    assert_eq!(code, Some(1));
    assert_eq!(out, "{\"empty\":0,\"imported\":1,\"rejected\":4,\"replayed\":0,\"skipped\":{}}\n");
    for number in [1, 2, 5, 6] {
        assert!(err.contains(&format!("mixed.jsonl:{number}: ")), "{err}");
    }
    assert!(err.contains("the line is not JSON") && err.contains("source"), "{err}");
}
