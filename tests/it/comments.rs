//! Comments: sentiment is detected and stored; the related failure pattern is found on request.

use serde_json::{Value, json};

use crate::failures::{PLACES, corrected, failures};
use crate::server::{Server, uptake};

fn comment(server: &Server, id: &str, turn: Option<&str>, data: &Value) {
    let body = json!({"id": id, "type": "explicit", "source": "user_comment", "category": "quality",
        "user_id": "ann", "message_id": turn, "data": data});
    let (status, answer) = server.post("/api/v1/feedback", &body);
    assert_eq!(status, 201, "{answer}");
}

fn shown(server: &Server, id: &str) -> Value {
    let (status, event) = server.get(&format!("/api/v1/feedback/{id}"));
    assert_eq!(status, 200, "{event}");
    event
}

fn sentiment(server: &Server, id: &str) -> Value {
    shown(server, id)["sentiment"]["sentiment"].clone()
}

fn counts(server: &Server) -> Value {
    let (status, insights) = server.get("/api/v1/feedback/insights/default");
    assert_eq!(status, 200, "{insights}");
    insights["comment_sentiment"].clone()
}

/// A turn with comments of every sentiment, and a comment without a turn.
fn send_comments(server: &Server) {
    let asked = json!({"conversation_id": "c1", "turn_id": "t1", "user_id": "ann",
        "text": "Show total sales", "response": "They add up to 12.", "model": "m1"});
    assert_eq!(server.post("/api/v1/turns", &asked).0, 201);
    comment(server, "good", Some("t1"), &json!({"comment": "Very useful, thanks"}));
    comment(server, "bad", Some("t1"), &json!({"comment": "The total is wrong"}));
    comment(server, "so", Some("t1"), &json!({"comment": "Where does this number come from?"}));
    comment(server, "loose", None, &json!({"comment": "Not helpful at all"}));
    let own = json!({"comment": "The total is wrong", "rating": "positive"});
    comment(server, "own", Some("t1"), &own);
}

/// Checks the sentiment of every comment: by id, in its conversation and in the counts.
fn check_sentiments(server: &Server) -> (Value, Value) {
    let expected = [
        ("good", "positive"),
        ("bad", "negative"),
        ("so", "neutral"),
        ("loose", "negative"),
        ("own", "positive"),
    ];
    for (id, word) in expected {
        assert_eq!(sentiment(server, id), word, "{id}");
    }
    let bad = shown(server, "bad");
    assert!(bad["sentiment"]["confidence"].as_f64().unwrap() > 0.7, "{bad}");
    let detector = bad["sentiment"]["detector"].as_str().unwrap();
    assert!(detector.starts_with("sentiment.model/"), "{detector}");
    assert_eq!(
        (&bad["data"], &bad["topic"]),
        (&json!({"comment": "The total is wrong"}), &Value::Null)
    );
    assert_eq!(shown(server, "own")["sentiment"]["detector"], "rating", "the writer's own word");
    let (_, talk) = server.get("/api/v1/conversations/c1");
    let comments = talk["turns"][0]["comments"].as_array().unwrap().clone();
    let heard: Vec<(&str, &str)> = comments
        .iter()
        .map(|one| {
            (one["event_id"].as_str().unwrap(), one["sentiment"]["sentiment"].as_str().unwrap())
        })
        .collect();
    let here = expected.into_iter().filter(|(id, _)| *id != "loose").collect::<Vec<_>>();
    assert_eq!(heard, here);
    assert_eq!(
        (&comments[1]["text"], &comments[1]["user_id"]),
        (&json!("The total is wrong"), &json!("ann"))
    );
    assert_eq!(counts(server), json!({"positive": 2, "negative": 2, "neutral": 1}));
    (talk["turns"][0]["comments"].clone(), bad)
}

