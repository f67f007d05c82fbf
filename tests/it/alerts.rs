//! Alerts: a metric that misses its target raises one alert, delivered to a webhook with retries.

use std::time::Duration;

use serde_json::{Value, json};

use crate::experiments::experiment_calls::until;
use crate::quality::send_event;
use crate::server::{Client, Server, uptake};

/// Longer than any step of these tests takes.
const WAIT: Duration = Duration::from_secs(60);

/// A webhook receiver that records messages and fails the first `bad` of them.
fn start_receiver(bad: usize) -> (String, std::sync::mpsc::Receiver<(String, String)>) {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", socket.local_addr().unwrap());
    let (sender, deliveries) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for (n, stream) in socket.incoming().enumerate() {
            let status = if n < bad { "500 No" } else { "204 Yes" };
            // A server killed during delivery delivers again.
            let Ok(message) = read_delivery(stream.unwrap(), status) else { continue };
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    (url, deliveries)
}

/// Reads one message, answers with the status, and returns its signature and body.
fn read_delivery(stream: std::net::TcpStream, status: &str) -> std::io::Result<(String, String)> {
    use std::io::{BufRead, BufReader, Read, Write};
    let mut reader = BufReader::new(stream);
    let (mut length, mut signature) = (0, String::new());
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let Some((name, value)) = line.trim().split_once(": ") else {
            if line.trim().is_empty() {
                break;
            }
            continue;
        };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "x-uptake-signature" => signature = value.to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    reader.get_mut().write_all(answer.as_bytes())?;
    Ok((signature, String::from_utf8(body).unwrap()))
}

fn alerts(server: &Server) -> Vec<Value> {
    let (status, body) = server.get("/api/v1/alerts");
    assert_eq!(status, 200, "{body}");
    body["alerts"].as_array().unwrap().clone()
}

#[test]
fn missed_target_raises_and_clears_one_alert_across_a_kill() {
    let server = Server::start();
    for _ in 0..20 {
        send_event(&server, "user_correction", None, &json!({"corrected": "x"}));
    }
    assert!(alerts(&server).is_empty(), "no alert without targets");
    let (url, deliveries) = start_receiver(1);
    let targets =
        json!({"satisfaction": {"min": 0.85}, "correction_rate": null, "webhook": {"url": url}});
    let (status, set) = server.client().put("/api/v1/tenants/default/targets", &targets);
    assert_eq!(status, 200, "{set}");
    assert_eq!(set["targets"]["satisfaction"], json!({"min": 0.85}));
    assert!(set["targets"]["correction_rate"].is_null());
    let secret = set["webhook"]["secret"].as_str().unwrap();
    for n in 0..100 {
        send_event(&server, "user_rating", None, &json!({"rating": "negative"}));
        if n % 10 == 9 {
            assert!(alerts(&server).len() < 2, "one, however often it is looked at");
        }
    }
    until("the alert", || alerts(&server).len() == 1);
    let raised = &alerts(&server)[0];
    assert_eq!((&raised["metric"], &raised["status"]), (&json!("satisfaction"), &json!("raised")));
    assert_eq!(raised["target"], json!({"min": 0.85}));
    assert!(raised["interval"][1].as_f64() < Some(0.85), "{raised}");
    let metrics = server.get("/metrics").1.as_str().unwrap().to_owned();
    let line = "uptake_alert{tenant=\"default\",project=\"default\",metric=\"satisfaction\"} 1";
    assert!(metrics.contains(line), "{metrics}");
    let logged = server.get("/api/v1/events?type=quality&source=engine").1;
    let said =
        logged["items"].as_array().unwrap().iter().filter(|e| e["data"]["finding"] == "alert");
    assert_eq!(said.count(), 1, "{logged}");

    // The first delivery failed, so there is a second.
    let (_, first) = deliveries.recv_timeout(WAIT).unwrap();
    let (signature, again) = deliveries.recv_timeout(WAIT).unwrap();
    assert_eq!(first, again);
    let response: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(
        (&response["type"], &response["alert"]["metric"]),
        (&json!("alert.raised"), &json!("satisfaction"))
    );
    let second = signature.strip_prefix("t=").unwrap().split_once(",v1=").unwrap();
    assert_eq!(second.1, compute_hmac(secret, &format!("{}.{again}", second.0)));

    // The delivery is recorded; a server killed before that would deliver again.
    until("the telling", || alerts(&server)[0]["webhook"]["delivered"] == true);
    let server = server.kill_and_restart();
    assert_eq!(alerts(&server).len(), 1);
    assert_eq!(server.get("/api/v1/tenants/default/targets").1["webhook"]["secret"], secret);
    for _ in 0..600 {
        send_event(&server, "user_rating", None, &json!({"rating": "positive"}));
    }
    until("the all clear", || alerts(&server)[0]["status"] == "cleared");
    assert_eq!(alerts(&server).len(), 1);
    let (_, response) = deliveries.recv_timeout(WAIT).unwrap();
    assert!(response.contains("alert.cleared"), "{response}");
    let (_, folder) = server.stop();
    let (_, out, err) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains(r#""changed":false"#), "{out}{err}");
}

/// Computed by another program than ours.
fn compute_hmac(secret: &str, text: &str) -> String {
    let code = "import hmac,sys; print(hmac.new(sys.argv[1].encode(), sys.argv[2].encode(), 'sha256').hexdigest())";
    let made =
        std::process::Command::new("python3").args(["-c", code, secret, text]).output().unwrap();
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

fn put_targets(client: &Client, tenant: &str, targets: &Value) {
    let (status, set) = client.put(&format!("/api/v1/tenants/{tenant}/targets"), targets);
    assert_eq!(status, 200, "{set}");
}

/// Nine bad ratings, enough to be significant.
fn send_nine_bad_ratings(client: &Client) {
    for _ in 0..9 {
        let body = json!({"type": "explicit", "source": "user_rating", "category": "quality",
            "data": {"rating": "negative"}});
        assert_eq!(client.post("/api/v1/feedback", &body).0, 201);
    }
}

#[test]
fn read_keys_do_not_see_secrets_in_webhook_addresses() {
    let server = Server::start();
    let url = "http://127.0.0.1:1/hooks?token=quokka-token";
    put_targets(
        &server.client(),
        "default",
        &json!({"satisfaction": {"min": 0.85}, "webhook": {"url": url}}),
    );
    send_nine_bad_ratings(&server.client());
    until("it was tried", || {
        alerts(&server).first().is_some_and(|alert| alert["webhook"]["error"].is_string())
    });
    for path in ["/api/v1/alerts", "/api/v1/events"] {
        let shown = server.get(path).1.to_string();
        assert!(shown.contains("http://127.0.0.1:1/…"), "{path}: {shown}");
        assert!(!shown.contains("quokka"), "{path}: {shown}");
    }
    // The admin who set the address sees it, and an export keeps it.
    assert_eq!(server.get("/api/v1/tenants/default/targets").1["webhook"]["url"], url);
    let (_, exported, _) = uptake(server.folder(), &["export"]);
    assert!(exported.contains("quokka-token"));
}

fn has_one_alert(client: &Client) -> bool {
    let (status, found) = client.get("/api/v1/alerts");
    assert_eq!(status, 200, "{found}");
    found["alerts"].as_array().map(Vec::len) == Some(1)
}

#[test]
fn alert_survives_new_targets_and_goes_to_the_current_webhook() {
    let server = Server::start();
    let (deaf, refused) = start_receiver(usize::MAX);
    let with = |url: &str| json!({"satisfaction": {"min": 0.85}, "webhook": {"url": url}});
    put_targets(&server.client(), "default", &with(&deaf));
    send_nine_bad_ratings(&server.client());
    refused.recv_timeout(WAIT).unwrap();
    // Only the targets change, then the webhook is removed, then it is another one.
    put_targets(&server.client(), "default", &json!({"satisfaction": {"min": 0.8}}));
    let server = server.kill_and_restart();
    let (url, deliveries) = start_receiver(0);
    put_targets(&server.client(), "default", &with(&url));
    let (_, response) = deliveries.recv_timeout(WAIT).unwrap();
    assert!(response.contains("alert.raised"), "{response}");
    put_targets(
        &server.client(),
        "default",
        &json!({"satisfaction": {"min": 0.8}, "webhook": {"url": url}}),
    );
    // The delivery is recorded before the kill, or it would be repeated.
    until("the telling", || alerts(&server)[0]["webhook"]["delivered"] == true);
    let server = server.kill_and_restart();
    // The next delivery is the next change of state.
    put_targets(
        &server.client(),
        "default",
        &json!({"satisfaction": null, "webhook": {"url": url}}),
    );
    until("the all clear", || alerts(&server)[0]["status"] == "cleared");
    let (_, response) = deliveries.recv_timeout(WAIT).unwrap();
    assert!(response.contains("alert.cleared"), "{response}");
    // The delivery is recorded a moment after the receiver got it.
    until("the note of it", || alerts(&server)[0]["webhook"]["delivered"] == true);
    assert_eq!(alerts(&server)[0]["webhook"]["attempts"], 1);
}

#[test]
fn slow_webhook_does_not_delay_other_deliveries() {
    let server = Server::start();
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let slow = format!("http://{}/", socket.local_addr().unwrap());
    let (heard, hears_slowly) = std::sync::mpsc::channel();
    // Accepts connections and never answers.
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in socket.incoming() {
            open.push(stream.unwrap());
            if heard.send(()).is_err() {
                return;
            }
        }
    });
    let (quick, deliveries) = start_receiver(0);
    let slow_ones: Vec<String> = (0..12).map(|n| format!("slow{n}")).collect();
    let client_of = |name: &str| server.client().with_header("X-Uptake-Tenant", name);
    let tell = |name: &str, url: &str| {
        let client = client_of(name);
        let targets = json!({"satisfaction": {"min": 0.85}, "webhook": {"url": url}});
        put_targets(&client, name, &targets);
        send_nine_bad_ratings(&client);
    };
    for name in &slow_ones {
        tell(name, &slow);
    }
    until("their alerts", || slow_ones.iter().all(|name| has_one_alert(&client_of(name))));
    hears_slowly.recv_timeout(WAIT).unwrap();
    tell("quick", &quick);
    // One after the other they would take a minute; few of them are done yet.
    deliveries.recv_timeout(WAIT / 2).unwrap();
}

#[test]
fn invalid_targets_are_refused_with_the_field() {
    let server = Server::start();
    for (bad, field) in [
        (json!({"satisfaction": {"min": 85}}), "satisfaction"),
        (json!({"error_rate": {"max": -0.1}}), "error_rate"),
        (json!({"latency_p95": {"max": 0}}), "latency_p95"),
        (json!({"tokens_per_accepted": {"max": 900}}), "tokens_per_accepted"),
        (json!({"cost_per_accepted": {"max": 0.1}}), "cost_per_accepted"),
        (json!({"webhook": {"url": "https://"}}), "webhook.url"),
        (json!({"webhook": {"url": "https://ann:hunter2@hooks.example"}}), "webhook.url"),
    ] {
        let (status, problem) = server.client().put("/api/v1/tenants/default/targets", &bad);
        assert_eq!((status, &problem["field"]), (422, &json!(field)), "{problem}");
        assert!(!problem.to_string().contains("hunter2"), "{problem}");
    }
}

#[test]
fn slow_answers_raise_a_latency_alert() {
    let server = Server::start();
    put_targets(&server.client(), "default", &json!({"latency_p95": {"max": 2.5}}));
    let answer = |n: usize, millis: u64| {
        let body = json!({"turn_id": format!("t{n}"), "conversation_id": format!("c{n}"),
            "text": format!("question {n}"), "response": "Here.", "latency_ms": millis});
        assert_eq!(server.post("/api/v1/turns", &body).0, 201);
    };
    (0..30).for_each(|n| answer(n, 900));
    assert!(alerts(&server).is_empty());
    // Two slow answers among thirty may be chance; eight are not.
    (30..32).for_each(|n| answer(n, 9000));
    assert!(alerts(&server).is_empty());
    (32..38).for_each(|n| answer(n, 9000));
    until("the alert", || !alerts(&server).is_empty());
    let raised = alerts(&server);
    assert_eq!((raised.len(), &raised[0]["metric"]), (1, &json!("latency_p95")), "{raised:?}");
    assert!(raised[0]["denominator"].as_u64() > Some(32), "{raised:?}");
    assert_eq!(raised[0]["target"], json!({"max": 2.5}));
}

#[test]
fn alert_ids_are_unique_and_reserved() {
    let server = Server::start();
    let targets = json!({"satisfaction": {"min": 0.85}});
    assert_eq!(server.client().put("/api/v1/tenants/default/targets", &targets).0, 200);
    let mut ids = Vec::new();
    for project in ["p1", "p2"] {
        let client = server.client().with_header("X-Uptake-Project", project);
        let taken = json!({"id": "alert.satisfaction.raised.0", "type": "explicit",
            "source": "user_comment", "category": "quality", "data": {"comment": "first"}});
        assert_eq!(client.post("/api/v1/feedback", &taken).0, 201);
        for _ in 0..20 {
            let bad = json!({"type": "explicit", "source": "user_rating", "category": "quality",
                "data": {"rating": "negative"}});
            assert_eq!(client.post("/api/v1/feedback", &bad).0, 201);
        }
        let mine = format!("/api/v1/alerts?project={project}");
        until("the alert", || client.get(&mine).1["alerts"][0]["event_id"].is_string());
        let found = client.get(&mine).1;
        ids.push(
            found["alerts"][0]["event_id"].as_str().unwrap_or_else(|| panic!("{found}")).to_owned(),
        );
    }
    assert_ne!(ids[0], ids[1], "a receiver tells alerts of projects apart by them");
}

#[test]
fn new_targets_are_checked_in_projects_without_traffic() {
    let server = Server::start();
    put_targets(&server.client(), "default", &json!({"satisfaction": {"min": 0.85}}));
    send_nine_bad_ratings(&server.client().with_header("X-Uptake-Project", "quiet"));
    until("the alert", || has_one_alert(&server.client()));
    put_targets(&server.client(), "default", &json!({"satisfaction": null}));
    until("the all clear", || alerts(&server)[0]["status"] == "cleared");
}

#[test]
fn webhooks_to_private_addresses_need_the_setting() {
    let strict = [("UPTAKE__ALERTS__ALLOW_PRIVATE_WEBHOOKS", "false")];
    let (url, deliveries) = start_receiver(0);
    let targets = |url: &str| json!({"satisfaction": {"min": 0.85}, "webhook": {"url": url}});
    let server = Server::start_with(tempfile::tempdir().unwrap(), &strict);
    let put = |server: &Server, url: &str| {
        server.client().put("/api/v1/tenants/default/targets", &targets(url))
    };
    for private in [url.as_str(), "http://localhost:1/", "http://169.254.169.254/", "http://[::1]/"]
    {
        let (status, problem) = put(&server, private);
        assert_eq!((status, &problem["field"]), (422, &json!("webhook.url")), "{problem}");
        assert!(
            problem["detail"].as_str().unwrap().contains("allow_private_webhooks"),
            "{problem}"
        );
    }
    // A name that resolves to a private address is refused when an alert is delivered.
    let port = url.rsplit(':').next().unwrap().trim_end_matches('/');
    assert_eq!(put(&server, &format!("http://127.1:{port}/")).0, 200);
    send_nine_bad_ratings(&server.client());
    let error = || alerts(&server).first().map(|alert| alert["webhook"]["error"].to_string());
    until("the refusal", || error().is_some_and(|error| error.contains("allow_private_webhooks")));
    assert!(deliveries.try_recv().is_err());
    // The setting applies to stored webhooks too.
    let server = Server::start_in(server.kill_and_leave());
    deliveries.recv_timeout(WAIT).unwrap();
    assert_eq!(put(&server, &url).0, 200);
}
