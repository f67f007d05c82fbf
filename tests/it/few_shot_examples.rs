//! Few-shot examples: good answers become examples for similar questions, and are withdrawn.

use serde_json::{Value, json};

use crate::conversation_calls::TestConversation;
use crate::feedback_calls::react;
use crate::server::{Client, Server};

const QUESTION: &str = "Show total sales by region for 2024";
const ALIKE: &str = "show the total sales per region in 2024";

fn select(client: &Client, body: &Value) -> Vec<Value> {
    let (status, answer) = client.post("/api/v1/examples/select", body);
    assert_eq!(status, 200, "{answer}");
    answer["examples"].as_array().unwrap().clone()
}

/// The answers of the selected examples, in order.
fn shown(client: &Client, query: &str) -> Vec<String> {
    let found = select(client, &json!({"query": query, "k": 10, "diversity": 0}));
    found.iter().map(|example| example["output_text"].as_str().unwrap().to_owned()).collect()
}

fn answered(server: &Server, turn: &str, user: &str, question: &str, answer: &str) {
    let talk = TestConversation::new(server, turn, user);
    talk.send(turn, question, &json!({"response": answer}));
}

fn correct(client: &Client, body: &Value) {
    let (status, answer) = client.post("/api/v1/feedback/correction", body);
    assert_eq!(status, 201, "{answer}");
}

fn correction(turn: &str, corrected: &str) -> Value {
    json!({"message_id": turn, "data": {"original_sql": "SELECT 1", "corrected_sql": corrected,
        "explanation": "completed orders only"}})
}

fn loose(query: &str, corrected: &str) -> Value {
    json!({"data": {"query": query, "original": "SELECT 1", "corrected": corrected}})
}

#[test]
fn correction_is_the_top_example_on_the_next_call_and_after_a_kill() {
    let server = Server::start();
    answered(&server, "t1", "u1", QUESTION, "SELECT 1");
    answered(&server, "t2", "u1", "List all customers of the Berlin office", "SELECT 2");
    react(&server, "t2", "t2", &json!({"reaction": "ok"}));
    assert_eq!(shown(&server.client(), ALIKE), [""; 0], "no positive feedback yet");
    correct(&server.client(), &correction("t1", "SELECT sum(x) FROM sales GROUP BY region"));
    let check = |server: &Server| {
        let found = select(&server.client(), &json!({"query": ALIKE}));
        assert_eq!(found.len(), 1, "{found:?}");
        let top = &found[0];
        assert_eq!(top["input_text"], QUESTION);
        assert_eq!(top["output_text"], "SELECT sum(x) FROM sales GROUP BY region");
        assert_eq!(top["explanation"], "completed orders only");
        assert_eq!((&top["source"], &top["turn_id"]), (&json!("correction"), &json!("t1")));
        assert!(top["similarity"].as_f64().unwrap() > 0.7, "{top}");
        assert!(top.get("rating").is_none(), "{top}");
        // An identical question has similarity 1.
        let same =
            select(&server.client(), &json!({"query": "SHOW total sales by region, for 2024!"}));
        assert_eq!(same[0]["similarity"], 1.0);
    };
    check(&server);
    let server = server.kill_and_restart();
    check(&server);
    // Alternating writes and reads: each write is visible to the next read.
    for n in 0..10 {
        let (turn, text) = (format!("n{n}"), format!("How tall is mountain number {n} in Peru?"));
        answered(&server, &turn, "u1", &text, "wrong");
        correct(&server.client(), &correction(&turn, &format!("{n} metres")));
        assert_eq!(shown(&server.client(), &text)[0], format!("{n} metres"));
    }
}