#[test]
fn comment_sentiment_is_stored_shown_and_counted() {
    let server = Server::start();
    send_comments(&server);
    let first = check_sentiments(&server);
    // A repeated comment is not a second one.
    let again = json!({"id": "bad", "type": "explicit", "source": "user_comment", "category": "quality",
        "user_id": "ann", "message_id": "t1", "data": {"comment": "The total is wrong"}});
    assert_eq!(server.post("/api/v1/feedback", &again).0, 200);
    let server = server.kill_and_restart();
    assert_eq!(check_sentiments(&server), first);
    let (_, folder) = server.stop();
    let (_, out, err) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains(r#""changed":false"#), "{out}{err}");
    let server = Server::start_in(folder);
    assert_eq!(check_sentiments(&server), first);
    // Filtered by model; another tenant has none.
    let by = |query: &str| server.get(&format!("/api/v1/feedback/insights/default?{query}")).1;
    assert_eq!(
        by("model=m1")["comment_sentiment"]["negative"],
        1,
        "the one without a turn has no model"
    );
    assert_eq!(by("user_id=ann")["comment_sentiment"]["positive"], 2);
    let other = server.client().with_header("X-Uptake-Tenant", "other");
    let theirs = other.get("/api/v1/feedback/insights/other").1;
    assert_eq!(theirs["comment_sentiment"], json!({"positive": 0, "negative": 0, "neutral": 0}));
}

#[test]
fn comment_sentiment_does_not_count_as_a_reaction() {
    let server = Server::start();
    send_comments(&server);
    let (_, turn) = server.get("/api/v1/turns/t1");
    assert_eq!((&turn["reactions"], &turn["satisfaction"]), (&json!([]), &json!(0.0)), "{turn}");
    let (_, quality) = server.get("/api/v1/feedback/quality/default");
    for figure in ["satisfaction", "rejection_rate", "correction_rate"] {
        let found = &quality["metrics"][figure]["numerator"];
        assert!(found.is_null() || found == 0.0, "{figure}: {found}");
    }
    let failed = failures(&server);
    assert_eq!((&failed["negatives"], &failed["patterns"]), (&json!(0), &json!([])));
}

#[test]
fn comment_is_linked_to_the_nearest_failure_pattern() {
    let server = Server::start();
    for (n, place) in PLACES.iter().enumerate() {
        corrected(&server, n, place);
    }
    for n in 20..26 {
        let turn = format!("t{n}");
        let asked = json!({"conversation_id": format!("c{n}"), "turn_id": turn,
            "text": "Draw a pie chart of our suppliers", "response": "chart"});
        assert_eq!(server.post("/api/v1/turns", &asked).0, 201);
        let bad = json!({"type": "explicit", "source": "user_rating", "category": "quality",
            "message_id": turn, "data": {"rating": "negative"}});
        assert_eq!(server.post("/api/v1/feedback", &bad).0, 201);
    }
    comment(
        &server,
        "sql",
        Some("t3"),
        &json!({"comment": "This should count completed orders only"}),
    );
    comment(&server, "pie", None, &json!({"comment": "The pie chart has no labels"}));
    comment(&server, "far", None, &json!({"comment": "My cat sleeps on the keyboard"}));
    for (id, text) in [("emoji", "👍"), ("letters", "aaaaaa qwxzv"), ("dots", "...")] {
        comment(&server, id, None, &json!({"comment": text}));
    }
    let check = |server: &Server| {
        for id in ["emoji", "letters", "dots"] {
            assert_eq!(shown(server, id)["topic"], Value::Null, "{id}");
        }
        let patterns = failures(server)["patterns"].clone();
        let about = |id: &str| {
            let topic = shown(server, id)["topic"].clone();
            (topic["id"].clone(), topic["label"].clone())
        };
        let of = |place: usize| (patterns[place]["id"].clone(), patterns[place]["label"].clone());
        assert_eq!(patterns.as_array().unwrap().len(), 2, "{patterns}");
        assert_eq!((about("sql"), about("pie")), (of(0), of(1)));
        assert_eq!(shown(server, "far")["topic"], Value::Null);
        let turn = server.get("/api/v1/turns/t3").1;
        assert_eq!(turn["comments"][0]["topic"]["id"], patterns[0]["id"], "{turn}");
        // The pattern is part of the response; the stored event does not change.
        let logged = server.get("/api/v1/events?source=user_comment").1;
        assert!(
            logged["items"][0].get("topic").is_none()
                && logged["items"][0].get("sentiment").is_none()
        );
    };
    check(&server);
    check(&server.kill_and_restart());
}

#[test]
fn imported_sentiment_is_kept_and_erasure_leaves_only_counts() {
    let server = Server::start();
    send_comments(&server);
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let log = folder.path().join("log.jsonl");
    let log = log.to_str().unwrap();
    assert_eq!(uptake(server.folder(), &["export", "--output", log]).0, Some(0));
    for _ in 0..2 {
        let (code, _, err) = uptake(data.path(), &["import", log]);
        assert_eq!(code, Some(0), "{err}");
    }
    let (code, out, err) = uptake(data.path(), &["rebuild", "--json"]);
    assert!(code == Some(0) && out.contains(r#""changed":false"#), "{out}{err}");
    let copy = Server::start_in(data);
    assert_eq!(counts(&copy), counts(&server));
    assert_eq!(sentiment(&copy, "bad"), "negative");

    assert_eq!(server.client().delete("/api/v1/users/ann").0, 200);
    assert_eq!(counts(&server), json!({"positive": 2, "negative": 2, "neutral": 1}));
    let logged = server.get("/api/v1/events?type=quality&source=engine").1;
    let found: Vec<&Value> = logged["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["data"]["finding"] == "sentiment")
        .collect();
    assert_eq!(found.len(), 5, "{logged}");
    assert!(found.iter().all(|event| event["data"].get("comment").is_none()), "{found:?}");
    let (_, folder) = server.stop();
    let (_, out, err) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains(r#""changed":false"#), "{out}{err}");
}

/// One user asks and comments on the answer, without a rating.
fn ask_and_comment(server: &Server, n: usize, text: &str) {
    let (turn, user) = (format!("chart-{n}"), format!("user-{n}"));
    let asked = json!({"conversation_id": turn, "turn_id": turn, "user_id": user,
        "text": format!("Draw the sales of {} as a chart", PLACES[n % PLACES.len()]),
        "response": "Here is the chart with the raw numbers of all months."});
    assert_eq!(server.post("/api/v1/turns", &asked).0, 201);
    let body = json!({"type": "explicit", "source": "user_comment", "category": "quality",
        "user_id": user, "message_id": turn, "data": {"comment": text}});
    assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
}

#[test]
fn comment_of_many_users_is_a_pattern_and_a_suggestion() {
    const COMMENT: &str = "The chart should show percentages, not raw numbers";
    let server = Server::start();
    for n in 0..2 {
        ask_and_comment(&server, n, COMMENT);
    }
    assert_eq!(failures(&server)["patterns"], json!([]), "two users are not several");
    for n in 2..12 {
        ask_and_comment(&server, n, COMMENT);
    }
    // A single complaint about something else stays out.
    ask_and_comment(&server, 12, "The colours hurt my eyes terribly");
    let check = |server: &Server| {
        let found = failures(server);
        assert_eq!(found["patterns"].as_array().unwrap().len(), 1, "{found}");
        assert_eq!(found["patterns"][0]["count"], 12, "{found}");
        assert_eq!(found["patterns"][0]["share"], 1.0, "{found}");
        let (_, made) = server.post("/api/v1/prompts/suggestions", &json!({"window_days": 7}));
        let instruction = made["suggestions"][0]["instruction"].as_str().unwrap();
        assert!(instruction.to_lowercase().contains("percentages"), "{made}");
    };
    check(&server);
    let folder = server.kill_and_leave();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.contains("\"changed\":false"), "{out}");
    check(&Server::start_in(folder));
}

#[test]
fn comments_on_answers_of_unknown_turns_make_a_suggestion() {
    let server = Server::start();
    for n in 0..12 {
        let body = json!({"type": "explicit", "source": "user_comment", "category": "quality",
            "user_id": format!("user-{n}"), "data": {"message_id": format!("msg-{n}"),
            "comment": "The chart should show percentages, not raw numbers"}});
        assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
    }
    let check = |server: &Server| {
        let found = failures(server);
        assert_eq!(found["patterns"][0]["count"], 12, "{found}");
        let (_, made) = server.post("/api/v1/prompts/suggestions", &json!({"window_days": 7}));
        let instruction = made["suggestions"][0]["instruction"].as_str().unwrap();
        assert!(instruction.to_lowercase().contains("percentages"), "{made}");
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
    // An erased user's comment is no longer evidence.
    assert_eq!(server.client().delete("/api/v1/users/user-0").0, 200);
    assert_eq!(failures(&server)["patterns"][0]["count"], 11);
}
