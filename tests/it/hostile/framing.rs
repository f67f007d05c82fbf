//! Ambiguous HTTP framing (request smuggling): each request gets one response and the connection closes.

use std::io::{Read, Write};
use std::time::Duration;

use serde_json::json;

use crate::server::Server;
use crate::traces::payload::gzip;

const EVENT: &str = r#"{"type":"log","source":"trace","category":"quality"}"#;

/// Everything that the server sends until it closes.
fn exchange(server: &Server, request: &[u8]) -> String {
    let mut connection = server.connect();
    connection.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // The server may close before everything is sent.
    let _ = connection.write_all(request);
    let mut answer = Vec::new();
    // Some systems report an error when unread data is left.
    if let Err(error) = connection.read_to_end(&mut answer) {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "it was not closed");
    }
    String::from_utf8_lossy(&answer).into_owned()
}

fn statuses(answer: &str) -> Vec<u16> {
    let lines = answer.split("HTTP/1.").skip(1);
    lines.map(|line| line[2..5].parse().unwrap()).collect()
}

fn post(headers: &str, body: &str) -> String {
    format!(
        "POST /api/v1/feedback HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}\r\n{body}"
    )
}

#[test]
fn smuggled_request_is_never_answered() {
    let server = Server::start();
    let hidden = "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let chunked = format!("{:x}\r\n{EVENT}\r\n0\r\n\r\n{hidden}", EVENT.len());
    let length = chunked.len();
    let both = [
        format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n"),
        format!(
            "Transfer-Encoding: chunked\r\nContent-Length: {length}\r\nConnection: keep-alive\r\n"
        ),
    ];
    for headers in &both {
        let answer = exchange(&server, post(headers, &chunked).as_bytes());
        assert_eq!(statuses(&answer), [201], "{headers}: {answer}");
    }
    let refused = [
        (format!("Content-Length: {}\r\nContent-Length: 5\r\n", EVENT.len()), EVENT.to_owned()),
        ("Content-Length: 52, 5\r\n".into(), EVENT.to_owned()),
        ("Content-Length: +52\r\n".into(), EVENT.to_owned()),
        ("Content-Length: -1\r\n".into(), EVENT.to_owned()),
        ("Content-Length: 0x34\r\n".into(), EVENT.to_owned()),
        ("Content-Length: 99999999999999999999\r\n".into(), EVENT.to_owned()),
        ("Transfer-Encoding: chunked, identity\r\n".into(), chunked.clone()),
        ("Transfer-Encoding: xchunked\r\n".into(), chunked.clone()),
        ("Transfer-Encoding: identity\r\n".into(), chunked.clone()),
        ("Transfer-Encoding : chunked\r\n".into(), chunked.clone()),
        ("Transfer-Encoding:\x0bchunked\r\n".into(), chunked.clone()),
        (" Transfer-Encoding: chunked\r\n".into(), chunked.clone()),
        ("X: a\r\n folded\r\n".into(), chunked.clone()),
        ("X: a\0b\r\n".into(), chunked.clone()),
    ];
    for (headers, body) in &refused {
        let answer = exchange(&server, post(headers, &format!("{body}{hidden}")).as_bytes());
        assert_eq!(statuses(&answer), [400], "{headers:?}: {answer}");
    }
    let old = post("Transfer-Encoding: chunked\r\n", &chunked).replacen("HTTP/1.1", "HTTP/1.0", 1);
    assert_eq!(statuses(&exchange(&server, old.as_bytes())), [400]);
    assert_eq!(server.get("/api/v1/events").1["items"].as_array().unwrap().len(), both.len());
}

