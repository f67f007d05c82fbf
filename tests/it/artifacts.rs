//! Search in the artifact index.

use serde_json::{Value, json};

use crate::feedback_calls::{react, turn};
use crate::server::Server;

fn search(server: &Server, mut extra: Value) -> Value {
    extra["kinds"] = json!(["artifact:turn.log.reaction"]);
    extra["roles"] = json!(["artifact"]);
    if extra["days"].is_null() {
        // The events are of a fixed day, which moves further into the past.
        extra["days"] = json!(3650);
    }
    let (status, page) = server.post("/api/v1/artifacts/search", &extra);
    assert_eq!(status, 200, "{page}");
    page
}

#[test]
fn artifact_search_filters_by_turn_user_conversation_origin_and_time() {
    let server = Server::start();
    let opened = json!({"conversation_id": "c1", "turn_id": "t1", "user_id": "u1", "text": "q",
        "track_id": "A", "bundle_id": "b", "user_type": "privileged"});
    assert_eq!(server.post("/api/v1/turns", &opened).0, 201);
    turn(&server, "c2", "t2");
    let at = |n: u32| format!("2026-01-01T00:00:{n:02}Z");
    let machine =
        json!({"reaction": "not_ok", "origin": "machine", "confidence": 0.75, "ts": at(3)});
    react(&server, "c1", "t1", &json!({"reaction": "ok", "text": "fine", "ts": at(1)}));
    react(&server, "c2", "t2", &json!({"reaction": "neutral", "user_id": "u2", "ts": at(2)}));
    react(&server, "c1", "t1", &machine);
    let check = |request: Value, expected: &[u32]| {
        let page = search(&server, request.clone());
        let found: Vec<&str> =
            page["items"].as_array().unwrap().iter().map(|i| i["ts"].as_str().unwrap()).collect();
        let expected: Vec<String> =
            expected.iter().map(|n| at(*n).replace('Z', ".000000Z")).collect();
        assert_eq!(found, expected, "{request}");
    };
    check(json!({"scope": "project"}), &[3, 2, 1]);
    check(json!({"scope": "conversation", "conversation_id": "c1"}), &[3, 1]);
    check(json!({"scope": "conversation", "conversation_id": "c9"}), &[]);
    check(json!({"scope": "user", "user_id": "u2", "days": 3650}), &[2]);
    check(json!({"all_tags": ["turn:t1", "origin:user"]}), &[1]);
    check(json!({"all_tags": ["track:A"]}), &[3, 1]);
    check(json!({"all_tags": ["track:B"]}), &[]);
    check(json!({"all_tags": ["turn:t1", "turn:t2"]}), &[]);
    check(json!({"all_tags": ["turn:t1", "turn:t1"]}), &[3, 1]);
    check(json!({"scope": "conversation", "conversation_id": "c2", "user_id": "u1"}), &[]);
    let between = json!([{"op": ">=", "value": at(2)}, {"op": "<", "value": at(3)}]);
    check(json!({"timestamp_filters": between}), &[2]);

    let page = search(&server, json!({"all_tags": ["turn:t1"], "limit": 1, "with_payload": true}));
    let item = &page["items"][0];
    let tags = json!(["artifact:turn.log.reaction", "turn:t1", "origin:machine", "track:A"]);
    assert_eq!(item["tags"], tags);
    assert_eq!(item["payload"]["reaction"]["confidence"], 0.75);
    assert_eq!(item["payload"]["meta"]["rn"], item["rn"]);
    assert_eq!(
        (&item["payload"]["meta"]["track_id"], &item["payload"]["bundle_id"]),
        (&json!("A"), &json!("b"))
    );
    let rest = json!({"all_tags": ["turn:t1"], "limit": 1, "cursor": page["next_cursor"]});
    let rest = search(&server, rest);
    assert_eq!(rest["items"][0]["tags"][2], "origin:user");
    assert_eq!((&rest["next_cursor"], rest["items"][0].get("payload")), (&Value::Null, None));
}

#[test]
fn invalid_artifact_searches_are_refused_with_the_field() {
    let server = Server::start();
    let rows = [
        (json!({"kinds": ["artifact:other"]}), "kinds"),
        (json!({"roles": ["user"]}), "roles"),
        (json!({"sort": "best"}), "sort"),
        (json!({"scope": "galaxy"}), "scope"),
        (json!({"scope": "user"}), "user_id"),
        (json!({"scope": "conversation"}), "conversation_id"),
        (json!({"days": 0}), "days"),
        (json!({"limit": 501}), "limit"),
        (json!({"all_tags": ["kind:turn.log.reaction"]}), "all_tags[0]"),
        (
            json!({"timestamp_filters": [{"op": "~", "value": "2026-01-01T00:00:00Z"}]}),
            "timestamp_filters[0].op",
        ),
        (json!({"timestamp_filters": [{"op": "<", "value": "x"}]}), "timestamp_filters[0].value"),
        (json!({"cursor": "00"}), "cursor"),
    ];
    for (body, field) in rows {
        let (status, problem) = server.post("/api/v1/artifacts/search", &body);
        assert_eq!((status, problem["field"].as_str()), (422, Some(field)), "{body}: {problem}");
    }
}
