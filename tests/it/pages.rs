//! The web pages: over HTTP, without script, and in a real browser.

pub(crate) mod browser;
mod report_file;
pub(crate) mod plain_browser;
mod sample_conversations;

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use crate::server::{Server, WAIT_TIMEOUT, uptake};
use plain_browser::{Reader, find_token, try_first_suggestion};

/// Every view without parameters.
pub(crate) const VIEWS: &[&str] = &[
    "/",
    "/conversations",
    "/conversations?order=worst",
    "/failures",
    "/routing",
    "/retrieval",
    "/experiments",
    "/data",
    "/system",
    "/help",
];

fn create_key(server: &Server, arguments: &[&str]) -> String {
    let arguments = [&["keys", "create"], arguments].concat();
    let (code, out, err) = uptake(server.folder(), &arguments);
    assert_eq!(code, Some(0), "{err}");
    let found = out.split_whitespace().find(|word| word.starts_with("uk_"));
    found.unwrap_or_else(|| panic!("no key in {out}")).to_owned()
}

#[test]
fn pages_without_keys_are_open_to_loopback_only() {
    let server = Server::start();
    let here = Reader::new(&server);
    let (status, page) = here.get("/");
    assert_eq!(status, 200);
    assert!(
        page.contains("Nothing has been recorded yet") && page.contains("curl http://127.0.0.1")
    );
    let elsewhere = Reader::new(&server).with_header("Host", "evil.example");
    assert_eq!(elsewhere.get("/").0, 403);
    assert_eq!(here.get("/login").0, 303, "there is nothing to log in with");
}

#[test]
fn pages_are_not_cached_and_assets_are_cached_forever() {
    let server = Server::start();
    sample_conversations::play(&server.client());
    let reader = Reader::new(&server);
    for view in VIEWS.iter().chain(&["/conversations/c-dates"]) {
        let answer = reader.answer("GET", view, None);
        assert_eq!(answer.status, 200, "{view}");
        let policy = answer.header("content-security-policy");
        for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"] {
            assert!(policy.contains(part), "{view}: {policy}");
        }
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        for inline in ["style=", "<style", "onclick", "javascript:"] {
            assert!(!answer.body.contains(inline), "{view} has {inline}");
        }
        assert!(answer.body.len() < 150_000, "{view} weighs {}", answer.body.len());
    }
    let page = reader.get("/").1;
    let assets: Vec<&str> = page.split('"').filter(|part| part.starts_with("/assets/")).collect();
    assert_eq!(assets.len(), 3);
    for asset in assets {
        let answer = reader.answer("GET", asset, None);
        assert_eq!(answer.status, 200, "{asset}");
        assert_eq!(answer.header("cache-control"), "public, max-age=31536000, immutable");
    }
    assert_eq!(reader.get("/assets/page-0000000000000000.css").0, 404);
}

#[test]
fn login_with_a_key_and_logout() {
    let server = Server::start();
    sample_conversations::play(&server.client());
    let read = create_key(&server, &["--tenant", "default", "--role", "read"]);
    let ingest = create_key(&server, &["--tenant", "default", "--role", "ingest"]);
    let reader = Reader::new(&server);
    let door = reader.answer("GET", "/conversations?days=7", None);
    assert_eq!(
        (door.status, door.header("location")),
        (303, "/login?next=%2Fconversations%3Fdays%3D7")
    );
    let form = reader.get(door.header("location")).1;
    let enter = |key: &str| {
        let body = [("token", find_token(&form)), ("next", "/conversations?days=7"), ("key", key)];
        reader.answer("POST", "/login", Some(&body))
    };
    assert_eq!(enter("uk_no_no").status, 401);
    let refused = enter(&ingest);
    assert_eq!((refused.status, refused.header("set-cookie")), (401, ""));
    assert!(refused.body.contains("cannot open the web interface"));
    let came_in = enter(&read);
    assert_eq!((came_in.status, came_in.header("location")), (303, "/conversations?days=7"));
    let cookie = came_in.header("set-cookie").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(read.rsplit('_').next().unwrap()), "the key itself is not in it");
    let visitor = Reader::new(&server).with_header("Cookie", cookie.split(';').next().unwrap());
    let page = visitor.get("/").1;
    assert!(page.contains("Log out") && page.contains("read key"));
    let timeline = visitor.get("/conversations/c-dates").1;
    assert!(!timeline.contains("Confirm:"), "who may only read is offered nothing else");
    // The API does not accept the cookie, so another site cannot use it.
    assert_eq!(visitor.get("/api/v1/events").0, 401);
    let left = visitor.answer("POST", "/logout", Some(&[("token", find_token(&page))]));
    assert_eq!((left.status, left.header("location")), (303, "/login"));
    assert_eq!(visitor.get("/").0, 303, "the same cookie is good for nothing now");
    let (_, folder) = server.stop();
    let server = Server::start_in(folder);
    let again = Reader::new(&server).with_header("Cookie", cookie.split(';').next().unwrap());
    assert_eq!(again.get("/").0, 303, "nor after a start, nor at another node");
}

