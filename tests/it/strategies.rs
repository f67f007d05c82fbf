//! Strategy search: which earlier strategies are offered, in which order, and to which tenant.

use serde_json::{Value, json};

use crate::conversation_calls::{TestConversation, search_strategies, turn_ids};
use crate::experiments::experiment_calls::until;
use crate::feedback_calls::react;
use crate::privacy::is_on_disk;
use crate::server::{Server, uptake};

const QUESTION: &str = "What were the sales in the north region last month?";

/// Six turns with the same question: the table of the specification.
fn send_specification_table(server: &Server) {
    let rows = [
        ("a", Some("ok"), Some(0.9)),
        ("b", Some("ok"), Some(0.3)),
        ("c", None, Some(0.9)),
        ("d", None, None),
        ("e", Some("ok"), Some(0.4)),
        ("f", Some("not_ok"), Some(1.0)),
    ];
    for (turn, reaction, quality) in rows {
        // One conversation each, so that no message judges another turn.
        let talk = TestConversation::new(server, turn, turn);
        talk.send(turn, QUESTION, &json!({"intent": "sales"}));
        let strategy = json!({"name": format!("strategy-{turn}"), "params": {"n": 1}});
        talk.complete(
            turn,
            &json!({"response": "The sales in the north were 1 200 units.",
            "quality_score": quality, "strategy": strategy}),
        );
        if let Some(reaction) = reaction {
            react(server, turn, turn, &json!({"reaction": reaction, "text": "as they say"}));
        }
    }
}

#[test]
fn strategy_search_reproduces_the_specification_table() {
    let server = Server::start();
    send_specification_table(&server);
    let scores = [("a", 0.74), ("e", 0.44), ("b", 0.38), ("c", 0.54), ("d", 0.3)];
    let check = |server: &Server| {
        let search = |mode: &str| {
            let body = json!({"query": QUESTION, "k": 10, "mode": mode, "include_rejected": true});
            server.post("/api/v1/strategies/search", &body).1
        };
        let tiered = search("tiered");
        assert_eq!(turn_ids(&tiered["strategies"]), ["a", "e", "b", "c", "d"], "{tiered}");
        let formula = search("formula");
        assert_eq!(turn_ids(&formula["strategies"]), ["a", "c", "e", "b", "d"], "{formula}");
        for found in [&tiered, &formula] {
            assert_eq!(turn_ids(&found["avoid"]), ["f"]);
            assert_eq!(found["avoid"][0]["user_said"], "as they say");
            assert_eq!(found["avoid"][0]["strategy"]["name"], "strategy-f");
            for strategy in found["strategies"].as_array().unwrap() {
                let turn = strategy["turn_id"].as_str().unwrap();
                let expected = scores.iter().find(|(name, _)| *name == turn).unwrap().1;
                assert_eq!(strategy["ranking_score"], expected, "{strategy}");
                assert_eq!(strategy["strategy"]["name"], format!("strategy-{turn}"));
                assert!(strategy["similarity"].as_f64().unwrap() > 0.99, "{strategy}");
            }
        }
        let few = json!({"query": QUESTION, "k": 2});
        assert_eq!(search_strategies(server, &few), ["a", "e"]);
        let plain = server.post("/api/v1/strategies/search", &few).1;
        assert_eq!(plain["avoid"], json!([]), "only when they are asked for");
        let theirs = json!({"query": QUESTION, "user_id": "c"});
        assert_eq!(search_strategies(server, &theirs), ["c"]);
        assert_eq!(
            search_strategies(server, &json!({"query": QUESTION, "user_id": "nobody"})),
            [""; 0]
        );
        let intent = |intent: &str| json!({"query": QUESTION, "intent": intent, "k": 10});
        assert_eq!(search_strategies(server, &intent("sales")).len(), 5);
        assert_eq!(search_strategies(server, &intent("weather")), [""; 0]);
        let unlike = json!({"query": "How do I water an orchid?"});
        assert_eq!(search_strategies(server, &unlike), [""; 0]);
        let far = json!({"query": "How do I water an orchid?", "min_similarity": -1, "k": 10});
        assert_eq!(search_strategies(server, &far).len(), 5, "whatever is there");
    };
    check(&server);
    let server = server.kill_and_restart();
    wait_until_complete(&server);
    check(&server);
}

/// The index loads in the background; until then the response is marked incomplete.
fn wait_until_complete(server: &Server) {
    for _ in 0..10_000 {
        let found = server.post("/api/v1/strategies/search", &json!({"query": QUESTION})).1;
        if found["search"]["complete"] == true {
            return;
        }
        std::thread::yield_now();
    }
    panic!("the index was not read in");
}

