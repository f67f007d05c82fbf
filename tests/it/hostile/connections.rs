//! Many connections, and slow ones.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::engine;
use crate::experiments::lab::until;
use crate::keys::create;
use crate::server::{PATIENCE, Server};

fn start(settings: &[(&str, &str)]) -> Server {
    Server::start_with(tempfile::tempdir().unwrap(), settings)
}

/// A letter now and then, until the server has had enough. Answers how many there were.
fn drip(mut connection: TcpStream) -> usize {
    let mut letters = 0;
    while connection.write_all(b"a").is_ok() {
        letters += 1;
        std::thread::sleep(Duration::from_millis(50));
        assert!(letters < 20 * 60, "it was listened to for a minute");
    }
    letters
}

#[test]
fn whoever_never_finishes_a_request_is_let_go_and_others_are_served() {
    let settings = [("UPTAKE__SERVER__MAX_CONNECTIONS", "8"), ("UPTAKE__SERVER__IDLE_SECS", "3")];
    let server = start(&settings);
    let slow: Vec<TcpStream> = (0..8)
        .map(|_| {
            let mut connection = server.connect();
            connection
                .write_all(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
                .unwrap();
            connection
        })
        .collect();
    std::thread::scope(|scope| {
        let slow: Vec<_> =
            slow.into_iter().map(|connection| scope.spawn(move || drip(connection))).collect();
        // They have all the places there are; this one waits until they are let go.
        assert_eq!(server.get("/health/live").0, 200);
        for one in slow {
            assert!(one.join().unwrap() > 0);
        }
    });
    // Those who say nothing at all, too.
    let mut silent = server.connect();
    silent.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(silent.read(&mut [0; 100]).unwrap(), 0, "closed, and not by our own patience");
}

#[test]
fn who_comes_when_all_places_are_taken_waits_for_one() {
    let server = start(&[("UPTAKE__SERVER__MAX_CONNECTIONS", "3")]);
    let mut idle: Vec<TcpStream> = (0..3).map(|_| server.connect()).collect();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| server.get("/health/live").0);
        idle.pop();
        assert_eq!(waiting.join().unwrap(), 200);
    });
}

#[test]
fn whoever_asks_and_never_reads_is_let_go_and_others_are_served() {
    let settings = [("UPTAKE__SERVER__MAX_CONNECTIONS", "5"), ("UPTAKE__SERVER__IDLE_SECS", "2")];
    let server = start(&settings);
    // Far more than lies between two programs before one of them must wait for the other.
    let asked = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(1000);
    let deaf: Vec<TcpStream> = (0..5)
        .map(|_| {
            let mut connection = server.connect();
            connection.set_write_timeout(Some(PATIENCE)).unwrap();
            // It may have had enough before all is sent.
            let _ = connection.write_all(asked.as_bytes());
            connection
        })
        .collect();
    // They have all the places there are; this one waits until they are let go.
    assert_eq!(server.get("/health/live").0, 200);
    drop(deaf);
}

#[test]
fn a_body_that_never_comes_to_its_end_is_not_waited_for_at_any_door() {
    let server = start(&[]);
    let doors = ["/api/v1/feedback", "/mcp"];
    let waiting = doors.map(|door| {
        let mut connection = server.connect();
        let head = format!(
            "POST {door} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n{{\"jsonrpc\""
        );
        connection.write_all(head.as_bytes()).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        (door, connection)
    });
    for (door, connection) in waiting {
        let mut line = String::new();
        let read = BufReader::new(connection).read_line(&mut line);
        assert!(read.is_ok(), "{door} waits for ever");
        assert!(line.starts_with("HTTP/1.1 400"), "{door}: {line}");
    }
}