#[test]
fn logout_ends_the_live_stream() {
    let server = Server::start();
    let admin = create_key(&server, &["--tenant", "default", "--role", "admin"]);
    let reader = Reader::new(&server);
    let form = reader.get("/login").1;
    let came_in =
        reader.answer("POST", "/login", Some(&[("token", find_token(&form)), ("key", &admin)]));
    let cookie = came_in.header("set-cookie").split(';').next().unwrap();
    let mut live = server.connect();
    live.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
    let asked = format!(
        "GET /live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nCookie: {cookie}\r\n\r\n"
    );
    live.write_all(asked.as_bytes()).unwrap();
    let mut lines = BufReader::new(live).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "HTTP/1.1 200 OK");
    // The response head has arrived, so the stream is open.
    assert!(lines.any(|line| line.is_empty()));
    let store = || {
        let event = json!({"type": "log", "source": "trace", "category": "quality"});
        let client = server.client().with_header("X-API-Key", &admin);
        assert_eq!(client.post("/api/v1/feedback", &event).0, 201);
    };
    store();
    assert!(lines.any(|line| line == "event: stored"), "it tells of what is stored");
    let visitor = Reader::new(&server).with_header("Cookie", cookie);
    let page = visitor.get("/").1;
    let left = visitor.answer("POST", "/logout", Some(&[("token", find_token(&page))]));
    assert_eq!(left.status, 303);
    store();
    for line in lines {
        assert_ne!(line, "event: stored", "they have left");
    }
}

#[test]
fn revoked_key_ends_its_sessions() {
    let server = Server::start();
    let read = create_key(&server, &["--tenant", "default", "--role", "read"]);
    let visitor = Reader::logged_in(&server, &read);
    assert_eq!(visitor.get("/").0, 200);
    let id = read.split('_').nth(1).unwrap();
    assert_eq!(uptake(server.folder(), &["keys", "revoke", id]).0, Some(0));
    assert_eq!(visitor.get("/").0, 303);
}

#[test]
fn forms_require_the_csrf_token() {
    let server = Server::start();
    sample_conversations::play(&server.client());
    let reader = Reader::new(&server);
    let page = reader.get("/conversations/c-dates").1;
    let host = server.url.strip_prefix("http://").unwrap();
    let flip = |reader: &Reader, token: &str| {
        let body = [("token", token), ("conversation", "c-dates"), ("status", "accepted")];
        reader.answer("POST", "/turns/dates-1/flip", Some(&body)).status
    };
    let good = find_token(&page);
    assert_eq!(flip(&reader, ""), 403, "no token");
    assert_eq!(flip(&reader, &good[1..]), 403, "another token");
    let foreign = Reader::new(&server).with_header("Origin", "http://evil.example");
    assert_eq!(flip(&foreign, good), 403, "another origin");
    let hidden = Reader::new(&server).with_header("Origin", "null");
    assert_eq!(flip(&hidden, good), 403, "an origin that hides itself");
    let own = Reader::new(&server).with_header("Origin", &format!("http://{host}"));
    assert_eq!(flip(&own, good), 303);
    // A token of one session is not valid in another.
    let admin = create_key(&server, &["--tenant", "default", "--role", "admin"]);
    let visitor = Reader::logged_in(&server, &admin);
    assert_eq!(flip(&visitor, good), 403);
    let theirs = visitor.get("/conversations/c-dates").1;
    assert_eq!(flip(&visitor, find_token(&theirs)), 303);
}

