//! MCP tools, called with the protocol's official client library.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::engine;
use crate::server::{Server, uptake};

/// A client process connected to one server.
struct Agent {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Agent {
    fn start(way: &[&str]) -> Self {
        let found =
            Command::new("scripts/python-with").args(["mcp", "mcp==2.3.0"]).output().unwrap();
        let said = String::from_utf8_lossy(&found.stderr);
        assert!(found.status.success(), "no Python with the client could be made: {said}");
        let python = String::from_utf8(found.stdout).unwrap();
        let mut process = Command::new(python.trim())
            .arg("tests/it/mcp_client.py")
            .args(way)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = process.stdin.take();
        let from = BufReader::new(process.stdout.take().unwrap());
        Self { process, to, from }
    }

    fn over_stdio(folder: &Path, more: &[&str]) -> Self {
        let folder = folder.to_str().unwrap();
        // The client passes almost nothing of its environment to its server.
        let setting = engine::setting(Path::new(folder));
        let setting = setting.as_ref().map(|(name, value)| format!("{name}={value}"));
        let way = ["stdio", "env"].into_iter().chain(setting.as_deref());
        let way = way.chain([env!("CARGO_BIN_EXE_uptake"), "mcp", "--data", folder]);
        Self::start(&way.chain(more.iter().copied()).collect::<Vec<_>>())
    }

    fn over_http(server: &Server, key: Option<&str>) -> Self {
        let url = format!("{}/mcp", server.url);
        let way: Vec<&str> = ["http", &url].into_iter().chain(key).collect();
        Self::start(&way)
    }

    fn ask(&mut self, line: &Value) -> Value {
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
        let mut answer = String::new();
        self.from.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{line} was answered {answer:?}"))
    }

    /// The result of a tool call that must succeed.
    #[track_caller]
    fn call_tool(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask(&json!({"tool": tool, "arguments": arguments}));
        assert_eq!(answer["error"], false, "{tool} {arguments}: {answer}");
        answer["value"].clone()
    }

    /// The error of a tool call that must fail.
    #[track_caller]
    fn call_failing_tool(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.ask(&json!({"tool": tool, "arguments": arguments}));
        assert_eq!(answer["error"], true, "{tool} {arguments}: {answer}");
        answer["value"].as_str().unwrap().to_owned()
    }

    /// Closes the server's input, as a client does, and waits.
    fn leave(mut self) {
        drop(self.to.take());
        assert!(self.process.wait().unwrap().success());
    }

    fn multipliers(&mut self) -> Vec<(String, f64)> {
        let results = json!([{"entity_id": "ignored", "score": 1.0}, {"entity_id": "used", "score": 1.0},
            {"entity_id": "unknown", "score": 1.0}]);
        let answer = self.call_tool("rerank", &json!({ "results": results }));
        let read = |result: &Value| {
            (
                result["entity_id"].as_str().unwrap().to_owned(),
                result["multiplier"].as_f64().unwrap(),
            )
        };
        answer["results"].as_array().unwrap().iter().map(read).collect()
    }

