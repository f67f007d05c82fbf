//! The period report: pages without gaps or duplicates, also under concurrent writes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::feedback_calls::{react, turn};
use crate::server::Server;

const PATH: &str = "/conversations/default/default/feedback/conversations-in-period";
const DAY: i64 = 86_400;

/// 2026-01-10T00:00:00Z plus this many seconds.
fn time_at(secs: i64) -> String {
    model::Timestamp::parse("2026-01-10T00:00:00Z").unwrap().plus_secs(secs).to_string()
}

fn react_at(server: &Server, conversation: &str, turn: &str, reaction: &str, ts: &str) {
    let body = json!({"reaction": reaction, "ts": ts});
    assert_eq!(react(server, conversation, turn, &body).0, 200);
}

fn page(server: &Server, body: &Value) -> Value {
    let (status, page) = server.post(PATH, body);
    assert_eq!(status, 200, "{page}");
    page
}

#[test]
fn period_report_pages_are_stable_under_concurrent_writes() {
    let mut server = Server::start();
    let name = |n: usize| format!("c{n:03}");
    for n in 0..250 {
        turn(&server, &name(n), &format!("t{n}"));
        // Equal times are frequent, and the days are mixed.
        react_at(&server, &name(n), &format!("t{n}"), "ok", &time_at((n as i64 % 40) * DAY / 10));
    }
    let window = json!({"start": time_at(-DAY), "end": time_at(30 * DAY), "limit": 100});
    let (mut seen, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
    loop {
        let mut body = window.clone();
        body["cursor"] = cursor;
        let page = page(&server, &body);
        let items = page["items"].as_array().unwrap();
        seen.extend(items.iter().map(|item| item["conversation_id"].as_str().unwrap().to_owned()));
        let times: Vec<&str> =
            items.iter().map(|item| item["last_activity_at"].as_str().unwrap()).collect();
        assert!(times.is_sorted_by(|a, b| a >= b), "newest first: {times:?}");
        pages += 1;
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
        // Concurrently: newer conversations, some in the middle, and a kill.
        for (place, secs) in [("new", 29 * DAY), ("middle", 2 * DAY)] {
            let (conversation, t) = (format!("{place}{pages}"), format!("{place}{pages}"));
            turn(&server, &conversation, &t);
            react_at(&server, &conversation, &t, "not_ok", &time_at(secs));
        }
        server = server.kill_and_restart();
    }
    let old: Vec<&String> = seen.iter().filter(|id| id.starts_with('c')).collect();
    let unique: BTreeSet<&String> = old.iter().copied().collect();
    assert_eq!((old.len(), unique.len()), (250, 250), "skipped or repeated");
}

#[test]
fn window_bounds_are_inclusive_and_limit_the_counts() {
    let server = Server::start();
    for n in 0..6_i64 {
        let id = format!("t{n}");
        turn(&server, "c1", &id);
        react_at(&server, "c1", &id, "ok", &time_at(n * DAY / 4));
    }
    let rows = [
        (0, 5 * DAY / 4, 6),
        (0, 0, 1),
        (DAY / 4, 3 * DAY / 4, 3),
        (1, DAY, 4),
        (DAY / 4 + 1, DAY / 2 - 1, 0),
        (-9 * DAY, 9 * DAY, 6),
        (DAY, 9 * DAY, 2),
    ];
    for (start, end, expected) in rows {
        let found = page(&server, &json!({"start": time_at(start), "end": time_at(end)}));
        let total = found["items"].as_array().unwrap().first();
        let total = total.map_or(0, |item| item["feedback_counts"]["total"].as_u64().unwrap());
        assert_eq!(total, expected, "{start}..{end}: {found}");
    }
    let cut = page(&server, &json!({"start": time_at(0), "end": time_at(DAY / 2)}));
    assert_eq!(
        cut["items"][0]["last_activity_at"],
        time_at(DAY / 2),
        "the newest inside the window"
    );
    assert_eq!(cut["window"], json!({"start": time_at(0), "end": time_at(DAY / 2)}));
}

#[test]
fn past_window_is_paged() {
    let server = Server::start();
    for n in 0..9_i64 {
        let (conversation, id) = (format!("c{n}"), format!("t{n}"));
        turn(&server, &conversation, &id);
        react_at(&server, &conversation, &id, "ok", &time_at(n * 60));
        // Every conversation continues after the window, on the same day and on a later one.
        let (later, last) = (format!("{id}-later"), format!("{id}-last"));
        turn(&server, &conversation, &later);
        react_at(&server, &conversation, &later, "not_ok", &time_at(DAY / 2 + n));
        turn(&server, &conversation, &last);
        react_at(&server, &conversation, &last, "not_ok", &time_at(3 * DAY + n));
    }
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let body =
            json!({"start": time_at(0), "end": time_at(DAY / 4), "limit": 2, "cursor": cursor});
        let page = page(&server, &body);
        for item in page["items"].as_array().unwrap() {
            seen.push(item["conversation_id"].as_str().unwrap().to_owned());
            assert_eq!(item["feedback_counts"]["total"], 1, "{item}");
        }
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, ["c8", "c7", "c6", "c5", "c4", "c3", "c2", "c1", "c0"]);
}