#[test]
fn reactions_corrections_and_reviews_work_without_script() {
    let server = Server::start();
    sample_conversations::play(&server.client());
    let reader = Reader::new(&server);
    let page = reader.get("/conversations/c-dates").1;
    assert!(page.contains("<mark title=\"negation start\">No</mark>"), "the evidence is marked");
    let rejected = || {
        let (_, quality) = server.get("/api/v1/feedback/quality/default");
        quality["metrics"]["rejection_rate"]["numerator"].as_f64().unwrap()
    };
    let labels = || server.get("/api/v1/calibration").1["labels"].as_u64().unwrap();
    let (before, known) = (rejected(), labels());
    let send = |path: &str, fields: &[(&str, &str)]| {
        let own = [("token", find_token(&page)), ("conversation", "c-dates")];
        let answer = reader.answer("POST", path, Some(&[&own[..], fields].concat()));
        assert_eq!(answer.status, 303, "{path}: {}", answer.body);
        let to = answer.header("location").to_owned();
        reader.get(to.split('#').next().unwrap()).1
    };
    let flipped = send("/turns/dates-1/flip", &[("status", "accepted")]);
    assert!(flipped.contains("Verdict changed.") && flipped.contains("reviewed by a person"));
    assert_eq!(rejected(), before - 1.0, "the rates follow");
    let (_, turn) = server.get("/api/v1/turns/dates-1");
    assert_eq!(turn["verdict"]["status"], "accepted");
    assert_eq!(labels(), known + 1, "and the detector has a label more");
    let reacted = send("/turns/dates-2/react", &[("reaction", "not_ok")]);
    assert!(reacted.contains("Reaction stored."));
    let (_, turn) = server.get("/api/v1/turns/dates-2");
    let users: Vec<&str> = turn["reactions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["origin"] == "user")
        .filter_map(|one| one["user_id"].as_str())
        .collect();
    assert_eq!(users, ["ann", "page"], "no user's reaction was replaced");
    let words = [("corrected", "By <b>order</b> date: 7."), ("explanation", "booked is later")];
    let corrected = send("/turns/dates-2/correct", &words);
    assert!(corrected.contains("&#60;b&#62;order") || corrected.contains("&lt;b&gt;order"));
    send("/turns/dates-2/correct", &words);
    let (_, events) = server.get("/api/v1/events?source=user_correction");
    assert_eq!(events["items"].as_array().unwrap().len(), 1, "sent twice, stored once");
    let bad = [("token", find_token(&page)), ("conversation", "c-dates"), ("status", "perhaps")];
    assert_eq!(reader.answer("POST", "/turns/dates-1/review", Some(&bad)).status, 422);
    let unknown =
        [("token", find_token(&page)), ("conversation", "c-dates"), ("status", "accepted")];
    assert_eq!(reader.answer("POST", "/turns/nowhere/review", Some(&unknown)).status, 404);
}

#[test]
fn pages_show_the_own_tenant_only() {
    let server = Server::start();
    let theirs = server
        .client()
        .with_header("X-Uptake-Tenant", "theirs")
        .with_header("X-Uptake-Project", "shop");
    sample_conversations::play(&theirs);
    sample_conversations::learn(&theirs, "hush");
    let secret = json!({"conversation_id": "c-secret", "turn_id": "secret-1", "user_id": "zoe",
        "text": "The codeword is xyzzy", "response": "Noted.", "model": "hush-1"});
    assert_eq!(theirs.post("/api/v1/turns", &secret).0, 201);
    let ours = server.client().with_header("X-Uptake-Tenant", "ours");
    sample_conversations::play(&ours);
    sample_conversations::learn(&ours, "own");
    let own = create_key(&server, &["--tenant", "ours", "--role", "admin"]);
    let visitor = Reader::logged_in(&server, &own);
    for view in VIEWS {
        let (status, page) = visitor.get(view);
        assert_eq!(status, 200, "{view}");
        for word in ["theirs", "hush", "xyzzy", "c-secret", "shop"] {
            assert!(!page.contains(word), "{view} tells of {word}");
        }
        let sign = if view.contains('?') { '&' } else { '?' };
        assert_eq!(visitor.get(&format!("{view}{sign}tenant=theirs")).0, 403, "{view}");
    }
    for view in ["/routing", "/retrieval", "/experiments"] {
        assert!(visitor.get(view).1.contains("own-"), "{view} shows one's own");
    }
    assert_eq!(visitor.get("/turns/secret-1").0, 404);
    assert!(!visitor.get("/data/pairs").1.contains("xyzzy"));
    assert_eq!(visitor.get("/conversations/c-secret").0, 404);
    assert_eq!(visitor.get("/conversations/c-secret?project=shop").0, 404);
    for search in ["xyzzy", "The codeword is xyzzy", "secret-1", "c-secret", "zoe"] {
        let page = visitor.get(&format!("/conversations?q={}", search.replace(' ', "+"))).1;
        assert!(!page.contains("Noted") && !page.contains("hush-1"), "{search}");
        assert!(!page.contains("/conversations/c-secret"), "{search}");
    }
    let page = visitor.get("/conversations/c-dates").1;
    let body = [("token", find_token(&page)), ("conversation", "c-secret"), ("status", "rejected")];
    assert_eq!(visitor.answer("POST", "/turns/secret-1/review", Some(&body)).status, 404);
    let body = [("token", find_token(&page)), ("conversation", "c-secret"), ("reaction", "ok")];
    assert_eq!(visitor.answer("POST", "/turns/secret-1/react", Some(&body)).status, 404);
    // A key of one project is limited to it.
    let narrow =
        create_key(&server, &["--tenant", "theirs", "--project", "other", "--role", "read"]);
    let visitor = Reader::logged_in(&server, &narrow);
    for view in VIEWS {
        assert!(!visitor.get(view).1.contains("hush"), "{view}");
    }
    assert_eq!(visitor.get("/conversations?project=shop").0, 403);
    assert_eq!(visitor.get("/conversations/c-secret").0, 404);
}

#[test]
fn conversation_list_is_filtered_searched_and_paged() {
    let server = Server::start();
    sample_conversations::play(&server.client());
    let reader = Reader::new(&server);
    let list = |query: &str| {
        let (status, page) = reader.get(&format!("/conversations{query}"));
        assert_eq!(status, 200, "{query}");
        sample_conversations::CONVERSATIONS
            .iter()
            .filter(|id| page.contains(&format!(">{id}<")))
            .count()
    };
    assert_eq!(list(""), sample_conversations::CONVERSATIONS.len());
    assert_eq!(list("?show=failed"), 1);
    assert_eq!(list("?show=not_ok"), 1);
    assert_eq!(list("?model=m-small"), 2);
    assert_eq!(list("?model=m-none"), 0);
    assert_eq!(list("?q=c-leave"), 1, "by its id");
    assert_eq!(list("?q=bob"), 2, "by the user");
    assert!(list("?q=revenue+by+region+in+march") >= 1, "by words, or by its meaning");
    assert!(list("?q=revenue+by+region+in+march&by=meaning") >= 1, "by its meaning");
    let page = reader.get("/conversations?q=revenue+by+region&by=meaning&show=failed").1;
    assert!(page.contains("other filters do not apply"), "it is not filtered, and says so");
    assert_eq!(reader.get("/conversations?show=nonsense").0, 422);
    assert_eq!(reader.get("/conversations?after=x").0, 422);
}

#[test]
fn overview_counts_reactions_by_turn_and_says_so() {
    let server = Server::start();
    let ask = |turn: &str, ts: Value| {
        let asked = json!({"conversation_id": turn, "turn_id": turn, "text": "Why?", "ts": ts,
            "response": "It is so."});
        assert_eq!(server.post("/api/v1/turns", &asked).0, 201);
    };
    ask("new", Value::Null);
    let now = server.get("/api/v1/turns/new").1["ts"].clone();
    let now = model::Timestamp::parse(now.as_str().unwrap()).unwrap();
    ask("old", json!(now.plus_secs(-3 * 86_400).to_string()));
    // Given now, on a turn of three days ago.
    assert_eq!(server.post("/api/v1/turns/old/feedback", &json!({"reaction": "ok"})).0, 200);
    let check_pages = |server: &Server| {
        let reader = Reader::new(server);
        for page in ["/", "/report"] {
            for (days, count) in [(7, "1 reaction, by"), (1, "0 reactions, by")] {
                let (status, text) = reader.get(&format!("{page}?days={days}"));
                let shown = format!("{count} the time of the turn");
                assert_eq!((status, text.contains(&shown)), (200, true), "{page} {days}: {shown}");
            }
        }
    };
    check_pages(&server);
    check_pages(&server.kill_and_restart());
}

#[test]
fn failure_pattern_becomes_an_experiment() {
    let server = Server::start();
    sample_conversations::complain(&server.client());
    let reader = Reader::new(&server);
    let (status, page) = reader.get("/failures");
    assert_eq!(status, 200);
    let answer = try_first_suggestion(&reader, &page);
    assert_eq!(answer.status, 303, "{}", answer.body);
    let page = reader.get(answer.header("location")).1;
    assert!(page.contains("Experiment created") && page.contains(">draft<"));
    let (_, found) = server.get("/api/v1/experiments");
    let id = found["experiments"][0]["id"].as_str().unwrap();
    let path = format!("/experiments/{id}/start");
    let answer = reader.answer("POST", &path, Some(&[("token", find_token(&page))]));
    assert_eq!(answer.status, 303, "{}", answer.body);
    assert_eq!(server.get("/api/v1/experiments").1["experiments"][0]["status"], "RUNNING");
    let gone = [("token", find_token(&page)), ("pattern", "none"), ("instruction", "Be kind")];
    assert_eq!(reader.answer("POST", "/failures/experiment", Some(&gone)).status, 404);
}

#[test]
fn review_queue_is_processed_and_pairs_are_downloaded() {
    let server = Server::start();
    sample_conversations::play(&server.client());
    let better = json!({"message_id": "mail-1", "data": {"corrected": "Hallo!"}});
    assert_eq!(server.post("/api/v1/feedback/correction", &better).0, 201);
    let reader = Reader::new(&server);
    let page = reader.get("/data").1;
    assert!(page.contains("id=\"turn-dates-1\""), "it waits for a person");
    assert!(page.contains("Hallo!") && page.contains("Guten Tag!"), "the pair is shown");
    let body = [
        ("token", find_token(&page)),
        ("conversation", "c-dates"),
        ("from", "queue"),
        ("status", "rejected"),
    ];
    let answer = reader.answer("POST", "/turns/dates-1/review", Some(&body));
    assert!(answer.header("location").starts_with("/data?"), "{}", answer.header("location"));
    let page = reader.get("/data").1;
    assert!(!page.contains("id=\"turn-dates-1\""), "it does not wait any more");
    let file = reader.answer("GET", "/data/pairs?format=dpo", None);
    assert!(file.header("content-disposition").contains("dpo.jsonl"));
    assert!(file.body.lines().any(|line| line.contains("Hallo!")), "{}", file.body);
    assert_eq!(reader.get("/data/pairs?format=nonsense").0, 422);
    let read = create_key(&server, &["--tenant", "default", "--role", "read"]);
    let visitor = Reader::logged_in(&server, &read);
    let system = visitor.get("/system").1;
    assert!(!system.contains("uk_"), "who may only read sees no keys");
}

#[test]
fn live_stream_reports_events_stored_while_the_page_loaded() {
    let server = Server::start();
    sample_conversations::play(&server.client());
    let page = Reader::new(&server).get("/").1;
    let position = page.split("data-position=\"").nth(1).and_then(|rest| rest.split('"').next());
    let position = position.unwrap_or_else(|| panic!("{page}"));
    let turn = json!({"conversation_id": "c-late", "text": "Open today?", "response": "Yes."});
    assert_eq!(server.post("/api/v1/turns", &turn).0, 201);
    // The page's script connects only now, and nothing more is stored.
    let mut connection = server.connect();
    connection.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
    let ask = format!("GET /live?position={position} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    connection.write_all(ask.as_bytes()).unwrap();
    // Only heartbeats for two minutes: the event does not come.
    let mut beats = 0;
    let mut lines = BufReader::new(connection).lines().map_while(Result::ok).take_while(|line| {
        beats += usize::from(line.starts_with(':'));
        beats < 8
    });
    assert!(lines.any(|line| line.contains("event: stored")), "no event was streamed");
}