#[test]
fn invalid_chunks_end_the_request() {
    let server = Server::start();
    let bodies = [
        "zz\r\n{}\r\n0\r\n\r\n",
        "-1\r\n{}\r\n0\r\n\r\n",
        "fffffffffffffffff\r\n{}\r\n0\r\n\r\n",
        "2\r\n{}garbage\r\n0\r\n\r\n",
        "2 2\r\n{}\r\n0\r\n\r\n",
        "\r\n{}\r\n0\r\n\r\n",
        "0x2\r\n{}\r\n0\r\n\r\n",
    ];
    for body in bodies {
        let answer = exchange(&server, post("Transfer-Encoding: chunked\r\n", body).as_bytes());
        assert_eq!(statuses(&answer), [400], "{body:?}: {answer}");
    }
    // A chunk with an impossible length is not waited for.
    let endless = format!("{:x}\r\n{}", 1_u64 << 40, "x".repeat(2 << 20));
    let answer = exchange(&server, post("Transfer-Encoding: chunked\r\n", &endless).as_bytes());
    assert_eq!(statuses(&answer), [413], "{answer}");
    assert_eq!(server.get("/api/v1/events").1["items"], json!([]));
}

#[test]
fn oversized_request_heads_are_refused() {
    let server = Server::start();
    let get = |more: &str| format!("GET /health/live HTTP/1.1\r\nHost: localhost\r\n{more}\r\n");
    let many: String = (0..200).map(|n| format!("X-{n}: a\r\n")).collect();
    let long = |bytes: usize| format!("X-Long: {}\r\n", "a".repeat(bytes));
    for (what, request) in [
        ("many headers", get(&many)),
        ("a long header", get(&long(200_000))),
        ("many long ones", get(&long(4000).repeat(50))),
        ("a head without end", get(&long(10_000_000))),
    ] {
        assert_eq!(statuses(&exchange(&server, request.as_bytes())), [431], "{what}");
    }
    let address = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(70_000));
    let status = statuses(&exchange(&server, address.as_bytes()));
    assert!(status == [414] || status == [431], "{status:?}");
    let fits = get(&format!("{}Connection: close\r\n", long(30_000)));
    assert_eq!(statuses(&exchange(&server, fits.as_bytes())), [200]);
}

#[test]
fn non_http_input_is_refused() {
    let server = Server::start();
    // The HTTP/2 preface.
    assert_eq!(exchange(&server, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "");
    let requests: [&[u8]; 6] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET  / HTTP/1.1\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
        b"GET /health/live\r\n\r\n",
        "GÉT / HTTP/1.1\r\n\r\n".as_bytes(),
    ];
    for request in requests {
        let status = statuses(&exchange(&server, request));
        assert_eq!(status, [400], "{}", String::from_utf8_lossy(request));
    }
    assert_eq!(server.get("/health/live").0, 200);
}

#[test]
fn compressed_bodies_other_than_gzip_are_refused() {
    let server = Server::start();
    for coding in ["deflate", "br", "zstd", "gzip, gzip"] {
        let client = server.client().with_header("Content-Encoding", coding);
        let (status, response) =
            client.send("/api/v1/feedback", "application/json", b"\x1f\x8b\x08\0\0\0\0\0").unwrap();
        assert_eq!(status, 415, "{coding}: {response}");
        assert!(response["detail"].as_str().unwrap().contains("Content-Encoding"), "{response}");
    }
    let packed = server.client().with_header("Content-Encoding", "gzip");
    let body = gzip(EVENT.as_bytes());
    assert_eq!(packed.send("/api/v1/feedback", "application/json", &body).unwrap().0, 201);
    let bomb = gzip(&vec![b' '; 2 << 20]);
    assert_eq!(packed.send("/api/v1/feedback", "application/json", &bomb).unwrap().0, 413);
    let damaged = b"\x1f\x8b\x08\0\0\0\0\0";
    assert_eq!(packed.send("/api/v1/feedback", "application/json", damaged).unwrap().0, 400);
    let plain = server.client().with_header("Content-Encoding", "identity");
    let sent = plain.send("/api/v1/feedback", "application/json", EVENT.as_bytes()).unwrap();
    assert_eq!(sent.0, 201);
}
