//! One request with all feedback on a turn.

use serde_json::{Value, json};

use crate::failures::failures;
use crate::feedback_calls::{counts, react, turn};
use crate::keys::create;
use crate::quoted_turns::{check_rebuild, metric};
use crate::server::Server;

fn give(server: &Server, turn: &str, body: &Value) -> (u16, Value) {
    server.post(&format!("/api/v1/turns/{turn}/feedback"), body)
}

fn user_reactions(server: &Server, turn: &str) -> Vec<Value> {
    let mut shown = server.get(&format!("/api/v1/turns/{turn}")).1;
    let mut all = std::mem::take(shown["reactions"].as_array_mut().unwrap());
    all.retain(|given| given["origin"] == "user");
    all
}

fn stored_events(server: &Server, source: &str) -> Vec<Value> {
    let page = server.get(&format!("/api/v1/events?source={source}")).1;
    page["items"].as_array().unwrap().clone()
}

#[test]
fn all_parts_of_feedback_are_stored_together_and_survive_a_kill() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let body = json!({"user_id": "ann", "reaction": "not_ok", "comment": "too short",
        "correction": "43", "tags": ["wrong_number"]});
    let (status, given) = give(&server, "t1", &body);
    let expected = json!({"turn_id": "t1", "stored": ["reaction", "comment", "correction", "tags"],
        "pending": false, "warnings": []});
    assert_eq!((status, given), (200, expected));
    let server = server.kill_and_restart();
    assert_eq!(counts(&server, "c1"), [1, 1, 0, 0, 1, 0]);
    let shown = server.get("/api/v1/turns/t1").1;
    assert_eq!(shown["reactions"][0]["user_id"], "ann");
    assert_eq!(shown["comments"][0]["text"], "too short");
    assert_eq!(shown["comments"][0]["sentiment"]["sentiment"], "negative");
    for source in ["reaction", "user_comment", "user_correction"] {
        let [event] = &stored_events(&server, source)[..] else { panic!("{source}") };
        assert_eq!((&event["tags"], &event["user_id"]), (&json!(["wrong_number"]), &json!("ann")));
        assert_eq!(event["session_id"], "c1");
        let id = event["id"].as_str().unwrap();
        assert_eq!(server.get(&format!("/api/v1/feedback/{id}")).0, 200, "{source}");
    }
    assert_eq!(stored_events(&server, "user_correction")[0]["data"]["corrected"], "43");
}

#[test]
fn reaction_wins_over_stars_and_stars_over_rating() {
    let server = Server::start();
    for (number, (body, expected, field)) in [
        (json!({"reaction": "ok", "stars": 1, "rating": 0}), "ok", "reaction"),
        (json!({"stars": 2, "rating": 1}), "not_ok", "stars"),
        (json!({"stars": 3}), "neutral", "stars"),
        (json!({"rating": 0.75}), "ok", "rating"),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("t{number}");
        turn(&server, "c1", &id);
        let (status, given) = give(&server, &id, &body);
        assert_eq!((status, &given["stored"]), (200, &json!([field])), "{given}");
        let warned = given["warnings"].as_array().unwrap();
        assert_eq!(warned.len(), body.as_object().unwrap().len() - 1, "{given}");
        assert!(warned.iter().all(|one| one["code"] == "overridden_field"), "{given}");
        let reactions = user_reactions(&server, &id);
        assert_eq!(
            (&reactions[0]["reaction"], &reactions[0]["user_id"]),
            (&json!(expected), &json!("u1"))
        );
    }
    assert_eq!(give(&server, "t0", &json!({"stars": 2})).0, 200);
    assert_eq!(user_reactions(&server, "t0").len(), 1);
    assert_eq!(give(&server, "t0", &json!({"reaction": null})).1["stored"], json!(["reaction"]));
    assert_eq!(user_reactions(&server, "t0"), Vec::<Value>::new());
}

#[test]
fn later_reaction_replaces_stars_of_the_same_class() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let reward = |server: &Server| server.get("/api/v1/turns/t1").1["reward"].as_f64().unwrap();
    assert_eq!(give(&server, "t1", &json!({"stars": 4})).0, 200);
    let of_stars = reward(&server);
    assert_eq!(give(&server, "t1", &json!({"reaction": "ok"})).0, 200);
    let of_reaction = reward(&server);
    assert!(of_reaction > of_stars, "{of_reaction} {of_stars}");
    // The same reaction changes nothing, by either endpoint.
    let head = server.get("/health/ready").1["position"].clone();
    assert_eq!(give(&server, "t1", &json!({"reaction": "ok"})).0, 200);
    assert_eq!(react(&server, "c1", "t1", &json!({"reaction": "ok"})).0, 200);
    assert_eq!(server.get("/health/ready").1["position"], head);
    assert_eq!(give(&server, "t1", &json!({"stars": 4})).0, 200);
    assert_eq!(react(&server, "c1", "t1", &json!({"reaction": "ok"})).0, 200);
    let server = server.kill_and_restart();
    assert_eq!(reward(&server), of_reaction);
    assert_eq!(user_reactions(&server, "t1").len(), 1);
    assert_eq!(counts(&server, "c1"), [1, 1, 0, 1, 0, 0]);
}

