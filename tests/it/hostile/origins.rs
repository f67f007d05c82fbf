//! Web pages of other sites, open in a browser on the server's machine.

use serde_json::json;

use crate::keys::create;
use crate::server::Server;

/// Headers that a browser sends for a page of another site.
const ELSEWHERE: [(&str, &str); 5] = [
    ("Origin", "https://evil.example"),
    ("Origin", "null"),
    ("Origin", "http://127.0.0.1:1"),
    ("Sec-Fetch-Site", "cross-site"),
    ("Sec-Fetch-Site", "same-site"),
];

/// Requests without a body or with an empty one: a page may send them without a preflight.
const BY_ANY_PAGE: [&str; 6] = [
    "/api/v1/experiments/x/start",
    "/api/v1/experiments/x/complete",
    "/api/v1/routers/r/reset",
    "/api/v1/prompts/suggestions",
    "/api/v1/dead-letters/1/replay",
    "/mcp",
];

#[test]
fn other_sites_change_nothing_on_a_server_without_keys() {
    let server = Server::start();
    let arms = json!({"arms": [{"id": "a"}, {"id": "b"}]});
    let (status, reply) = server.client().put("/api/v1/routers/r", &arms);
    assert!(status < 300, "{reply}");
    let reset = "/api/v1/routers/r/reset";
    for (name, value) in ELSEWHERE {
        let page = server.client().with_header(name, value);
        for path in BY_ANY_PAGE {
            let (status, reply) = page.send(path, "text/plain", b"").unwrap();
            assert_eq!(status, 403, "{name}: {value} {path}: {reply}");
            let detail = reply["detail"].as_str().unwrap();
            assert!(detail.contains("keys create"), "it says what to do: {detail}");
        }
        assert_eq!(page.put("/api/v1/routers/r", &arms).0, 403, "{name}: {value}");
        assert_eq!(page.delete("/api/v1/demo").0, 403, "{name}: {value}");
        // A browser lets no other site read the response.
        assert_eq!(page.get("/api/v1/events").0, 200, "{name}: {value}");
    }
    // Programs, and our own pages under every name of this machine.
    let port = server.url.rsplit(':').next().unwrap();
    let by_name = format!("http://localhost:{port}");
    let own = [
        server.client(),
        server.client().with_header("Origin", &server.url),
        server
            .client()
            .with_header("Origin", &server.url)
            .with_header("Sec-Fetch-Site", "same-origin"),
        server.client().with_header("Origin", &by_name),
    ];
    for client in own {
        let (status, reply) = client.send(reset, "text/plain", b"").unwrap();
        assert!(status < 300, "{status} {reply}");
    }
}

#[test]
fn with_keys_only_the_key_decides() {
    let server = Server::start();
    let admin = create(&server, &["--tenant", "default", "--role", "admin"]);
    let page = server
        .client()
        .with_header("Origin", "https://app.example")
        .with_header("X-API-Key", &admin);
    assert_eq!(page.post("/api/v1/turns", &json!({"turn_id": "t1", "text": "q"})).0, 201);
}
