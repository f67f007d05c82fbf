//! Lists of conversations and turns over the API.

use serde_json::{Value, json};

use crate::server::Server;

fn stage(server: &Server) {
    let rows = [
        ("c1", "t1", "ann", "Revenue of June?", "It was 12 million.", "m1", 0.5, 900),
        (
            "c1",
            "t2",
            "ann",
            "No, that is wrong, I meant July",
            "July had 14 million.",
            "m1",
            0.25,
            700,
        ),
        ("c2", "t3", "bob", "Rotate a PDF", "Error: upstream timed out", "m2", 0.1, 30_000),
        ("c3", "t4", "zoë", "Weather, \"today\"?\nSoon", "=SUM(A1)", "m1", 2.0, 100),
    ];
    for (number, (conversation, turn, user, text, response, model, cost, latency)) in
        rows.into_iter().enumerate()
    {
        let body = json!({"conversation_id": conversation, "turn_id": turn, "user_id": user,
            "text": text, "response": response, "model": model, "cost": cost, "latency_ms": latency,
            "intent": format!("intent{number}"), "strategy": {"name": format!("s{number}")},
            "ts": format!("2026-01-0{}T00:00:00Z", number + 1)});
        let (status, opened) = server.post("/api/v1/turns", &body);
        assert_eq!(status, 201, "{opened}");
    }
    let tagged = json!({"reaction": "ok", "tags": ["good one"]});
    assert_eq!(server.post("/api/v1/turns/t4/feedback", &tagged).0, 200);
    assert_eq!(server.post("/api/v1/turns/t3/feedback", &json!({"stars": 1})).0, 200);
}

fn ids(server: &Server, path: &str) -> Vec<String> {
    let (status, page) = server.get(path);
    assert_eq!(status, 200, "{path} {page}");
    let name = if path.starts_with("/api/v1/turns") { "turn_id" } else { "conversation_id" };
    let items = page["items"].as_array().unwrap().iter();
    items.map(|item| item[name].as_str().unwrap().to_owned()).collect()
}