#[test]
fn rejected_answer_is_withdrawn_as_example() {
    let server = Server::start();
    let client = server.client();
    answered(&server, "t1", "u1", QUESTION, "the old way");
    react(&server, "t1", "t1", &json!({"reaction": "ok", "user_id": "u1"}));
    let found = select(&client, &json!({"query": ALIKE}));
    assert_eq!((&found[0]["source"], &found[0]["rating"]), (&json!("rating"), &json!(1.0)));
    react(&server, "t1", "t1", &json!({"reaction": "not_ok", "user_id": "u1"}));
    assert_eq!(shown(&client, ALIKE), [""; 0]);
    react(&server, "t1", "t1", &json!({"reaction": "ok", "user_id": "u1"}));
    assert_eq!(shown(&client, ALIKE), ["the old way"], "they changed their mind");
    react(&server, "t1", "t1", &json!({"reaction": null, "user_id": "u1"}));
    assert_eq!(shown(&client, ALIKE), [""; 0], "taken back");
    // The user rejects the answer in the next message, after a thumbs up.
    react(&server, "t1", "t1", &json!({"reaction": "ok", "user_id": "u1"}));
    assert_eq!(shown(&client, ALIKE), ["the old way"]);
    let talk = TestConversation::new(&server, "t1", "u1");
    let heard = talk.send("t1b", "No, that is wrong, I meant completed orders only", &json!({}));
    assert_eq!(heard["previous"]["status"], "rejected", "{heard}");
    assert_eq!(shown(&client, ALIKE), [""; 0]);
    let server = server.kill_and_restart();
    assert_eq!(shown(&server.client(), ALIKE), [""; 0]);
    // A correction stays valid, whatever happens to the original answer.
    correct(&server.client(), &correction("t1", "the right way"));
    react(&server, "t1", "t1", &json!({"reaction": "not_ok", "user_id": "u2"}));
    assert_eq!(shown(&server.client(), ALIKE), ["the right way"]);
}

#[test]
fn accepted_answers_are_examples_and_failed_ones_are_not() {
    let server = Server::start();
    let talk = TestConversation::new(&server, "c1", "u1");
    talk.send("t1", QUESTION, &json!({"response": "North 10, south 12."}));
    assert_eq!(shown(&server.client(), ALIKE), [""; 0]);
    let heard = talk.send("t2", "Perfect, thank you so much!", &json!({}));
    assert_eq!(heard["previous"]["status"], "accepted", "{heard}");
    let found = select(&server.client(), &json!({"query": ALIKE}));
    assert_eq!((&found[0]["source"], &found[0]["turn_id"]), (&json!("accepted"), &json!("t1")));
    let failed = json!({"response": "oops", "status": "error"});
    TestConversation::new(&server, "c2", "u1").send("t3", "List all customers", &failed);
    react(&server, "c2", "t3", &json!({"reaction": "ok"}));
    assert_eq!(shown(&server.client(), "list all customers"), [""; 0]);
}

#[test]
fn latest_correction_wins_with_or_without_a_turn() {
    let server = Server::start();
    let client = server.client();
    answered(&server, "t1", "u1", QUESTION, "SELECT 1");
    correct(&client, &correction("t1", "first"));
    correct(&client, &correction("t1", "second"));
    assert_eq!(shown(&client, ALIKE), ["second"]);
    correct(&client, &loose("show total SALES by region for 2024?", "third"));
    assert_eq!(shown(&client, ALIKE), ["third"], "the same question, in the same words");
    // A correction without a question counts in rates and is not an example.
    correct(&client, &json!({"data": {"original": "a", "corrected": "no question"}}));
    // A correction of a turn that arrives later.
    correct(
        &client,
        &json!({"message_id": "late", "data": {"corrected": "early", "query": "What is the capital of Peru"}}),
    );
    assert_eq!(shown(&client, "what is the capital of Peru?"), ["early"]);
    answered(&server, "late", "u2", "Which city governs Peru", "wrong");
    assert_eq!(shown(&client, "which city governs Peru?"), ["early"]);
    let before = shown(&client, "what is the capital of Peru?");
    let server = server.kill_and_restart();
    assert_eq!(shown(&server.client(), ALIKE), ["third"]);
    assert_eq!(shown(&server.client(), "what is the capital of Peru?"), before);
    let other = server.client().with_header("X-Uptake-Tenant", "other");
    assert_eq!(shown(&other, ALIKE), [""; 0]);
    let project = server.client().with_header("X-Uptake-Project", "other");
    assert_eq!(shown(&project, ALIKE), [""; 0]);
    correct(&other, &loose(ALIKE, "theirs"));
    assert_eq!(shown(&other, ALIKE), ["theirs"]);
    assert_eq!(shown(&server.client(), ALIKE), ["third"]);
}