#[test]
fn filters_apply_to_counts_items_and_latest_activity() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    turn(&server, "c2", "t2");
    let give = |conversation: &str, turn: &str, body: Value| {
        assert_eq!(react(&server, conversation, turn, &body).0, 200);
    };
    give("c1", "t1", json!({"reaction": "ok", "ts": time_at(10)}));
    give("c1", "t1", json!({"reaction": "not_ok", "ts": time_at(20), "user_id": "u2"}));
    give(
        "c1",
        "t1",
        json!({"reaction": "not_ok", "ts": time_at(30), "origin": "machine", "confidence": 0.9}),
    );
    give("c2", "t2", json!({"reaction": "neutral", "ts": time_at(15)}));
    let check = |filter: &str, expected: &[(&str, i64, u64)]| {
        let (start, end) = (time_at(0), time_at(DAY));
        let path = format!("{PATH}?start={start}&end={end}&include_turns=true&{filter}");
        let (status, page) = server.get(&path);
        assert_eq!(status, 200, "{page}");
        let found: Vec<(String, String, u64)> = page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| {
                let text = |name: &str| item[name].as_str().unwrap().to_owned();
                let listed: usize = item["turns"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|turn| turn["feedbacks"].as_array().unwrap().len())
                    .sum();
                assert_eq!(item["feedback_counts"]["total"], listed as u64, "{item}");
                (text("conversation_id"), text("last_activity_at"), listed as u64)
            })
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|(id, ts, n)| ((*id).to_owned(), time_at(*ts), *n)).collect();
        assert_eq!(found, expected, "{filter}");
    };
    check("", &[("c1", 30, 3), ("c2", 15, 1)]);
    check("origin=user", &[("c1", 20, 2), ("c2", 15, 1)]);
    check("origin=machine", &[("c1", 30, 1)]);
    check("reaction=ok", &[("c1", 10, 1)]);
    check("reaction=neutral", &[("c2", 15, 1)]);
    check("origin=user&reaction=not_ok", &[("c1", 20, 1)]);
    check("user_id=u2", &[("c1", 20, 1)]);
    check("user_id=u1&limit=500", &[("c1", 30, 2), ("c2", 15, 1)]);
    check("user_id=nobody", &[]);
}

#[test]
fn cursor_is_valid_for_its_own_request_only() {
    let server = Server::start();
    for id in ["1", "2", "3"] {
        turn(&server, id, id);
        react(&server, id, id, &json!({"reaction": "ok"}));
    }
    let first = server.get(&format!("{PATH}?limit=1")).1;
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = server.get(&format!("{PATH}?limit=1&cursor={cursor}"));
    assert_eq!(
        (second.0, &second.1["window"]),
        (200, &first["window"]),
        "the window is remembered"
    );
    assert_ne!(second.1["items"], first["items"]);
    let others = [
        format!("{PATH}?cursor={cursor}&origin=machine"),
        format!("{PATH}?cursor={cursor}&start={}&end={}", time_at(0), time_at(1)),
        format!("{PATH}?cursor={cursor}0"),
        format!("{PATH}?cursor=nonsense"),
        format!("/conversations/other/default/feedback/conversations-in-period?cursor={cursor}"),
    ];
    for path in others {
        let (status, problem) = server.get(&path);
        assert_eq!((status, problem["field"].as_str()), (422, Some("cursor")), "{path}");
    }
}

#[test]
fn invalid_report_requests_are_refused_with_the_field() {
    let server = Server::start();
    let rows = [
        (json!({"limit": 0}), "limit"),
        (json!({"limit": 501}), "limit"),
        (json!({"start": time_at(0)}), "end"),
        (json!({"end": time_at(0)}), "start"),
        (json!({"start": time_at(1), "end": time_at(0)}), "end"),
        (json!({"start": "x", "end": time_at(0)}), "start"),
        (json!({"origin": "robot"}), "origin"),
        (json!({"reaction": "great"}), "reaction"),
        (json!({"include_turns": "yes"}), "include_turns"),
        (json!({"colour": 1}), "colour"),
    ];
    for (body, field) in rows {
        let (status, problem) = server.post(PATH, &body);
        assert_eq!((status, problem["field"].as_str()), (422, Some(field)), "{body}: {problem}");
    }
    let path = "/conversations/default/default/c1/turns-with-feedbacks";
    for (query, field) in [("days=0", "days"), ("days=3651", "days"), ("include=all", "include")] {
        let (status, problem) = server.get(&format!("{path}?{query}"));
        assert_eq!((status, problem["field"].as_str()), (422, Some(field)), "{query}");
    }
}

#[test]
fn window_may_end_at_any_time() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    react(&server, "c1", "t1", &json!({"reaction": "ok"}));
    let page = page(&server, &json!({"start": time_at(0), "end": "9999-12-31T23:59:59Z"}));
    assert_eq!(page["items"][0]["conversation_id"], "c1");
}