#[test]
fn conversations_are_listed_with_counts_filters_and_sorts() {
    let server = Server::start();
    stage(&server);
    let check = |server: &Server| {
        let (_, page) = server.get("/api/v1/conversations");
        assert_eq!(
            (&page["total"], &page["total_is_capped"]),
            (&json!(3), &json!(false)),
            "{page}"
        );
        let first = page["items"].as_array().unwrap().last().unwrap();
        let expected = json!({"conversation_id": "c1", "user_id": "ann",
            "first_question": "Revenue of June?", "last_message": "No, that is wrong, I meant July",
            "turns": 2, "worst_status": "rejected", "rejected": 1, "accepted": 0,
            "reactions": {"ok": 0, "not_ok": 0, "neutral": 0}, "cost": 0.75,
            "max_latency_seconds": 0.9, "started_at": "2026-01-01T00:00:00.000000Z",
            "last_at": "2026-01-02T00:00:00.000000Z"});
        assert_eq!(*first, expected);
        for (query, expected) in [
            ("", &["c3", "c2", "c1"][..]),
            ("?status=rejected", &["c2", "c1"]),
            ("?status=accepted", &["c3"]),
            ("?reaction=not_ok", &["c2"]),
            ("?user_id=zo%C3%AB", &["c3"]),
            ("?model=m1", &["c3", "c1"]),
            ("?strategy=s1", &["c1"]),
            ("?intent=intent2", &["c2"]),
            ("?tag=good%20one", &["c3"]),
            ("?tag=good", &[]),
            ("?error_type=error_text", &["c2"]),
            ("?error_type=model_refusal_or_error", &["c2"]),
            ("?error_type=model_refusal", &[]),
            ("?text=revenue", &["c1"]),
            ("?from=2026-01-03T00:00:00&to=1767398400", &["c2"]),
            ("?sort=worst", &["c2", "c1"]),
            ("?sort=cost", &["c3", "c1", "c2"]),
            ("?sort=latency", &["c2", "c1", "c3"]),
        ] {
            assert_eq!(ids(server, &format!("/api/v1/conversations{query}")), expected, "{query}");
        }
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
}

/// The ids of all pages.
fn page_ids(server: &Server, path: &str) -> Vec<String> {
    let (mut found, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let next = cursor.as_str().map(|text| format!("&cursor={text}")).unwrap_or_default();
        let page = format!("{path}{next}");
        found.extend(ids(server, &page));
        cursor = server.get(&page).1["next_cursor"].clone();
        if cursor.is_null() {
            return found;
        }
    }
}

#[test]
fn pages_of_a_user_have_conversations_shared_with_others() {
    let server = Server::start();
    for (conversation, turn, user, day) in
        [("c1", "t1", "ann", 1), ("c2", "t3", "ann", 3), ("c1", "t5", "bob", 5)]
    {
        let body = json!({"conversation_id": conversation, "turn_id": turn, "user_id": user,
            "text": "Rotate a PDF", "ts": format!("2026-01-0{day}T00:00:00Z")});
        assert_eq!(server.post("/api/v1/turns", &body).0, 201);
    }
    for filter in ["", "&text=rotate"] {
        let path = format!("/api/v1/conversations?user_id=ann&limit=1{filter}");
        assert_eq!(server.get(&path).1["total"], 2);
        assert_eq!(page_ids(&server, &path), ["c2", "c1"], "{path}");
    }
}

#[test]
fn list_pages_are_complete_and_invalid_filters_are_named() {
    let server = Server::start();
    stage(&server);
    for (path, expected) in [
        ("/api/v1/conversations?sort=recent&limit=1", &["c3", "c2", "c1"][..]),
        ("/api/v1/conversations?sort=cost&limit=1", &["c3", "c1", "c2"]),
        ("/api/v1/turns?limit=1", &["t4", "t3", "t2", "t1"]),
        ("/api/v1/turns?limit=3&text=million", &["t2", "t1"]),
    ] {
        assert_eq!(page_ids(&server, path), expected, "{path}");
    }
    for (query, field) in [
        ("status=bad", "status"),
        ("language=xx", "language"),
        ("error_type=bad", "error_type"),
        ("from=soon", "from"),
        ("sort=best", "sort"),
        ("sort=cost&text=a", "sort"),
        ("cursor=x", "cursor"),
        ("limit=0", "limit"),
        ("colour=red", "colour"),
    ] {
        let (status, problem) = server.get(&format!("/api/v1/conversations?{query}"));
        assert_eq!((status, problem["field"].as_str()), (422, Some(field)), "{problem}");
    }
}

#[test]
fn lists_filter_by_the_language_of_the_question() {
    let server = Server::start();
    let texts = [
        ("c1", "Revenue of June?"),
        ("c2", "Wie hoch war der Umsatz gestern?"),
        ("c1", "Und wie war der im August?"),
        ("c3", "用 Python 写一个函数"),
        ("c4", "Какая выручка за июль?"),
        ("c5", "Zeig mir die Kunden in Bremen"),
    ];
    for (number, (conversation, text)) in texts.into_iter().enumerate() {
        let turn = json!({"conversation_id": conversation, "turn_id": format!("t{number}"),
            "user_id": "ann", "text": text, "ts": format!("2026-01-0{}T00:00:00Z", number + 1)});
        assert_eq!(server.post("/api/v1/turns", &turn).0, 201);
    }
    // Feedback that quotes its question.
    let quoted = json!({"type": "explicit", "source": "user_rating", "category": "accuracy",
        "message_id": "t9", "session_id": "c9", "ts": "2026-01-09T00:00:00Z",
        "data": {"rating": "positive", "query": "Wo sind die Berichte?", "response": "Hier."}});
    let (status, stored) = server.post("/api/v1/feedback", &quoted);
    assert_eq!(status, 201, "{stored}");
    let check = |server: &Server| {
        for (filter, expected) in [
            ("language=de", &["c9", "c5", "c1", "c2"][..]),
            ("language=de&user_id=ann", &["c5", "c1", "c2"]),
            ("language=de&text=umsatz", &["c2"]),
            ("language=en", &["c1"]),
            ("language=zh", &["c3"]),
            ("language=fr", &[]),
        ] {
            let path = format!("/api/v1/conversations?limit=1&{filter}");
            assert_eq!(page_ids(server, &path), expected, "{filter}");
            assert_eq!(server.get(&path).1["total"], expected.len(), "{filter}");
        }
        assert_eq!(page_ids(server, "/api/v1/turns?language=de&limit=2"), ["t9", "t5", "t2", "t1"]);
        assert_eq!(server.get("/api/v1/turns/t1").1["language"], "de");
        assert_eq!(server.get("/api/v1/turns/t4").1["language"], Value::Null);
        let csv = server.client().with_header("Accept", "text/csv");
        let csv = csv.get("/api/v1/turns?language=de&limit=1").1;
        let mut lines = csv.as_str().unwrap().split_terminator("\r\n");
        assert!(lines.next().unwrap().ends_with(",language"), "{csv}");
        assert!(lines.next().unwrap().ends_with(",de"), "{csv}");
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
    assert_eq!(server.client().delete("/api/v1/users/ann").0, 200);
    assert_eq!(page_ids(&server, "/api/v1/turns?language=de"), ["t9"]);
}

#[test]
fn worst_conversations_include_those_with_criticism_alone() {
    let server = Server::start();
    stage(&server);
    let comment = json!({"comment": "This is terrible, completely useless."});
    assert_eq!(server.post("/api/v1/turns/t4/feedback", &comment).0, 200);
    let check = |server: &Server| {
        let page = server.get("/api/v1/conversations?sort=worst").1;
        assert_eq!((page["items"].as_array().unwrap().len(), &page["total"]), (3, &json!(3)));
    };
    check(&server);
    check(&server.kill_and_restart());
}

#[test]
fn turns_are_listed_with_their_reward() {
    let server = Server::start();
    stage(&server);
    assert_eq!(ids(&server, "/api/v1/turns?conversation_id=c1"), ["t2", "t1"]);
    assert_eq!(ids(&server, "/api/v1/turns?session_id=c1&status=rejected"), ["t1"]);
    assert_eq!(ids(&server, "/api/v1/turns?conversation_id=none"), Vec::<String>::new());
    let check = |server: &Server| {
        let page = server.get("/api/v1/turns").1;
        for item in page["items"].as_array().unwrap() {
            let id = item["turn_id"].as_str().unwrap();
            let alone = server.get(&format!("/api/v1/turns/{id}")).1;
            for name in
                ["conversation_id", "user", "assistant", "reactions", "reward", "reward_weight"]
            {
                assert_eq!(item[name], alone[name], "{id} {name}");
            }
            let (reward, weight) =
                (item["reward"].as_f64().unwrap(), item["reward_weight"].as_f64().unwrap());
            let expected = match id {
                "t1" => (0.0, weight),
                "t2" => (0.9, 0.3),
                // An explicit 0 at weight 0.7, and a failed answer at weight 0.3.
                "t3" => (0.0, 1.0),
                // An explicit 1 at weight 0.7, and a fast answer at weight 0.3.
                _ => (0.97, 1.0),
            };
            assert!(
                (reward - expected.0).abs() < 1e-9 && (weight - expected.1).abs() < 1e-9,
                "{id}: {reward} {weight}"
            );
            assert!(weight > 0.0);
        }
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
    assert_eq!(server.post("/api/v1/turns", &json!({"turn_id": "t9", "text": "q"})).0, 201);
    let open = server.get("/api/v1/turns/t9").1;
    assert_eq!((&open["reward"], &open["reward_weight"]), (&json!(0.7), &json!(0.0)));
}

#[test]
fn turns_are_filtered_by_error_type() {
    let server = Server::start();
    stage(&server);
    let server = server.kill_and_restart();
    for (error_type, expected) in
        [("error_text", &["t3"][..]), ("model_refusal_or_error", &["t3"]), ("model_refusal", &[])]
    {
        assert_eq!(ids(&server, &format!("/api/v1/turns?error_type={error_type}")), expected);
    }
}

#[test]
fn lists_are_exported_as_csv() {
    let server = Server::start();
    stage(&server);
    let client = server.client().with_header("Accept", "text/csv");
    let (status, csv) = client.get("/api/v1/turns?conversation_id=c3");
    let csv = csv.as_str().unwrap().to_owned();
    assert_eq!(status, 200);
    let expected =
        "t4,c3,zoë,2026-01-04T00:00:00.000000Z,\"Weather, \"\"today\"\"?\nSoon\",'=SUM(A1),m1,s3,";
    let row = csv.split_once("\r\n").unwrap().1;
    assert!(csv.starts_with("turn_id,conversation_id,user_id,ts,question,answer,"), "{csv}");
    assert!(row.starts_with(expected) && row.contains(",0.97,1.0,ok,en\r\n"), "{csv}");
    let csv = client.get("/api/v1/conversations?sort=cost").1;
    let lines: Vec<&str> = csv.as_str().unwrap().split_terminator("\r\n").collect();
    assert!(lines[0].starts_with("conversation_id,user_id,first_question"), "{csv}");
    assert_eq!(lines.len(), 4, "{csv}");
    let server = server.kill_and_restart();
    let (mut turns, mut cursor) = (Vec::new(), String::new());
    let agent = ureq::Agent::new_with_defaults();
    loop {
        let url = format!("{}/api/v1/turns?limit=2{cursor}", server.url);
        let mut answer = agent.get(&url).header("Accept", "text/csv").call().unwrap();
        let page = answer.body_mut().read_to_string().unwrap();
        let rows = page.split_terminator("\r\n").skip(1);
        turns.extend(rows.map(|row| row.split(',').next().unwrap().to_owned()));
        let Some(next) = answer.headers().get("X-Next-Cursor") else { break };
        cursor = format!("&cursor={}", next.to_str().unwrap());
    }
    assert_eq!(turns, ["t4", "t3", "t2", "t1"]);
}