    /// Five searches whose answer used one of two items.
    fn send_five_answers(&mut self) {
        for n in 0..5 {
            let report = json!({
                "query_id": format!("q{n}"),
                "query": "How do users log in?",
                "response": "Call LoginService with the user's name.",
                "entities": [{"entity_id": "used", "name": "LoginService"},
                    {"entity_id": "ignored", "name": "BillingQueue"}],
            });
            for _ in 0..2 {
                let response = self.call_tool("record_usage", &report);
                assert_eq!(response["signals"][0]["signal"], "used", "{response}");
                assert_eq!(response["signals"][1]["signal"], "ignored", "{response}");
            }
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Most clients have left; the one of a failed test has not.
        drop(self.to.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn learned_multipliers() -> Vec<(String, f64)> {
    [("used", 1.5), ("unknown", 1.0), ("ignored", 0.5)].map(|(id, m)| (id.to_owned(), m)).into()
}

#[test]
fn stdio_tools_rank_used_items_higher_for_other_agents_and_after_a_kill() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("not").join("yet");
    let mut agent = Agent::over_stdio(&data, &[]);
    agent.send_five_answers();
    assert_eq!(agent.multipliers(), learned_multipliers(), "a report sent twice counts once");

    // A second agent finds the first one serving the folder.
    let mut second = Agent::over_stdio(&data, &[]);
    assert_eq!(second.multipliers(), learned_multipliers());
    let holder = std::fs::read_to_string(data.join("lock")).unwrap();
    let pid: u32 =
        holder.lines().next().unwrap().strip_prefix("process ").unwrap().parse().unwrap();
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    drop(agent);
    // A killed process holds the lock until the system has cleaned up.
    let lock = std::fs::File::open(data.join("lock")).unwrap();
    while lock.try_lock_shared().is_err() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    drop(lock);
    second.call_tool("mark_not_helpful", &json!({"query_id": "q1", "entity_id": "used"}));
    assert_eq!(second.multipliers()[0], ("used".to_owned(), 1.35), "one opinion and no restart");
    second.leave();

    // Another project is not affected.
    let mut other = Agent::over_stdio(&data, &["--project", "other"]);
    assert!(other.multipliers().iter().all(|(_, multiplier)| *multiplier == 1.0));
    other.leave();
}

#[test]
fn mcp_process_releases_the_folder_to_a_server_and_stops_on_a_signal() {
    let folder = TempDir::new().unwrap();
    let mut agent = Agent::over_stdio(folder.path(), &[]);
    agent.send_five_answers();
    // The agent serves the folder as a side task; a server started later gets it.
    let server = Server::start_in(folder);
    assert_eq!(agent.multipliers(), learned_multipliers(), "the agent asks the server now");
    let stats = server.get("/api/v1/retrieval/entities/used/stats").1;
    assert_eq!(stats["usedCount"], 5);
    let (_, folder) = server.stop();
    assert_eq!(agent.multipliers(), learned_multipliers(), "and takes over again");
    agent.leave();

    // A process with open input ends on a signal, and one without input by itself.
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_uptake"));
        engine::equip(&mut command, folder.path());
        let mut process = command
            .args(["mcp", "--data"])
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        while holder(folder.path()) != Some(process.id()) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        (process, input)
    };
    let (mut process, input) = start();
    assert!(Command::new("kill").arg(process.id().to_string()).status().unwrap().success());
    assert_eq!(process.wait().unwrap().code(), Some(0));
    drop(input);
    let (mut process, input) = start();
    drop(input);
    assert_eq!(process.wait().unwrap().code(), Some(0));
}

/// The process that serves a folder.
fn holder(folder: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(folder.join("lock")).ok()?;
    let serves = text.lines().nth(1).is_some_and(|line| line.starts_with("url "));
    let process = text.lines().next()?.strip_prefix("process ")?.parse().ok();
    process.filter(|_| serves)
}

#[test]
fn http_tools_rank_used_items_higher_after_a_restart() {
    let server = Server::start();
    let mut agent = Agent::over_http(&server, None);
    agent.send_five_answers();
    assert_eq!(agent.multipliers(), learned_multipliers());
    agent.leave();

    let server = server.kill_and_restart();
    let mut agent = Agent::over_http(&server, None);
    assert_eq!(agent.multipliers(), learned_multipliers());
    agent.call_tool(
        "mark_not_helpful",
        &json!({"query_id": "q1", "entity_id": "used", "comment": null}),
    );
    assert_eq!(agent.multipliers()[0], ("used".to_owned(), 1.35));
    agent.call_tool("mark_helpful", &json!({"query_id": "q1", "entity_id": "used"}));
    assert_eq!(agent.multipliers()[0], ("used".to_owned(), 1.6), "the last word stands");
    agent.leave();
}

#[test]
fn tools_and_api_share_turns_feedback_and_strategies() {
    let server = Server::start();
    let turn = json!({"conversation_id": "c1", "user_id": "u1", "turn_id": "t1", "text": "laptops under $1000",
        "response": "Here are three.", "strategy": {"name": "commerce_search", "params": {"query": "laptops"}}});
    assert_eq!(server.post("/api/v1/turns", &turn).0, 201);
    let mut agent = Agent::over_http(&server, None);
    let said =
        json!({"turn_id": "t1", "rating": "positive", "comment": "just right", "id": "mine"});
    assert_eq!(agent.call_tool("submit_feedback", &said)["accepted"], 2);
    assert_eq!(agent.call_tool("submit_feedback", &said)["replayed"], 2);
    let found = agent.call_tool("strategies", &json!({"query": "laptops under $900"}));
    assert_eq!(found["strategies"][0]["turn_id"], "t1", "{found}");
    assert_eq!(found["strategies"][0]["status"], "accepted", "{found}");
    let found = agent.call_tool("examples", &json!({"query": "laptops under $900"}));
    assert_eq!(found["examples"][0]["output_text"], "Here are three.", "{found}");
    let wrong = agent.call_failing_tool("examples", &json!({"query": "laptops", "k": 0}));
    assert!(wrong.contains("k is 0"), "{wrong}");

    let wrong = agent.call_failing_tool("submit_feedback", &json!({"turn_id": "t1"}));
    assert!(wrong.contains("rating"), "{wrong}");
    for (tool, arguments) in [
        ("mark_helpful", json!({"query_id": "q", "entity_id": "e", "helpful": false})),
        (
            "record_usage",
            json!({"query_id": "q", "entities": [{"entity_id": "e", "name": "Xylo"}]}),
        ),
        (
            "record_usage",
            json!({"query_id": "q", "response": "x", "kind": "song",
            "entities": [{"entity_id": "e", "name": "Xylo"}]}),
        ),
    ] {
        agent.call_failing_tool(tool, &arguments);
    }
    let usage = json!({"query_id": "q", "response": "Xylo"});
    assert_eq!(
        agent.call_tool("record_usage", &usage),
        json!({"signals": [], "pending": true}),
        "nothing was stored before"
    );
    let wrong = agent.call_failing_tool("rerank", &json!({"results": "e1"}));
    assert!(wrong.contains("results"), "{wrong}");
    agent.leave();
}

#[test]
fn every_tool_is_listed_with_its_schema() {
    let server = Server::start();
    let mut agent = Agent::over_http(&server, None);
    let tools = agent.ask(&json!({"list": true}));
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected = [
        "rerank",
        "record_usage",
        "mark_helpful",
        "mark_not_helpful",
        "strategies",
        "examples",
        "submit_feedback",
    ];
    assert_eq!(names, expected);
    for tool in tools.as_array().unwrap() {
        assert!(tool["description"].as_str().unwrap().len() > 80, "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
    agent.leave();
}

fn create_key(server: &Server, arguments: &[&str]) -> String {
    let all = [&["keys", "create", "--json"], arguments].concat();
    let (code, out, err) = uptake(server.folder(), &all);
    assert_eq!(code, Some(0), "{err}");
    let made: Value = serde_json::from_str(&out).unwrap();
    made["key"].as_str().unwrap().to_owned()
}

#[test]
fn tools_enforce_api_keys() {
    let server = Server::start();
    let key = |arguments: &[&str]| create_key(&server, arguments);
    let ingest = key(&["--tenant", "one", "--role", "ingest"]);
    let read = key(&["--tenant", "one", "--role", "read"]);
    let other = key(&["--tenant", "two", "--role", "admin"]);

    let mut writer = Agent::over_http(&server, Some(&ingest));
    writer.send_five_answers();
    assert_eq!(writer.multipliers(), learned_multipliers());
    writer.leave();
    let mut reader = Agent::over_http(&server, Some(&read));
    assert_eq!(reader.multipliers(), learned_multipliers());
    let refused =
        reader.call_failing_tool("mark_helpful", &json!({"query_id": "q1", "entity_id": "used"}));
    assert!(refused.contains("the role read, expected"), "{refused}");
    reader.leave();
    let mut stranger = Agent::over_http(&server, Some(&other));
    assert!(stranger.multipliers().iter().all(|(_, multiplier)| *multiplier == 1.0));
    stranger.leave();
    // A tenant's key with a project from a flag, or from a header.
    let mut elsewhere = Agent::over_stdio(server.folder(), &["--key", &ingest, "--project", "p9"]);
    assert!(elsewhere.multipliers().iter().all(|(_, multiplier)| *multiplier == 1.0));
    elsewhere.call_tool("mark_helpful", &json!({"query_id": "q1", "entity_id": "used"}));
    elsewhere.leave();
    let of_p9 = server.client().with_header("Authorization", &format!("Bearer {read}"));
    let of_p9 = of_p9.with_header("X-Uptake-Project", "p9");
    assert_eq!(of_p9.get("/api/v1/retrieval/entities/used/stats").1["positiveCount"], 1);
    // Over stdio with a key instead of the owner's rights.
    let mut by_key = Agent::over_stdio(server.folder(), &["--key", &read]);
    assert_eq!(by_key.multipliers(), learned_multipliers());
    by_key.call_failing_tool("mark_helpful", &json!({"query_id": "q1", "entity_id": "used"}));
    by_key.leave();
}

#[test]
fn tool_requests_are_checked_and_counted_once() {
    let server = Server::start();
    let read = create_key(&server, &["--tenant", "one", "--role", "read"]);
    let widget = create_key(&server, &["--tenant", "one", "--role", "widget"]);
    // A tool call counts once against the key's rate.
    let limited = create_key(&server, &["--tenant", "one", "--role", "ingest", "--rate", "5"]);
    let limited = server
        .client()
        .with_header("Authorization", &format!("Bearer {limited}"))
        .with_header("Accept", "application/json, text/event-stream");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "rerank", "arguments": {"results": []}}});
    let passed = (0..5).filter(|_| {
        let (status, answer) = limited.post("/mcp", &call);
        status == 200 && answer["result"]["isError"] == false
    });
    assert_eq!(passed.count(), 5);
    let odd = server.client().with_header("Authorization", &format!("Bearer {read}"));
    let odd = odd.with_header("Accept", "application/json, text/event-stream");
    for (media, body, status) in [
        ("application/json", "{", 400),
        ("application/json", "[]", 400),
        ("text/plain", "{}", 415),
        ("application/json", &*format!("{{\"x\": \"{}\"}}", "y".repeat(2 << 20)), 413),
    ] {
        // A server that refuses the body may close before the client has sent all of it.
        let sent = (0..10).find_map(|_| odd.send("/mcp", media, body.as_bytes()).ok());
        let (found, answer) = sent.unwrap();
        assert_eq!(found, status, "{answer}");
        assert_eq!(answer["status"], status, "{answer}");
    }
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    for (client, status) in [
        (server.client(), 401),
        (server.client().with_header("Authorization", "Bearer uk_x_y"), 401),
        (server.client().with_header("X-API-Key", &widget), 403),
    ] {
        assert_eq!(client.post("/mcp", &hello).0, status);
    }
}
