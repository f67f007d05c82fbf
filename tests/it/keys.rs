//! API keys: access and roles.

use serde_json::{Value, json};
use store::Stopwatch;

use crate::experiments::experiment_calls::for_each;
use crate::feedback_calls::turn;
use crate::pages::plain_browser::{Reader, find_token};
use crate::server::{Client, Server, uptake};

/// Creates a key with the command and returns it.
pub(crate) fn create(server: &Server, arguments: &[&str]) -> String {
    let mut all = vec!["keys", "create", "--json"];
    all.extend(arguments);
    let (code, out, err) = uptake(server.folder(), &all);
    assert_eq!(code, Some(0), "{err}");
    let made: Value = serde_json::from_str(&out).unwrap();
    made["key"].as_str().unwrap().to_owned()
}

fn client_with_key(server: &Server, key: &str) -> Client {
    server.client().with_header("Authorization", &format!("Bearer {key}"))
}

const REACT: &str = "/conversations/default/default/c1/turns/t1/feedback";
const PERIOD: &str = "/conversations/default/default/feedback/conversations-in-period";

#[test]
fn first_key_ends_open_mode_at_once_and_permanently() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let admin = create(&server, &["--tenant", "default", "--role", "admin"]);
    let check = |server: &Server| {
        let (status, problem) = server.get("/api/v1/events");
        assert_eq!((status, &problem["status"]), (401, &json!(401)));
        assert_eq!(server.post("/api/v1/turns", &json!({"text": "q"})).0, 401);
        assert_eq!(server.get("/metrics").0, 401);
        assert_eq!(client_with_key(server, &admin).get("/api/v1/events").0, 200);
        assert_eq!(server.get("/health/live").0, 200);
        assert_eq!(server.get("/health/ready").0, 200);
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
    let id = admin.split('_').nth(1).unwrap().to_owned();
    let (code, _, err) = uptake(server.folder(), &["keys", "revoke", &format!("{id}#other")]);
    assert!(code == Some(1) && err.contains("is not a key id"), "{err}");
    let (code, out, _) = uptake(server.folder(), &["keys", "revoke", &id]);
    assert_eq!((code, out.as_str()), (Some(0), format!("revoked {id}\n").as_str()));
    assert_eq!(client_with_key(&server, &admin).get("/api/v1/events").0, 401);
    assert_eq!(server.get("/api/v1/events").0, 401, "it is not open again");
    let (_, list, _) = uptake(server.folder(), &["keys", "list"]);
    assert!(list.contains(&id) && list.contains("revoked 20"), "{list}");
    assert!(!list.contains(&admin), "the secret is never shown again");
}

#[test]
fn keys_are_created_without_a_running_server() {
    let server = Server::start();
    let (_, folder) = server.stop();
    let arguments = ["keys", "create", "--tenant", "default", "--role", "read", "--json"];
    let (code, out, err) = uptake(folder.path(), &arguments);
    assert_eq!(code, Some(0), "{err}");
    let made: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&made["role"], &made["project"]), (&json!("read"), &Value::Null));
    let server = Server::start_in(folder);
    let key = made["key"].as_str().unwrap();
    assert_eq!(client_with_key(&server, key).get("/api/v1/events").0, 200);
    let secret = key.rsplit('_').next().unwrap();
    for file in std::fs::read_dir(server.folder()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(
            !bytes.windows(secret.len()).any(|w| w == secret.as_bytes()),
            "only its hash is kept"
        );
    }
}

#[test]
fn key_is_accepted_in_three_headers_and_a_wrong_key_in_none() {
    let server = Server::start();
    let key = create(&server, &["--tenant", "default", "--role", "read"]);
    let client = |name: &'static str, value: &str| server.client().with_header(name, value);
    assert_eq!(client("X-API-Key", &key).get("/api/v1/events").0, 200);
    assert_eq!(client("Authorization", &format!("Bearer {key}")).get("/api/v1/events").0, 200);
    let (id, secret) = key.strip_prefix("uk_").unwrap().split_once('_').unwrap();
    let wrong = [
        String::new(),
        "uk_".to_owned(),
        format!("uk_{id}"),
        format!("uk_{id}_"),
        format!("uk_{id}_{}", &secret[1..]),
        format!("uk_{id}_{secret}x"),
        format!("uk_{}_{secret}", &id[1..]),
        "x".repeat(5000),
    ];
    for key in wrong {
        assert_eq!(client("Authorization", &format!("Bearer {key}")).get("/api/v1/events").0, 401);
    }
}