#[test]
fn a_tenant_that_sends_batches_slowly_leaves_places_to_others() {
    let server = start(&[]);
    let [slow, other] =
        ["acme", "other"].map(|tenant| create(&server, &["--tenant", tenant, "--role", "ingest"]));
    let head = format!(
        "POST /api/v1/feedback/batch HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {slow}\r\n\
         Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n"
    );
    let slow: Vec<BufReader<TcpStream>> = (0..8)
        .map(|_| {
            let mut connection = server.connect();
            connection.write_all(head.as_bytes()).unwrap();
            BufReader::new(connection)
        })
        .collect();
    // Each has a place and is asked for its body, or has waited for one in vain.
    let slow: Vec<BufReader<TcpStream>> = slow
        .into_iter()
        .map(|mut connection| {
            let mut line = String::new();
            connection.read_line(&mut line).unwrap();
            assert!(line.starts_with("HTTP/1.1 100") || line.starts_with("HTTP/1.1 503"), "{line}");
            connection
        })
        .collect();
    let other = server.client().with("X-API-Key", &other);
    assert_eq!(other.post("/api/v1/feedback/batch", &serde_json::json!([])).0, 200);
    drop(slow);
}

/// So many files this process and its children may have open; raised as far as it goes.
fn raise_open_files() -> usize {
    let pid = std::process::id().to_string();
    let mut show = Command::new("prlimit");
    show.args(["--pid", &pid, "--nofile", "-o", "HARD", "--noheadings"]);
    let shown = show.output().unwrap();
    let hard = String::from_utf8(shown.stdout).unwrap().trim().to_owned();
    let raised = format!("--nofile={hard}:{hard}");
    assert!(Command::new("prlimit").args(["--pid", &pid, &raised]).status().unwrap().success());
    hard.parse().unwrap_or(usize::MAX)
}

#[test]
fn ten_thousand_connections_that_say_nothing_are_in_nobodys_way() {
    // Two of ours for each: this process has one end and other tests need files too.
    let many = (raise_open_files() / 2).min(9_500);
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    let script = "ulimit -n $(ulimit -Hn); exec \"$0\" serve --listen 127.0.0.1:0 --data \"$1\"";
    command.args(["-c", script, env!("CARGO_BIN_EXE_uptake")]).arg(folder.path());
    // Nobody is let go of before all are there, however long that takes.
    command.env("UPTAKE__SERVER__IDLE_SECS", "600");
    command.env("UPTAKE__LOG__LEVEL", "warn").stdout(Stdio::piped());
    engine::equip(&mut command, folder.path());
    let server = Server::spawn(command, folder);
    let idle: Vec<TcpStream> = (0..many).map(|_| server.connect()).collect();
    assert!(idle.len() >= 400, "only {} files may be open here", 2 * many);
    let held = connections_of(&server);
    assert!(held >= idle.len(), "it has {held} of {} connections", idle.len());
    for n in 0..20 {
        let mut rating = testkit::rating_body("t1");
        rating["id"] = serde_json::json!(format!("e{n}"));
        assert_eq!(server.post("/api/v1/feedback", &rating).0, 201);
    }
    drop(idle);
    assert_eq!(server.get("/health/ready").0, 200);
}

/// How many connections the process has taken, when it has taken all that wait.
fn connections_of(server: &Server) -> usize {
    let count = || {
        let files = std::fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap();
        files
            .filter_map(|file| std::fs::read_link(file.unwrap().path()).ok())
            .filter(|target| target.to_string_lossy().starts_with("socket:"))
            .count()
    };
    // Connections are taken in their order: when this is answered, all before it were taken.
    assert_eq!(server.get("/health/live").0, 200);
    count()
}

/// Where what is stored and what is kept in memory would part if a request ended with its client.
#[test]
fn what_was_asked_for_is_done_though_the_client_hangs_up() {
    let server = Server::start();
    let admin = create(&server, &["--tenant", "default", "--role", "admin"]);
    let keys: Vec<String> =
        (0..10).map(|_| create(&server, &["--tenant", "default", "--role", "read"])).collect();
    for key in &keys {
        let id = key.split('_').nth(1).unwrap();
        let request = format!(
            "DELETE /api/v1/keys/{id} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {admin}\r\n\r\n"
        );
        server.connect().write_all(request.as_bytes()).unwrap();
    }
    for key in keys {
        let client = server.client().with("X-API-Key", &key);
        until("the key is revoked", || client.get("/api/v1/turns/t1").0 == 401);
    }
}