#[test]
fn best_of_many_similar_strategies_is_offered() {
    let server = Server::start();
    for n in 0..40 {
        let turn = format!("t{n}");
        let talk = TestConversation::new(&server, &turn, &turn);
        talk.send(&turn, QUESTION, &json!({}));
        let quality = if n == 0 { 1.0 } else { 0.2 };
        talk.complete(
            &turn,
            &json!({"response": "1 200 units were sold.", "quality_score": quality,
            "strategy": {"name": "s"}}),
        );
    }
    assert_eq!(search_strategies(&server, &json!({"query": QUESTION, "k": 1})), ["t0"]);
}

#[test]
fn stored_turn_is_offered_to_the_next_request() {
    let server = Server::start();
    for n in 0..20 {
        let conversation = format!("c{n}");
        let talk = TestConversation::new(&server, &conversation, "u1");
        let (turn, text) = (format!("t{n}"), format!("How tall is mountain number {n} in Peru?"));
        talk.send(&turn, &text, &json!({}));
        let body = json!({"query": text, "k": 1, "min_similarity": 0.999});
        assert_eq!(search_strategies(&server, &body), [""; 0], "not before it is answered");
        talk.answer_with_query(&turn, "It is about 5 000 metres tall.", "mountains");
        assert_eq!(search_strategies(&server, &body), [turn]);
    }
}

#[test]
fn turns_of_silent_sessions_rank_last() {
    // No sweep before the turn was answered.
    let sweeping = |folder: tempfile::TempDir, secs: &str| {
        Server::start_with(folder, &[("UPTAKE__DETECT__SWEEP_SECS", secs)])
    };
    let server = sweeping(tempfile::tempdir().unwrap(), "86400");
    let search = json!({"query": QUESTION});
    let talk = TestConversation::new(&server, "old", "u1");
    talk.send_message_at("silent", QUESTION, 0);
    talk.complete(
        "silent",
        &json!({"response": "1 200 units.", "quality_score": 1.0,
        "strategy": {"name": "s"}}),
    );
    let talk = TestConversation::new(&server, "new", "u2");
    talk.send("going-on", QUESTION, &json!({}));
    talk.complete(
        "going-on",
        &json!({"response": "1 200 units.", "quality_score": 0.1,
        "strategy": {"name": "s"}}),
    );
    let server = sweeping(server.stop().1, "1");
    until("the end of the session", || {
        server.get("/api/v1/turns/silent").1["verdict"]["session_ended"] == true
    });
    wait_until_complete(&server);
    assert_eq!(search_strategies(&server, &search), ["going-on", "silent"]);
}

#[test]
fn correction_is_found_by_its_topic() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send_message("t1", "Find me laptops under $1000");
    talk.answer_with_query(
        "t1",
        "Here are three laptops made for business.",
        "laptops under $1000",
    );
    talk.send_message("t2", "No, I meant for gaming, not for business");
    talk.answer_with_query(
        "t2",
        "Here are three laptops for gaming.",
        "gaming laptops under $1000",
    );
    let body = json!({"query": "gaming laptops under $1000"});
    let found = server.post("/api/v1/strategies/search", &body).1;
    assert_eq!(turn_ids(&found["strategies"]), ["t2"], "{found}");
    let alone = json!({"query": "No, I meant for gaming, not for business"});
    assert_eq!(search_strategies(&server, &alone), ["t2"]);
    let server = server.kill_and_restart();
    wait_until_complete(&server);
    let again = server.post("/api/v1/strategies/search", &body).1;
    assert_eq!(again["strategies"], found["strategies"]);
}

