//! Forwarded headers of proxies and of clients that forge them.

use serde_json::json;
use tempfile::TempDir;

use crate::keys::create;
use crate::server::{Client, Server, command};

const ORIGIN: &str = "https://shop.example";
/// More requests than one address may send to a widget endpoint at once.
const MANY_REQUESTS: usize = 500;

fn start(proxies: &str) -> Server {
    start_in(tempfile::tempdir().unwrap(), proxies)
}

fn start_in(folder: TempDir, proxies: &str) -> Server {
    Server::start_with(folder, &[("UPTAKE__SERVER__TRUSTED_PROXIES", proxies)])
}

fn widget(server: &Server, key: &str, forwarded: &str) -> Client {
    let client = server.client().with_header("X-API-Key", key).with_header("Origin", ORIGIN);
    client.with_header("X-Forwarded-For", forwarded)
}

/// The status of one rating of a turn.
fn rate(client: &Client) -> u16 {
    client.post("/api/v1/turns/t1/feedback", &json!({"rating": 5})).0
}

/// True when one of many requests is refused by the rate limit.
fn is_limited(mut client: impl FnMut(usize) -> Client) -> bool {
    (0..MANY_REQUESTS).any(|number| rate(&client(number)) == 429)
}

fn create_widget_key(server: &Server) -> String {
    let key = ["--tenant", "default", "--project", "default", "--role", "widget"];
    create(server, &[&key[..], &["--origin", ORIGIN]].concat())
}

#[test]
fn server_without_keys_refuses_forwarded_requests() {
    for proxies in ["", "127.0.0.1"] {
        let mut server = start(proxies);
        for _ in 0..2 {
            for (name, value) in [
                ("X-Forwarded-For", "203.0.113.9"),
                ("X-Forwarded-For", "127.0.0.1"),
                ("Forwarded", "for=127.0.0.1"),
                ("X-Real-IP", "203.0.113.9"),
                ("X-Forwarded-Host", "feedback.example"),
            ] {
                let client = server.client().with_header(name, value);
                let (status, problem) = client.get("/api/v1/events");
                assert_eq!(status, 403, "{name}: {value}: {problem}");
                assert!(problem["detail"].as_str().unwrap().contains("keys create"), "{problem}");
                let turn = json!({"turn_id": "t1", "text": "q"});
                assert_eq!(client.post("/api/v1/turns", &turn).0, 403, "{name}: {value}");
            }
            assert_eq!(server.get("/api/v1/events").0, 200);
            server = start_in(server.kill_and_leave(), proxies);
        }
    }
}

#[test]
fn forged_forwarded_header_does_not_evade_the_limit_per_address() {
    let server = start("");
    let key = create_widget_key(&server);
    assert!(is_limited(|number| widget(&server, &key, &format!("203.0.113.{}", number % 250))));
}

#[test]
fn limit_per_address_counts_the_client_behind_a_trusted_proxy() {
    let server = start("10.0.0.0/8, 127.0.0.1");
    let key = create_widget_key(&server);
    // The client forges the left entries. The proxies append the others.
    let forge = |number: usize| format!("198.51.100.{}, 203.0.113.1, 10.0.0.7", number % 250);
    assert!(is_limited(|number| widget(&server, &key, &forge(number))));
    assert_ne!(
        rate(&widget(&server, &key, "203.0.113.2")),
        429,
        "another client has its own limit"
    );
    // Each has a /64 network of its own.
    let other = |number: usize| format!("2001:db8:0:{number:x}::1, 10.0.0.7");
    assert!(!is_limited(|number| widget(&server, &key, &other(number))));
}

#[test]
fn misspelt_network_is_refused_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path(), "127.0.0.1:0");
    command.env("UPTAKE__SERVER__TRUSTED_PROXIES", "10.0.0.0/8, proxy.internal");
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(message.contains("\"proxy.internal\", expected addresses or networks"), "{message}");
}
