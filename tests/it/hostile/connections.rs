//! Many connections, and slow ones.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::engine;
use crate::experiments::experiment_calls::until;
use crate::keys::create;
use crate::server::{Server, WAIT_TIMEOUT};

fn start(settings: &[(&str, &str)]) -> Server {
    Server::start_with(tempfile::tempdir().unwrap(), settings)
}

/// Sends one byte now and then until the server closes. Returns the number of bytes.
fn send_slowly(mut connection: TcpStream) -> usize {
    let mut letters = 0;
    while connection.write_all(b"a").is_ok() {
        letters += 1;
        std::thread::sleep(Duration::from_millis(50));
        assert!(letters < 20 * 60, "it was listened to for a minute");
    }
    letters
}

#[test]
fn unfinished_requests_are_closed_and_others_are_served() {
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
        let slow: Vec<_> = slow
            .into_iter()
            .map(|connection| scope.spawn(move || send_slowly(connection)))
            .collect();
        // They hold all connections; this one waits until they are closed.
        assert_eq!(server.get("/health/live").0, 200);
        for one in slow {
            assert!(one.join().unwrap() > 0);
        }
    });
    // Connections that send nothing are closed too.
    let mut silent = server.connect();
    silent.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
    assert_eq!(silent.read(&mut [0; 100]).unwrap(), 0, "closed, and not by our own patience");
}

#[test]
fn connection_over_the_limit_waits() {
    let server = start(&[("UPTAKE__SERVER__MAX_CONNECTIONS", "3")]);
    let mut idle: Vec<TcpStream> = (0..3).map(|_| server.connect()).collect();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| server.get("/health/live").0);
        idle.pop();
        assert_eq!(waiting.join().unwrap(), 200);
    });
}

#[test]
fn clients_that_never_read_are_closed_and_others_are_served() {
    let settings = [("UPTAKE__SERVER__MAX_CONNECTIONS", "5"), ("UPTAKE__SERVER__IDLE_SECS", "2")];
    let server = start(&settings);
    // Far more than the socket buffers hold.
    let asked = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(1000);
    let deaf: Vec<TcpStream> = (0..5)
        .map(|_| {
            let mut connection = server.connect();
            connection.set_write_timeout(Some(WAIT_TIMEOUT)).unwrap();
            // The server may close before everything is sent.
            let _ = connection.write_all(asked.as_bytes());
            connection
        })
        .collect();
    // They hold all connections; this one waits until they are closed.
    assert_eq!(server.get("/health/live").0, 200);
    drop(deaf);
}

#[test]
fn unfinished_bodies_time_out_on_every_endpoint() {
    let server = start(&[]);
    let doors = ["/api/v1/feedback", "/mcp"];
    let waiting = doors.map(|door| {
        let mut connection = server.connect();
        let head = format!(
            "POST {door} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n{{\"jsonrpc\""
        );
        connection.write_all(head.as_bytes()).unwrap();
        connection.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
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
fn slow_batches_of_one_tenant_leave_slots_for_others() {
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
    // Each holds a slot and was asked for its body, or has waited in vain.
    let slow: Vec<BufReader<TcpStream>> = slow
        .into_iter()
        .map(|mut connection| {
            let mut line = String::new();
            connection.read_line(&mut line).unwrap();
            assert!(line.starts_with("HTTP/1.1 100") || line.starts_with("HTTP/1.1 503"), "{line}");
            connection
        })
        .collect();
    let other = server.client().with_header("X-API-Key", &other);
    assert_eq!(other.post("/api/v1/feedback/batch", &serde_json::json!([])).0, 200);
    drop(slow);
}

/// Raises the limit of open files as far as possible and returns it.
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
fn ten_thousand_idle_connections_do_not_affect_others() {
    // Two files per connection: this process holds one end, and other tests need files too.
    let many = (raise_open_files() / 2).min(9_500);
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    let script = "ulimit -n $(ulimit -Hn); exec \"$0\" serve --listen 127.0.0.1:0 --data \"$1\"";
    command.args(["-c", script, env!("CARGO_BIN_EXE_uptake")]).arg(folder.path());
    // No connection is closed before all are open.
    command.env("UPTAKE__SERVER__IDLE_SECS", "600");
    command.env("UPTAKE__LOG__LEVEL", "warn").stdout(Stdio::piped());
    engine::equip(&mut command, folder.path());
    let server = Server::spawn(command, folder);
    let idle: Vec<TcpStream> = (0..many).map(|_| server.connect()).collect();
    assert!(idle.len() >= 400, "only {} files may be open here", 2 * many);
    let held = count_connections(&server);
    assert!(held >= idle.len(), "it has {held} of {} connections", idle.len());
    for n in 0..20 {
        let mut rating = testkit::rating_body("t1");
        rating["id"] = serde_json::json!(format!("e{n}"));
        assert_eq!(server.post("/api/v1/feedback", &rating).0, 201);
    }
    drop(idle);
    assert_eq!(server.get("/health/ready").0, 200);
}

/// Number of connections that the process has accepted, once all are accepted.
fn count_connections(server: &Server) -> usize {
    let count = || {
        let files = std::fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap();
        files
            .filter_map(|file| std::fs::read_link(file.unwrap().path()).ok())
            .filter(|target| target.to_string_lossy().starts_with("socket:"))
            .count()
    };
    // Connections are accepted in order: when this one is answered, all before it were accepted.
    assert_eq!(server.get("/health/live").0, 200);
    count()
}

/// Memory and store would diverge if a request ended with its client.
#[test]
fn request_completes_after_the_client_disconnects() {
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
        let client = server.client().with_header("X-API-Key", &key);
        until("the key is revoked", || client.get("/api/v1/turns/t1").0 == 401);
    }
}