#[test]
fn each_role_is_limited_to_its_endpoints() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let roles = ["widget", "ingest", "read", "admin"];
    let keys = roles.map(|role| create(&server, &["--tenant", "default", "--role", role]));
    let reaction = json!({"reaction": "ok"});
    let machine = json!({"reaction": "ok", "origin": "machine", "confidence": 0.9});
    let rating = testkit::rating_body("t1");
    let metric = json!({"type": "metric", "source": "trace", "category": "cost"});
    let no_turn = testkit::rating_body("unknown");
    // Request, and the statuses for widget, ingest, read and admin keys.
    let rows: [(&str, &str, Value, [u16; 4]); 11] = [
        ("POST", REACT, reaction, [200, 200, 403, 200]),
        ("POST", REACT, machine, [403, 200, 403, 200]),
        ("POST", "/api/v1/feedback", rating, [201, 201, 403, 201]),
        ("POST", "/api/v1/feedback", metric, [403, 201, 403, 201]),
        ("POST", "/api/v1/feedback", no_turn, [404, 201, 403, 201]),
        ("POST", "/api/v1/feedback/batch", json!([]), [403, 200, 403, 200]),
        ("POST", "/api/v1/turns", json!({"text": "q"}), [403, 201, 403, 201]),
        ("POST", PERIOD, json!({}), [403, 403, 200, 200]),
        ("GET", "/api/v1/turns/t1", Value::Null, [403, 403, 200, 200]),
        ("GET", "/metrics", Value::Null, [403, 403, 200, 200]),
        ("GET", "/api/v1/keys", Value::Null, [403, 403, 403, 200]),
    ];
    let secret = client_with_key(&server, &keys[0]).post(REACT, &json!({"reaction": "neutral"})).1;
    assert_eq!(secret["rn"], Value::Null, "the owner of the turn is not revealed: {secret}");
    for more in [
        json!({"severity": "critical"}),
        json!({"type": "metric"}),
        json!({"id": "chosen"}),
        json!({"data": {"rating": 1, "origin": "machine"}}),
    ] {
        let mut body = testkit::rating_body("t1");
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(
            client_with_key(&server, &keys[0]).post("/api/v1/feedback", &body).0,
            403,
            "{more}"
        );
    }
    for (method, path, body, expected) in rows {
        let got = [0, 1, 2, 3].map(|n| {
            let client = client_with_key(&server, &keys[n]);
            if method == "GET" { client.get(path).0 } else { client.post(path, &body).0 }
        });
        assert_eq!(got, expected, "{method} {path} {body}");
    }
}

#[test]
fn key_is_valid_for_its_own_tenant_and_project_only() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let acme = create(&server, &["--tenant", "acme", "--role", "admin"]);
    let shop = create(&server, &["--tenant", "acme", "--project", "shop", "--role", "admin"]);
    let acme = client_with_key(&server, &acme);
    let shop = client_with_key(&server, &shop);
    // Data of another tenant looks like missing data.
    assert_eq!(acme.get("/api/v1/turns/t1").0, 404);
    for path in [REACT, "/conversations/default/default/c9/turns/t9/feedback"] {
        assert_eq!(acme.post(path, &json!({"reaction": "ok"})).0, 403, "{path}");
    }
    assert_eq!(acme.clone().with_header("X-Uptake-Tenant", "default").get("/api/v1/events").0, 403);
    assert_eq!(acme.clone().with_header("X-Uptake-Project", "shop").get("/api/v1/events").0, 200);
    assert_eq!(
        shop.clone().with_header("X-Uptake-Project", "default").get("/api/v1/events").0,
        403
    );
    let mut rating = testkit::rating_body("t1");
    rating["tenant_id"] = json!("default");
    assert_eq!(acme.post("/api/v1/feedback", &rating).0, 403);
    rating["tenant_id"] = json!("acme");
    assert_eq!(shop.post("/api/v1/feedback", &rating).0, 201);
    assert_eq!(acme.get("/api/v1/events").1["items"], json!([]), "that was another project");
    assert_eq!(shop.get("/api/v1/events").1["items"][0]["project"], "shop");
    // Keys create keys within their own scope.
    let new = |project: Value| json!({"tenant": "acme", "project": project, "role": "read"});
    assert_eq!(acme.post("/api/v1/keys", &new(Value::Null)).0, 201);
    assert_eq!(shop.post("/api/v1/keys", &new(Value::Null)).0, 403);
    assert_eq!(shop.post("/api/v1/keys", &new(json!("shop"))).0, 201);
    let foreign = json!({"tenant": "default", "role": "read"});
    assert_eq!(acme.post("/api/v1/keys", &foreign).0, 403);
    assert_eq!(shop.get("/api/v1/keys").1["keys"].as_array().unwrap().len(), 2);
}

