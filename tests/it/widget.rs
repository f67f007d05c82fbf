//! The feedback widget: the file, its role, and its use in a browser on another site.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::feedback_calls::turn;
use crate::keys::create;
use crate::server::Server;

/// Status, headers and body of a plain request.
fn fetch(server: &Server, headers: &[(&str, &str)]) -> (u16, ureq::http::HeaderMap, String) {
    let mut request = ureq::http::Request::builder().uri(format!("{}/widget.js", server.url));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let mut response = agent.run(request.body(()).unwrap()).unwrap();
    let body = response.body_mut().read_to_string().unwrap();
    (response.status().as_u16(), response.headers().clone(), body)
}

#[test]
fn widget_file_is_small_cached_and_cross_origin() {
    let server = Server::start();
    create(&server, &["--tenant", "default", "--role", "admin"]);
    let (status, headers, body) = fetch(&server, &[("Origin", "https://anybody.example")]);
    assert_eq!(status, 200, "without a key");
    assert!(body.len() < 6000, "{}", body.len());
    let header = |name: &str| headers[name].to_str().unwrap().to_owned();
    assert!(header("content-type").starts_with("text/javascript"));
    assert_eq!(header("access-control-allow-origin"), "*");
    assert_eq!(header("cross-origin-resource-policy"), "cross-origin");
    assert!(header("cache-control").contains("max-age=3600"));
    let tag = header("etag");
    let (status, headers, body) = fetch(&server, &[("If-None-Match", &format!("W/{tag}"))]);
    assert_eq!((status, body.as_str()), (304, ""));
    assert_eq!(headers["etag"].to_str().unwrap(), tag);
    assert_eq!(fetch(&server, &[("If-None-Match", "\"other\"")]).0, 200);
}

#[test]
fn widget_key_stores_once_from_its_origin_and_cannot_read() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let page = "https://shop.example";
    let key = create(&server, &["--tenant", "default", "--role", "widget", "--origin", page]);
    let admin = create(&server, &["--tenant", "default", "--role", "admin"]);
    let from = |origin: &str, id: &str| {
        let client = server.client().with_header("X-API-Key", &key).with_header("Origin", origin);
        client.with_header("Idempotency-Key", id)
    };
    let copied = json!({"type": "interaction", "source": "user_interaction",
        "category": "user_satisfaction", "message_id": "t1", "session_id": "c1",
        "data": {"kind": "copy"}});
    assert_eq!(from(page, "w-1").post("/api/v1/feedback", &copied).0, 201);
    assert_eq!(from(page, "w-1").post("/api/v1/feedback", &copied).0, 200, "a repeat");
    assert_eq!(from("https://evil.example", "w-2").post("/api/v1/feedback", &copied).0, 403);
    assert_eq!(from(page, "w-3").get("/api/v1/turns/t1").0, 403);
    let allowed = |method: &str, path: &str| server.allowed_origin(method, path, page);
    assert_eq!(allowed("OPTIONS", "/api/v1/feedback"), (204, Some(page.to_owned())));
    for path in ["/api/v1/turns", "/api/v1/feedback/batch", "/api/v1/keys", "/api/v1/demo"] {
        assert_eq!(allowed("OPTIONS", path).1, None, "{path}");
    }
    assert_eq!(interaction_kinds(&server, &admin), ["copy"]);
}

/// The kinds of the stored interactions, in order.
fn interaction_kinds(server: &Server, key: &str) -> Vec<String> {
    let client = server.client().with_header("X-API-Key", key);
    let found = client.get("/api/v1/events?source=user_interaction&limit=100").1;
    let kind = |event: &Value| event["data"]["kind"].as_str().unwrap().to_owned();
    found["items"].as_array().unwrap().iter().map(kind).collect()
}

#[test]
fn widget_sends_feedback_from_a_page_on_another_site() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    turn(&server, "c1", "t2");
    let python = Command::new("scripts/python-with")
        .args(["browser", "playwright==1.65.0"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&python.stderr);
    assert!(python.status.success(), "no Python with a browser's driver could be made: {said}");
    let python = String::from_utf8(python.stdout).unwrap();
    let mut browser = Command::new(python.trim())
        .args(["tests/it/widget_client.py", &server.url])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(browser.stdout.take().unwrap()).lines();
    let origin = lines.next().unwrap().unwrap();
    let origin = origin.strip_prefix("origin ").unwrap();
    let key = create(&server, &["--tenant", "default", "--role", "widget", "--origin", origin]);
    let admin = create(&server, &["--tenant", "default", "--role", "admin"]);
    writeln!(browser.stdin.take().unwrap(), "{key}").unwrap();
    let seen: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert!(browser.wait().unwrap().success());
    assert_eq!((&seen["bars"], &seen["pressed"]), (&json!(1), &json!(1)), "{seen}");
    assert_eq!((&seen["thanks"], &seen["waiting"]), (&json!("Thank you!"), &json!(1)), "{seen}");
    let complaints: Vec<&str> =
        seen["said"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let about_policy = |said: &&&str| said.contains("Content Security Policy");
    assert_eq!(complaints.iter().filter(about_policy).count(), 0, "{complaints:?}");

    let client = server.client().with_header("X-API-Key", &admin);
    let events = |source: &str| -> Vec<Value> {
        let found = client.get(&format!("/api/v1/events?source={source}&limit=100")).1;
        found["items"].as_array().unwrap().clone()
    };
    let ratings: Vec<Value> =
        events("user_rating").iter().map(|event| event["data"]["rating"].clone()).collect();
    assert_eq!(ratings, ["positive", "negative"]);
    let comments = events("user_comment");
    assert_eq!(comments.len(), 1);
    assert_eq!(comments[0]["data"]["comment"], "I wanted the German terms");
    let place = |event: &Value| (event["message_id"].clone(), event["session_id"].clone());
    assert_eq!(place(&comments[0]), (json!("t1"), json!("c1")));
    let done = events("user_interaction");
    let of = |kind: &str| -> Vec<&Value> {
        done.iter().filter(|event| event["data"]["kind"] == kind).collect()
    };
    assert_eq!(of("result_interaction").len(), 1, "{done:?}");
    assert_eq!(of("result_interaction")[0]["data"]["target"], "doc-terms");
    assert_eq!(of("copy").len(), 1);
    assert_eq!(of("export")[0]["data"]["target"], "returns.csv");
    assert_eq!((of("regenerate").len(), &of("regenerate")[0]["message_id"]), (1, &json!("t2")));
    let dwells = of("dwell_time");
    assert!(dwells.iter().any(|event| event["message_id"] == "t1"), "{done:?}");
    assert!(dwells.iter().all(|event| event["data"]["dwell_ms"].as_f64().unwrap() >= 1000.0));
}