/// ok, not_ok and neutral of users in a window, over all pages of the report.
fn user_counts(server: &Server, start: &str, end: &str) -> [u64; 3] {
    let (mut counts, mut cursor) = ([0; 3], Value::Null);
    loop {
        let body =
            json!({"start": start, "end": end, "origin": "user", "limit": 2, "cursor": cursor});
        let page = page(server, &body);
        for item in page["items"].as_array().unwrap() {
            for (sum, name) in counts.iter_mut().zip(["ok", "not_ok", "neutral"]) {
                *sum += item["feedback_counts"][name].as_u64().unwrap();
            }
        }
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            return counts;
        }
    }
}

#[test]
fn period_report_counts_as_quality_by_reaction_does() {
    let server = Server::start();
    // Asked in the first hour; every door gives feedback in a later one.
    for n in 0..6 {
        let asked = json!({"conversation_id": format!("c{n}"), "turn_id": format!("t{n}"), "text": "Why?",
            "user_id": "ann", "response": "It is so.", "ts": time_at(60)});
        assert_eq!(server.post("/api/v1/turns", &asked).0, 201);
    }
    let hour = |n: i64| time_at(n * 3600 + 60);
    for (n, reaction) in [(0, "ok"), (1, "not_ok"), (2, "neutral"), (3, "ok")] {
        react_at(&server, &format!("c{n}"), &format!("t{n}"), reaction, &hour(1));
    }
    let cleared = json!({"reaction": null, "ts": hour(2)});
    assert_eq!(react(&server, "c3", "t3", &cleared).0, 200);
    let machine =
        json!({"reaction": "not_ok", "origin": "machine", "confidence": 0.9, "ts": hour(1)});
    assert_eq!(react(&server, "c0", "t0", &machine).0, 200);
    let stars = json!({"stars": 5, "user_id": "bob", "ts": hour(2)});
    assert_eq!(server.post("/api/v1/turns/t4/feedback", &stars).0, 200);
    let rating = json!({"type": "explicit", "source": "user_rating", "category": "quality",
        "message_id": "t5", "timestamp": hour(3), "data": {"rating": "negative"}});
    assert_eq!(server.post("/api/v1/feedback", &rating).0, 201);
    // Another project of the tenant, which the report does not cover.
    let other = server.client().with_header("X-Uptake-Project", "other");
    let asked = json!({"conversation_id": "o", "turn_id": "o", "text": "Why?", "response": "So.", "ts": time_at(60)});
    assert_eq!(other.post("/api/v1/turns", &asked).0, 201);
    let stars = json!({"stars": 1, "ts": hour(1)});
    assert_eq!(other.post("/api/v1/turns/o/feedback", &stars).0, 200);
    let check_all = |server: &Server| {
        let by_hour = [[0; 3], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0; 3]];
        for (n, expected) in (0..).zip(by_hour) {
            let (start, end) = (time_at(n * 3600), time_at((n + 1) * 3600));
            assert_eq!(user_counts(server, &start, &end), expected, "hour {n}");
            let path = format!(
                "/api/v1/feedback/quality/default?by=reaction&project=default&start={start}&end={end}"
            );
            let (_, quality) = server.get(&path);
            let satisfaction = &quality["metrics"]["satisfaction"];
            let [ok, not_ok, neutral] = expected;
            assert_eq!(satisfaction["numerator"].as_f64(), Some(ok as f64), "{satisfaction}");
            assert_eq!(satisfaction["denominator"], ok + not_ok + neutral, "{satisfaction}");
        }
    };
    check_all(&server);
    check_all(&server.kill_and_restart());
}

#[test]
fn page_that_skips_many_candidates_is_short_and_continues() {
    let server = Server::start();
    // Conversations over many days: each is a candidate on every one of them.
    let rating = |n: usize| {
        json!({"type": "explicit", "source": "user_rating", "category": "accuracy",
            "session_id": format!("c{}", n % 400), "message_id": format!("t{n}"), "user_id": "u1",
            "timestamp": time_at((n / 400) as i64 * DAY), "data": {"rating": "positive"}})
    };
    let ratings: Value = (0..400 * 20).map(rating).collect();
    assert_eq!(server.post("/api/v1/feedback/batch", &ratings).1["accepted"], 8000);
    let all = |filter: Value| {
        let (mut seen, mut cursor, mut pages) = (BTreeSet::new(), Value::Null, 0);
        loop {
            let mut body = json!({"start": time_at(0), "end": time_at(30 * DAY), "limit": 100});
            body.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
            body["cursor"] = cursor;
            let page = page(&server, &body);
            for item in page["items"].as_array().unwrap() {
                let id = item["conversation_id"].as_str().unwrap().to_owned();
                assert!(seen.insert(id), "repeated: {item}");
            }
            (pages, cursor) = (pages + 1, page["next_cursor"].clone());
            if cursor.is_null() {
                return (seen.len(), pages);
            }
        }
    };
    assert_eq!(all(json!({})), (400, 4), "nothing to pass over when nothing came later");
    let (seen, pages) = all(json!({"reaction": "ok"}));
    assert_eq!(seen, 400);
    assert!((4..=8).contains(&pages), "{pages} pages");
}