#[test]
fn rate_limits_apply_per_key_and_per_widget_client() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let slow = create(&server, &["--tenant", "default", "--role", "read", "--rate", "5"]);
    let widget = create(&server, &["--tenant", "default", "--role", "widget"]);
    let slow = client_with_key(&server, &slow);
    check_rate(5.0, || for_each(&slow, 0..100, |client, _| client.get("/api/v1/turns/t1").0));
    let widget = client_with_key(&server, &widget);
    let bodies = ["ok", "not_ok"].map(|word| json!({"reaction": word}));
    check_rate(10.0, || {
        for_each(&widget, 0..200, |client, n| client.post(REACT, &bodies[n % 2]).0)
    });
}

/// With a key in a header, and with the cookie of a login.
#[test]
fn rate_limits_apply_to_web_pages() {
    let server = Server::start();
    let slow = || create(&server, &["--tenant", "default", "--role", "read", "--rate", "5"]);
    let key = slow();
    let form = Reader::new(&server).get("/login").1;
    let fields = [("token", find_token(&form)), ("key", key.as_str())];
    let came_in = Reader::new(&server).answer("POST", "/login", Some(&fields));
    assert_eq!(came_in.status, 303, "{}", came_in.body);
    let cookie = came_in.header("set-cookie").split(';').next().unwrap();
    for client in [client_with_key(&server, &slow()), server.client().with_header("Cookie", cookie)]
    {
        check_rate(5.0, || for_each(&client, 0..100, |client, _| client.get("/help").0));
    }
}

/// Some requests pass, some do not, and no more than the rate allows in the elapsed time.
fn check_rate(per_second: f64, ask: impl FnOnce() -> Vec<u16>) {
    let begin = Stopwatch::start();
    let answers = ask();
    let most = per_second * (1.0 + begin.elapsed().as_secs_f64()) + 1.0;
    let passed = answers.iter().filter(|status| **status == 200).count();
    assert!(passed > 0 && passed as f64 <= most, "{passed} passed, {most} may");
    assert_eq!(answers.iter().filter(|status| **status == 429).count(), answers.len() - passed);
    assert!(passed < answers.len(), "{passed} passed without a limit");
}

#[test]
fn widget_key_works_from_its_own_origin_only() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let page = "https://shop.example";
    let key = create(&server, &["--tenant", "default", "--role", "widget", "--origin", page]);
    let from = |origin: &str| client_with_key(&server, &key).with_header("Origin", origin);
    let reaction = json!({"reaction": "ok"});
    assert_eq!(from(page).post(REACT, &reaction).0, 200);
    assert_eq!(from("https://evil.example").post(REACT, &reaction).0, 403);
    assert_eq!(client_with_key(&server, &key).post(REACT, &reaction).0, 403);
    let allowed = |origin: &str, method: &str| server.allowed_origin(method, REACT, origin);
    assert_eq!(allowed(page, "OPTIONS"), (204, Some(page.to_owned())));
    assert_eq!(allowed("https://evil.example", "OPTIONS"), (403, None));
    let bad = ["--tenant", "default", "--role", "widget", "--origin", "shop.example"];
    let mut arguments = vec!["keys", "create"];
    arguments.extend(bad);
    let (code, _, err) = uptake(server.folder(), &arguments);
    assert_eq!(code, Some(1));
    assert!(err.contains("expected one such as https://example.org"), "{err}");
}

#[test]
fn key_with_an_origin_does_not_open_other_pages() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let page = "https://a.example";
    let bound = |origin: &str| {
        create(&server, &["--tenant", "default", "--role", "read", "--origin", origin])
    };
    let key = bound(page);
    for path in ["/api/v1/events", "/", "/conversations/c1", "/data/pairs?format=dpo", "/report"] {
        let client = client_with_key(&server, &key);
        assert_eq!(client.get(path).0, 403, "{path}");
        assert_eq!(
            client.clone().with_header("Origin", "https://b.example").get(path).0,
            403,
            "{path}"
        );
        assert_eq!(client.with_header("Origin", page).get(path).0, 200, "{path}");
    }
    let here = || Reader::new(&server).with_header("Origin", &server.url);
    let enter = |key: &str| {
        let form = here().get("/login").1;
        here().answer("POST", "/login", Some(&[("token", find_token(&form)), ("key", key)]))
    };
    let refused = enter(&key);
    assert_eq!((refused.status, refused.header("set-cookie")), (401, ""));
    assert!(refused.body.contains("another origin"), "{}", refused.body);
    assert_eq!(enter(&bound(&server.url)).status, 303, "one of our own origin opens our pages");
}