#[test]
fn erased_users_are_in_no_example() {
    let server = Server::start();
    let client = server.client();
    answered(&server, "t1", "ann", QUESTION, "ann's");
    react(&server, "t1", "t1", &json!({"reaction": "ok", "user_id": "bob"}));
    answered(&server, "t2", "bob", "List all customers of the Berlin office", "bob's");
    let mut of_ann = correction("t2", "ann wrote this");
    of_ann["user_id"] = json!("ann");
    correct(&client, &of_ann);
    let mut alone = loose("What is the capital of Peru", "ann wrote that");
    alone["user_id"] = json!("ann");
    correct(&client, &alone);
    let berlin = "list customers of the Berlin office";
    let questions = [QUESTION, berlin, "what is the capital of Peru?"];
    assert!(questions.iter().all(|query| shown(&client, query).len() == 1));
    assert_eq!(client.delete("/api/v1/users/ann").0, 200);
    for query in questions {
        assert_eq!(shown(&client, query), [""; 0], "{query}");
    }
    let server = server.kill_and_restart();
    for query in questions {
        assert_eq!(shown(&server.client(), query), [""; 0], "{query}");
    }
}

#[test]
fn examples_fit_the_token_budget_and_are_diverse_on_request() {
    let server = Server::start();
    let client = server.client();
    let rows = [
        ("How do I reset my account password?", "long ".repeat(200)),
        ("How do I reset the password of my account?", "open settings".to_owned()),
        ("How can I reset my account's password?", "click the link".to_owned()),
        ("How do I change the email of my account?", "under profile".to_owned()),
    ];
    for (question, answer) in &rows {
        correct(&client, &loose(question, answer));
    }
    let ask = |more: Value| {
        let mut body = json!({"query": "how do I reset my account password", "k": 2});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let found = select(&client, &body);
        found.iter().map(|e| e["input_text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let nearest = ask(json!({"diversity": 0}));
    assert_eq!(nearest[0], rows[0].0);
    assert!(nearest[1].contains("reset"), "{nearest:?}");
    let spread = ask(json!({"diversity": 0.8}));
    assert_eq!(spread, [rows[0].0, rows[3].0]);
    let short = ask(json!({"max_tokens": 60}));
    assert!(!short.contains(&rows[0].0.to_owned()) && !short.is_empty(), "{short:?}");
    assert_eq!(ask(json!({"max_tokens": 0})), [""; 0]);
    for (bad, field) in [
        (json!({"query": " "}), "query"),
        (json!({"query": "é".repeat(100_001)}), "query"),
        (json!({"query": "q", "k": 0}), "k"),
        (json!({"query": "q", "diversity": 1.5}), "diversity"),
        (json!({"query": "q", "wish": 1}), "wish"),
    ] {
        let (status, problem) = client.post("/api/v1/examples/select", &bad);
        assert_eq!((status, &problem["field"]), (422, &json!(field)), "{problem}");
    }
    let longest = json!({"query": "é".repeat(100_000)});
    assert_eq!(client.post("/api/v1/examples/select", &longest).0, 200);
    let (query, results) = ("é".repeat(100_001), json!([{"entity_id": "e1", "score": 0.5}]));
    for (path, body) in [
        ("/api/v1/strategies/search", json!({"query": query})),
        ("/api/v1/retrieval/rerank", json!({"query": query, "results": results})),
    ] {
        let (status, problem) = client.post(path, &body);
        assert_eq!((status, &problem["field"]), (422, &json!("query")), "{path}: {problem}");
    }
}

#[test]
fn turn_response_includes_examples_on_request() {
    let server = Server::start();
    answered(&server, "t1", "u1", QUESTION, "SELECT 1");
    correct(&server.client(), &correction("t1", "SELECT 2"));
    let talk = TestConversation::new(&server, "c2", "u2");
    let opened = talk.send("t2", ALIKE, &json!({"include": ["examples"]}));
    assert_eq!(opened["examples"][0]["output_text"], "SELECT 2", "{opened}");
    assert_eq!(opened["examples"][0]["turn_id"], "t1");
    let plain = talk.send("t3", ALIKE, &json!({}));
    assert!(plain.get("examples").is_none(), "{plain}");
    // A turn's own answer is not an example for it.
    let own = TestConversation::new(&server, "c3", "u3");
    let body = json!({"response": "SELECT 3"});
    own.send("t4", "Which orders are late today?", &body);
    react(&server, "c3", "t4", &json!({"reaction": "ok"}));
    let again = json!({"conversation_id": "c3", "user_id": "u3", "turn_id": "t4",
        "text": "Which orders are late today?", "response": "SELECT 3", "include": ["examples"]});
    let (status, again) = server.post("/api/v1/turns", &again);
    assert_eq!((status, &again["replayed"], &again["examples"]), (200, &json!(true), &json!([])));
}
