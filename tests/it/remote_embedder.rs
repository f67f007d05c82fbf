//! A remote embedder is used first; the built-in model is the fallback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::conversation_calls::{TestConversation, search_strategies};
use crate::server::{Server, uptake};

/// Answers one request with this status and body, at once or after the caller has given up. Returns its
/// address.
fn start_embedder(
    status: &'static str,
    body: String,
    is_slow: bool,
) -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let handle = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
            head.push_str(&line);
        }
        let mut sent = vec![0; length];
        reader.read_exact(&mut sent).unwrap();
        if is_slow {
            // Until the caller has closed the connection.
            let _ = reader.read_to_end(&mut Vec::new());
        }
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        // The caller of the slow embedder has gone.
        let _ = reader.get_mut().write_all(answer.as_bytes());
        format!("{head}{}", String::from_utf8_lossy(&sent))
    });
    (address, handle)
}

/// Answers every request: texts with "alpha" get one direction, others another.
fn start_permanent_embedder() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let mut length = 0;
            let mut line = String::new();
            while reader.read_line(&mut line).unwrap_or(0) > 2 {
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut sent = vec![0; length];
            reader.read_exact(&mut sent).unwrap();
            let alpha = String::from_utf8_lossy(&sent).contains("alpha");
            let values = if alpha { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
            let body = json!({"data": [{"index": 0, "embedding": values}]}).to_string();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    address
}

#[test]
fn strategies_are_ranked_by_remote_vectors_stored_in_the_log() {
    let url = start_permanent_embedder();
    let settings = [
        ("UPTAKE__EMBED__URL", url.as_str()),
        ("UPTAKE__EMBED__MODEL", "tiny"),
        ("UPTAKE__EMBED__TIMEOUT_MS", PATIENT),
    ];
    let server = Server::start_with(tempfile::tempdir().unwrap(), &settings);
    for (turn, text) in [("t1", "How do I water an alpha orchid?"), ("t2", "What do tyres cost?")] {
        let talk = TestConversation::new(&server, turn, turn);
        talk.send(turn, text, &json!({}));
        talk.answer_with_query(turn, "Like this, and it costs 20 dollars.", "q");
    }
    let search = json!({"query": "alpha", "min_similarity": 0.9});
    assert_eq!(
        search_strategies(&server, &search),
        ["t1"],
        "the built-in model sees no likeness here"
    );
    let log = server.get("/api/v1/events?type=quality&source=engine").1;
    let kept = log["items"].as_array().unwrap().iter().filter(|e| e["data"]["finding"] == "vector");
    assert_eq!(kept.count(), 2);
    let (_, folder) = server.stop();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}");
    let server = Server::start_with(folder, &settings);
    while server.post("/api/v1/strategies/search", &search).1["search"]["complete"] != true {}
    assert_eq!(search_strategies(&server, &search), ["t1"]);
    // Without it nothing fails: the built-in model answers, and its vectors are not compared.
    let away = [("UPTAKE__EMBED__URL", "http://127.0.0.1:1/v1"), ("UPTAKE__EMBED__MODEL", "tiny")];
    let server = Server::start_with(server.kill_and_leave(), &away);
    let talk = TestConversation::new(&server, "t3", "t3");
    talk.send("t3", "How do I water an alpha orchid?", &json!({"include": ["strategies"]}));
    talk.answer_with_query("t3", "Like this.", "q");
    let again = json!({"query": "How do I water an alpha orchid?"});
    assert_eq!(search_strategies(&server, &again), ["t3"]);
}

/// In milliseconds; enough for a busy machine.
const PATIENT: &str = "60000";

fn run_embed(url: &str, key_file: &str, timeout_ms: &str) -> (Value, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_uptake"))
        .args(["score", "--task", "embed"])
        .env("UPTAKE__EMBED__URL", url)
        .env("UPTAKE__EMBED__MODEL", "tiny")
        .env("UPTAKE__EMBED__KEY_FILE", key_file)
        .env("UPTAKE__EMBED__TIMEOUT_MS", timeout_ms)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"{\"text\":\"hello\"}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    (serde_json::from_slice(&output.stdout).unwrap(), stderr)
}

#[test]
fn remote_vectors_carry_the_model_name() {
    let folder = tempfile::TempDir::new().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, "secret-key\n").unwrap();
    let body = json!({"data": [{"index": 0, "embedding": [3.0, 4.0]}]}).to_string();
    let (url, asked) = start_embedder("200 OK", body, false);
    let (row, stderr) = run_embed(&url, key.to_str().unwrap(), PATIENT);
    assert_eq!((&row["model"], &row["vector"]), (&json!("tiny"), &json!([0.6f32, 0.8f32])));
    let asked = asked.join().unwrap();
    assert!(asked.starts_with("POST /v1/embeddings "), "{asked}");
    assert!(asked.contains("Bearer secret-key") && asked.contains("\"hello\""), "{asked}");
    assert!(!stderr.contains("secret-key") && !stderr.contains("hello"), "{stderr}");
}

#[test]
fn built_in_model_replaces_a_failing_wrong_or_slow_embedder() {
    let good = json!({"data": [{"index": 0, "embedding": [3.0, 4.0]}]}).to_string();
    let cases = [
        ("500 Internal Server Error", "{}".to_owned(), false),
        ("200 OK", json!({"data": []}).to_string(), false),
        ("200 OK", "not json".to_owned(), false),
        ("200 OK", good, true),
    ];
    for (status, body, is_slow) in cases {
        let (url, asked) = start_embedder(status, body, is_slow);
        let (row, stderr) = run_embed(&url, "", if is_slow { "400" } else { PATIENT });
        assert_eq!(row["vector"].as_array().unwrap().len(), 256);
        assert_eq!(row["model"], "uptake-static-1");
        assert!(stderr.contains("remote embedding failed; using the built-in model"), "{stderr}");
        asked.join().unwrap();
    }
    let (row, _) = run_embed("http://127.0.0.1:1/v1", "", PATIENT);
    assert_eq!(row["model"], "uptake-static-1");
}