#[test]
fn tags_are_stored_with_an_unchanged_reaction() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    turn(&server, "c1", "t2");
    assert_eq!(give(&server, "t1", &json!({"reaction": "not_ok"})).0, 200);
    let tagged = json!({"reaction": "not_ok", "tags": ["wrong_table"]});
    let cleared = json!({"reaction": null, "tags": ["wrong_table"]});
    for (id, body) in [("t1", &tagged), ("t1", &tagged), ("t2", &cleared)] {
        let (status, given) = give(&server, id, body);
        assert_eq!((status, &given["stored"]), (200, &json!(["reaction", "tags"])), "{given}");
    }
    let check = |server: &Server| {
        let mut given = stored_events(server, "reaction");
        given.retain(|event| event["type"] == "explicit");
        let tags: Vec<&Value> = given.iter().map(|event| &event["tags"]).collect();
        let expected = [json!([]), json!(["wrong_table"]), json!(["wrong_table"])];
        assert_eq!(tags, expected.iter().collect::<Vec<_>>(), "a repeat changes nothing");
        let listed = server.get("/api/v1/turns?tag=wrong_table").1;
        assert_eq!(listed["items"].as_array().unwrap().len(), 2, "{listed}");
        assert_eq!(user_reactions(server, "t1").len(), 1);
    };
    check(&server);
    check(&server.kill_and_restart());
}

#[test]
fn feedback_before_its_turn_joins_it_once() {
    let server = Server::start();
    let body = json!({"reaction": "ok", "comment": "nice", "conversation_id": "c1"});
    let (status, given) = give(&server, "t1", &body);
    assert_eq!((status, &given["pending"]), (202, &json!(true)), "{given}");
    assert_eq!(given["warnings"][0]["code"], "unknown_turn");
    let server = server.kill_and_restart();
    turn(&server, "c1", "t1");
    let shown = server.get("/api/v1/turns/t1").1;
    assert_eq!(shown["reactions"][0]["user_id"], "u1", "the turn's user: {shown}");
    assert_eq!(shown["comments"][0]["text"], "nice");
    assert_eq!(counts(&server, "c1"), [1, 1, 0, 1, 0, 0]);
    assert_eq!(give(&server, "t1", &json!({"reaction": "ok"})).1["pending"], false);
    let server = server.kill_and_restart();
    assert_eq!(counts(&server, "c1"), [1, 1, 0, 1, 0, 0]);
}

#[test]
fn feedback_is_all_or_nothing_and_idempotent_by_its_key() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let head = server.get("/health/ready").1["position"].clone();
    for (body, field) in [
        (json!({}), "body"),
        (json!({"reaction": "ok", "stars": 9}), "stars"),
        (json!({"reaction": "ok", "rating": 4}), "rating"),
        (json!({"reaction": "ok", "comment": "a\0b"}), "comment"),
        (json!({"reaction": "ok", "tags": [""]}), "tags[0]"),
        (json!({"reaction": "great", "comment": "a"}), "reaction"),
        (json!({"reaction": "ok", "colour": "red"}), "colour"),
    ] {
        let (status, problem) = give(&server, "t1", &body);
        assert!(matches!(status, 400 | 422), "{problem}");
        assert_eq!(problem["field"], field, "{problem}");
    }
    let (status, other) = give(&server, "t1", &json!({"reaction": "ok", "conversation_id": "c2"}));
    assert_eq!(status, 409);
    assert!(other["detail"].as_str().unwrap().contains("c1"), "{other}");
    assert_eq!(server.get("/health/ready").1["position"], head, "nothing was stored");
    let client = server.client().with_header("Idempotency-Key", "k1");
    let body = json!({"reaction": "ok", "comment": "nice"});
    let path = "/api/v1/turns/t1/feedback";
    assert_eq!(client.post(path, &body), client.post(path, &body));
    assert_eq!(client.post(path, &json!({"reaction": "ok"})).0, 409);
    assert_eq!(stored_events(&server, "user_comment").len(), 1);
    // The same reaction with a new comment stores the comment.
    assert_eq!(give(&server, "t1", &json!({"reaction": "ok", "comment": "again"})).0, 200);
    assert_eq!(stored_events(&server, "user_comment").len(), 2);
    assert_eq!(counts(&server, "c1"), [1, 1, 0, 1, 0, 0]);
}

#[test]
fn widget_keys_give_feedback_on_existing_turns_only() {
    let server = Server::start();
    turn(&server, "c1", "t1");
    let key = create(&server, &["--role", "widget", "--tenant", "default"]);
    let client = server.client().with_header("X-API-Key", &key);
    let post =
        |turn: &str, body: &Value| client.post(&format!("/api/v1/turns/{turn}/feedback"), body);
    assert_eq!(post("t1", &json!({"stars": 5, "comment": "nice"})).0, 200);
    for (turn, body) in
        [("t2", json!({"stars": 5})), ("t1", json!({"stars": 5, "conversation_id": "c2"}))]
    {
        let (status, problem) = post(turn, &body);
        assert_eq!(status, 404, "{problem}");
        assert!(!problem.to_string().contains("c1"), "{problem}");
    }
    assert_eq!(post("t1", &json!({"correction": "43"})).0, 403);
}