#[test]
fn erasure_removes_the_user_from_index_vectors_and_context() {
    let server = Server::start();
    let secret = "Where can I buy zwxqv-medicine for my zwxqv-illness?";
    let talk = TestConversation::new(&server, "shared", "ann");
    talk.send("t1", secret, &json!({"intent": "zwxqv-intent"}));
    talk.answer_with_query("t1", "At the zwxqv-pharmacy in the high street.", "zwxqv-query");
    talk.send_message("t2", "No, I meant the zwxqv-tablets, not the zwxqv-drops");
    talk.answer_with_query("t2", "At the zwxqv-chemist.", "zwxqv-query");
    // A message without a user corrects an answer to her, and the conversation continues.
    let other = TestConversation::new(&server, "shared", "bob");
    let anonymous = json!({"user_id": null});
    other.send("t3", "No, that is wrong, I meant a shop that is open today", &anonymous);
    other.answer_with_query("t3", "The one in the station is open.", "open shops");
    let own = json!({"query": "No, that is wrong, I meant a shop that is open today"});
    let blended = server.post("/api/v1/strategies/search", &own).1["strategies"][0].clone();
    assert!(blended["similarity"].as_f64().unwrap() < 0.99, "{blended}");
    let search = json!({"query": secret, "include_rejected": true, "min_similarity": 0.2, "k": 10});
    let found = server.post("/api/v1/strategies/search", &search).1;
    assert!(turn_ids(&found["avoid"]).contains(&"t1".to_owned()), "{found}");
    assert_eq!(server.client().delete("/api/v1/users/ann").0, 200);
    let check = |server: &Server| {
        let found = server.post("/api/v1/strategies/search", &search).1;
        assert!(!found.to_string().contains("zwxqv"), "{found}");
        for turn in ["t1", "t2"] {
            assert!(!found.to_string().contains(&format!("\"{turn}\"")), "{found}");
            for path in [format!("/api/v1/turns/{turn}"), format!("/api/v1/turns/{turn}/metadata")]
            {
                assert!(!server.get(&path).1.to_string().contains("zwxqv"), "{path}");
            }
        }
        // The correction is no longer combined with her question.
        let found = server.post("/api/v1/strategies/search", &own).1;
        assert!(found["strategies"][0]["similarity"].as_f64().unwrap() > 0.99, "{found}");
    };
    check(&server);
    let server = server.kill_and_restart();
    wait_until_complete(&server);
    check(&server);
    let said = TestConversation::new(&server, "shared", "bob").send_message("t4", "Where is it?");
    assert!(!said.to_string().contains("zwxqv"), "{said}");
    assert!(!is_on_disk(&server, "zwxqv"));
    let (_, folder) = server.stop();
    let (_, out, _) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}");
    let server = Server::start_in(folder);
    wait_until_complete(&server);
    check(&server);
}

#[test]
fn erasure_removes_the_user_from_correction_chains() {
    let server = Server::start();
    let secret = "Where can I buy zwxqv-medicine for my zwxqv-illness?";
    for (turn, user, text) in [
        ("t1", json!("ann"), secret),
        ("t2", Value::Null, "No, I meant a shop that is open today"),
        ("t3", Value::Null, "No, I meant one with a car park"),
    ] {
        let talk = TestConversation::new(&server, "shared", "ann");
        talk.send(turn, text, &json!({"user_id": user}));
        // A query each, because a rejected strategy is not offered again.
        talk.answer_with_query(turn, "There is one in the station.", turn);
    }
    let alike = |server: &Server| {
        let body = json!({"query": secret, "min_similarity": -1, "include_rejected": true, "k": 9});
        let found = server.post("/api/v1/strategies/search", &body).1;
        found["strategies"][0]["similarity"].as_f64().unwrap()
    };
    let before = alike(&server);
    assert_eq!(server.client().delete("/api/v1/users/ann").0, 200);
    let after = alike(&server);
    assert!(after < before - 0.1, "{before} {after}");
    let server = server.kill_and_restart();
    wait_until_complete(&server);
    assert_eq!(alike(&server), after);
}

#[test]
fn strategies_are_isolated_by_tenant() {
    let server = Server::start();
    send_specification_table(&server);
    let acme = server.client().with_header("X-Uptake-Tenant", "acme");
    let body = json!({"query": QUESTION, "include_rejected": true, "min_similarity": -1});
    let found = acme.post("/api/v1/strategies/search", &body).1;
    assert_eq!((&found["strategies"], &found["avoid"]), (&json!([]), &json!([])), "{found}");
    let opening = json!({"text": QUESTION, "include": ["strategies", "context"], "user_id": "a"});
    let opened = acme.post("/api/v1/turns", &opening).1;
    assert_eq!((&opened["strategies"], &opened["avoid"]), (&json!([]), &json!([])), "{opened}");
    assert_eq!((&opened["previous"], &opened["retry"]), (&Value::Null, &Value::Null));
}

#[test]
fn invalid_strategy_searches_are_refused_with_the_field() {
    let server = Server::start();
    let rows = [
        (json!({}), "query"),
        (json!({"query": " "}), "query"),
        (json!({"query": "q", "k": 0}), "k"),
        (json!({"query": "q", "k": 101}), "k"),
        (json!({"query": "q", "mode": "best"}), "mode"),
        (json!({"query": "q", "min_similarity": 2}), "min_similarity"),
        (json!({"query": "q", "user_id": "a\nb"}), "user_id"),
        (json!({"query": "q", "colour": "red"}), "colour"),
    ];
    for (body, field) in rows {
        let (status, problem) = server.post("/api/v1/strategies/search", &body);
        assert_eq!((status, problem["field"].as_str()), (422, Some(field)), "{body}: {problem}");
    }
}