#[test]
fn feedback_on_a_quoted_turn_is_not_attributed_to_the_quoting_user() {
    let server = Server::start();
    let quote = json!({"type": "explicit", "source": "user_rating", "category": "accuracy",
        "user_id": "bob", "message_id": "t1",
        "data": {"rating": "positive", "query": "Show sales", "response": "SELECT 1"}});
    assert_eq!(server.post("/api/v1/feedback", &quote).0, 201);
    let (status, given) = give(&server, "t1", &json!({"stars": 1, "conversation_id": "c1"}));
    assert_eq!((status, &given["pending"]), (202, &json!(true)), "{given}");
    let own = json!({"conversation_id": "c1", "turn_id": "t1", "user_id": "ann",
        "text": "Show sales", "response": "SELECT 1"});
    assert_eq!(server.post("/api/v1/turns", &own).0, 201);
    let server = server.kill_and_restart();
    let mut found: Vec<(String, String)> = user_reactions(&server, "t1")
        .iter()
        .map(|one| {
            [&one["user_id"], &one["reaction"]].map(|field| field.as_str().unwrap().to_owned())
        })
        .map(|[user, reaction]| (user, reaction))
        .collect();
    found.sort();
    let expected = [("ann", "not_ok"), ("bob", "ok")];
    assert_eq!(found, expected.map(|(user, given)| (user.to_owned(), given.to_owned())));
}

#[test]
fn rating_before_the_turn_is_replaced_by_the_users_next_one() {
    let server = Server::start();
    assert_eq!(give(&server, "t1", &json!({"stars": 5})).0, 202);
    let own = json!({"conversation_id": "c1", "turn_id": "t1", "user_id": "ann",
        "text": "Show sales", "response": "There were 7 sales in May."});
    assert_eq!(server.post("/api/v1/turns", &own).0, 201);
    let reward = |server: &Server| {
        let turn = server.get("/api/v1/turns/t1").1;
        [turn["reward"].as_f64().unwrap(), turn["reward_weight"].as_f64().unwrap()]
    };
    assert_eq!(reward(&server)[0], 1.0);
    assert_eq!(give(&server, "t1", &json!({"stars": 2})).0, 200);
    assert_eq!(reward(&server)[0], 0.25);
    assert_eq!(give(&server, "t1", &json!({"reaction": null})).0, 200);
    assert_eq!(reward(&server), [0.7, 0.0]);
    assert_eq!(reward(&server.kill_and_restart()), [0.7, 0.0]);
}

#[test]
fn comments_of_many_users_on_unknown_turns_make_a_suggestion() {
    const USERS: usize = 12;
    let server = Server::start();
    for n in 0..USERS {
        // Half of the clients name the conversation.
        let conversation = (n % 2 == 0).then(|| format!("c{n}"));
        let body = json!({"user_id": format!("user-{n}"), "conversation_id": conversation,
            "comment": "The chart should show percentages, not raw numbers"});
        let (status, given) = give(&server, &format!("msg-{n}"), &body);
        assert_eq!((status, &given["pending"]), (202, &json!(true)), "{given}");
    }
    let check = |server: &Server| {
        let found = failures(server);
        assert_eq!(found["patterns"][0]["count"], USERS, "{found}");
        let (_, made) = server.post("/api/v1/prompts/suggestions", &json!({"window_days": 7}));
        let instruction = made["suggestions"][0]["instruction"].as_str().unwrap();
        assert!(instruction.to_lowercase().contains("percentages"), "{made}");
        assert_eq!(metric(server, "feedback_coverage"), (USERS as f64, USERS as u64));
        let insights = server.get("/api/v1/feedback/insights/default").1;
        let sentiment = insights["comment_sentiment"].as_object().unwrap().values();
        assert_eq!(sentiment.map(|count| count.as_u64().unwrap()).sum::<u64>(), USERS as u64);
    };
    check(&server);
    let server = check_rebuild(server);
    check(&server);
    // The turns arrive. Nothing is counted twice.
    for n in 0..USERS {
        let (id, conversation) = (format!("msg-{n}"), format!("c{n}"));
        let own = json!({"conversation_id": conversation, "turn_id": id, "response": "A chart.",
            "user_id": format!("user-{n}"), "text": format!("Draw the sales of week {n}")});
        let (status, opened) = server.post("/api/v1/turns", &own);
        assert_eq!(status, 201, "{opened}");
        let shown = server.get(&format!("/api/v1/turns/{id}")).1;
        assert_eq!(shown["conversation_id"], *conversation, "{shown}");
        assert_eq!(shown["comments"].as_array().unwrap().len(), 1, "{shown}");
        assert_eq!(give(&server, &id, &json!({"tags": ["chart"]})).1["pending"], false);
    }
    check(&server);
    check(&check_rebuild(server));
}
