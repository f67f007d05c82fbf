//! Rewards, usage and outcomes that arrive before the thing they name join it later.

use serde_json::{Value, json};

use crate::keys::create;
use crate::privacy::is_on_disk;
use crate::server::{Server, uptake};

const ROUTER: &str = "/api/v1/routers/chat";

fn router_arms() -> Value {
    json!({"arms": [{"id": "a"}, {"id": "b"}], "algorithm": "thompson"})
}

fn total_reward(server: &Server) -> f64 {
    let (status, router) = server.get(ROUTER);
    assert_eq!(status, 200, "{router}");
    let arms = router["arms"].as_array().unwrap();
    arms.iter().map(|arm| arm["mean"].as_f64().unwrap()).sum()
}

/// Sends a reward before or after its turn and returns the sum of the arms' means.
fn learn_reward(reward_first: bool) -> f64 {
    let server = Server::start();
    assert_eq!(server.client().put(ROUTER, &router_arms()).0, 200);
    let choose = json!({"router": "chat", "text": "Hello?", "turn_id": "t1"});
    let (_, route) = server.post("/api/v1/route", &choose);
    let reward = json!({"turn_id": "t1", "user_rating": 5});
    if reward_first {
        let (status, answer) = server.post("/api/v1/rewards", &reward);
        assert_eq!((status, &answer["pending"]), (202, &json!(true)), "{answer}");
        assert_eq!(answer["warnings"][0]["code"], "unknown_turn", "{answer}");
        assert_eq!(answer["warnings"][0]["field"], "turn_id");
    }
    let server = server.kill_and_restart();
    let turn = json!({"conversation_id": "c1", "turn_id": "t1", "text": "Hello?",
        "response": "Hello, how can I help you today?", "model": route["arm"],
        "decision_id": route["decision_id"]});
    let (status, answer) = server.post("/api/v1/turns", &turn);
    assert_eq!(status, 201, "{answer}");
    if !reward_first {
        let (status, answer) = server.post("/api/v1/rewards", &reward);
        assert_eq!((status, answer.get("pending")), (201, None), "{answer}");
        assert_eq!(answer.get("warnings"), None);
    }
    total_reward(&server)
}

#[test]
fn reward_before_its_turn_counts_like_one_after_it() {
    let (early, late) = (learn_reward(true), learn_reward(false));
    assert!((early - late).abs() < 1e-9 && early > 1.0, "{early} {late}");
}

#[test]
fn widget_cannot_reward_an_unknown_turn() {
    let server = Server::start();
    let origin = "https://shop.example";
    let key = create(&server, &["--tenant", "default", "--role", "widget", "--origin", origin]);
    let client = server.client().with_header("Authorization", &format!("Bearer {key}"));
    let client = client.with_header("Origin", origin);
    let (status, answer) =
        client.post("/api/v1/rewards", &json!({"turn_id": "t1", "user_rating": 5}));
    assert!(matches!(status, 403 | 404), "{answer}");
    let rating = json!({"type": "explicit", "source": "user_rating", "category": "quality",
        "message_id": "t1", "data": {"rating": 5, "query": "Hello?", "response": "Hello!"}});
    assert_eq!(client.post("/api/v1/feedback", &rating).0, 404, "widgets add no turns");
}

#[test]
fn usage_before_the_results_of_its_query_joins_them() {
    let server = Server::start();
    let usage = json!({"query_id": "q1", "response": "The LoginService checks the password."});
    for _ in 0..2 {
        let answer = server.post("/api/v1/retrieval/usage", &usage);
        assert_eq!(answer, (202, json!({"signals": [], "pending": true})));
    }
    let of_turn = json!({"query_id": "t9", "response": "See [doc-7] for the LoginService."});
    assert_eq!(server.post("/api/v1/retrieval/usage", &of_turn).0, 202);
    let server = server.kill_and_restart();
    let returned = json!({"query_id": "q1", "query": "How do users log in?", "entities": [
        {"entity_id": "e1", "name": "LoginService"}, {"entity_id": "e2", "name": "BillingReport"}]});
    assert_eq!(server.post("/api/v1/retrieval/returned", &returned).0, 201);
    let turn = json!({"conversation_id": "c1", "turn_id": "t9", "text": "How do users log in?",
        "response": "Ask the administrator about it, please.",
        "retrieved": [{"entity_id": "doc-7", "name": "Login manual"}]});
    assert_eq!(server.post("/api/v1/turns", &turn).0, 201);
    let check = |server: &Server| {
        let used = |entity: &str| {
            let (_, stats) = server.get(&format!("/api/v1/retrieval/entities/{entity}/stats"));
            (stats["usedCount"].as_u64().unwrap(), stats["totalReturns"].as_u64().unwrap())
        };
        assert_eq!([used("e1"), used("e2"), used("doc-7")], [(1, 1), (0, 1), (1, 1)]);
    };
    check(&server);
    check(&rebuilt(server));
}

fn used_count(server: &Server, entity: &str) -> u64 {
    let (_, stats) = server.get(&format!("/api/v1/retrieval/entities/{entity}/stats"));
    stats["usedCount"].as_u64().unwrap()
}

#[test]
fn usage_of_a_turn_without_results_waits_for_them() {
    let server = Server::start();
    let open = json!({"conversation_id": "c1", "turn_id": "t1", "text": "How do users log in?"});
    assert_eq!(server.post("/api/v1/turns", &open).0, 201);
    let usage = json!({"query_id": "t1", "response": "The LoginService checks the password."});
    assert_eq!(server.post("/api/v1/retrieval/usage", &usage).0, 202);
    let done = json!({"response": "Ask the administrator about it, please.",
        "retrieved": [{"entity_id": "e1", "name": "LoginService"}]});
    assert_eq!(server.post("/api/v1/turns/t1/complete", &done).0, 200);
    assert_eq!(used_count(&server, "e1"), 1);
    assert_eq!(used_count(&rebuilt(server), "e1"), 1);
}

#[test]
fn usage_and_results_that_arrive_together_join() {
    let server = Server::start();
    for n in 0..40 {
        let usage = json!({"query_id": format!("q{n}"), "response": "The LoginService does it."});
        let returned = json!({"query_id": format!("q{n}"), "query": "How do users log in?",
            "entities": [{"entity_id": format!("e{n}"), "name": "LoginService"}]});
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(server.post("/api/v1/retrieval/returned", &returned).0, 201));
            let status = server.post("/api/v1/retrieval/usage", &usage).0;
            assert!(matches!(status, 200..=202), "{status}");
        });
        assert_eq!(used_count(&server, &format!("e{n}")), 1, "query {n}");
    }
}

#[test]
fn erasure_removes_outcomes_that_came_before_their_decision() {
    let server = Server::start();
    let outcome = json!({"outcome": "failure", "outcome_data": {"needed": ["pelargonium"]}});
    assert_eq!(server.client().patch("/api/v1/decisions/d1", &outcome).0, 202);
    for (turn, user) in [("t1", "ann"), ("t2", "bob")] {
        let turn = json!({"conversation_id": "c1", "turn_id": turn, "user_id": user, "text": "q"});
        assert_eq!(server.post("/api/v1/turns", &turn).0, 201);
    }
    let decision = json!({"decision_id": "d1", "turn_id": "t1", "decision_type": "sql_generation"});
    assert_eq!(server.post("/api/v1/decisions", &decision).0, 201);
    assert_eq!(server.client().delete("/api/v1/users/ann").0, 200);
    let server = rebuilt(server);
    assert!(!is_on_disk(&server, "pelargonium"));
}

#[test]
fn outcome_before_its_decision_joins_it() {
    let server = Server::start();
    let settle = |server: &Server, body: &Value| {
        let (status, answer) = server.client().patch("/api/v1/decisions/d1", body);
        (
            status,
            answer["pending"].as_bool().unwrap_or(false),
            answer["replayed"].as_bool().unwrap(),
        )
    };
    let failed = json!({"outcome": "failure", "outcome_data": {"needed": ["orders"]}});
    assert_eq!(settle(&server, &failed), (202, true, false));
    assert_eq!(settle(&server, &failed), (202, true, true), "a repeat");
    let fixed = json!({"outcome": "success", "outcome_data": {"rows": 3}});
    assert_eq!(settle(&server, &fixed), (202, true, false));
    assert_eq!(server.get("/api/v1/decisions/d1").0, 404, "no decision yet");
    let server = server.kill_and_restart();
    let decision = json!({"decision_id": "d1", "session_id": "c1", "decision_type": "sql_generation",
        "confidence": 0.8});
    assert_eq!(server.post("/api/v1/decisions", &decision).0, 201);
    let check = |server: &Server| {
        let (_, shown) = server.get("/api/v1/decisions/d1");
        assert_eq!(shown["outcome"], "success", "{shown}");
        assert_eq!(shown["outcome_data"], json!({"needed": ["orders"], "rows": 3}), "{shown}");
        let (_, quality) = server.get("/api/v1/feedback/quality/default");
        assert_eq!(quality["metrics"]["sql_accuracy"]["numerator"], 1.0, "{quality}");
        assert_eq!(quality["metrics"]["sql_accuracy"]["denominator"], 1);
    };
    check(&server);
    assert_eq!(settle(&server, &fixed), (200, false, true), "known by now");
    check(&rebuilt(server));
}

fn rebuilt(server: Server) -> Server {
    let folder = server.kill_and_leave();
    let (code, out, error) = uptake(folder.path(), &["rebuild", "--json"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.starts_with("{\"changed\":false"), "{out}");
    Server::start_in(folder)
}

#[test]
fn erasure_removes_answers_that_waited_for_the_results_of_the_user() {
    let server = Server::start();
    let usage = |query: &str, response: &str| {
        let body = json!({"query_id": query, "response": response});
        server.post("/api/v1/retrieval/usage", &body).0
    };
    assert_eq!(usage("q1", "The LoginService uses pelargonium."), 202);
    assert_eq!(usage("q2", "The LoginService uses hydrangea."), 202);
    // Too long for a turn id: the answer names no turn at all.
    let long = "q".repeat(300);
    assert_eq!(usage(&long, "The LoginService uses bougainvillea."), 202);
    for (query, user) in [("q1", "ann"), (long.as_str(), "ann"), ("q2", "bob")] {
        let returned = json!({"query_id": query, "user_id": user, "query": "How do users log in?",
            "entities": [{"entity_id": format!("e-{user}"), "name": "LoginService"}]});
        assert_eq!(server.post("/api/v1/retrieval/returned", &returned).0, 201);
    }
    let (status, erased) = server.client().delete("/api/v1/users/ann");
    assert_eq!((status, &erased["erased"]["events"]), (200, &json!(6)), "{erased}");
    let check = |server: &Server| {
        assert!(!is_on_disk(server, "pelargonium") && !is_on_disk(server, "bougainvillea"));
        assert!(is_on_disk(server, "hydrangea"), "the answer to another user stays");
        assert_eq!([used_count(server, "e-ann"), used_count(server, "e-bob")], [2, 1]);
    };
    check(&server);
    check(&rebuilt(server));
}

#[test]
fn erasure_removes_outcomes_when_the_decision_precedes_the_turn() {
    let server = Server::start();
    let settle = |id: &str, word: &str| {
        let outcome = json!({"outcome": "failure", "outcome_data": {word: word}});
        server.client().patch(&format!("/api/v1/decisions/{id}"), &outcome).0
    };
    // The second outcome replaces the first, which stays in the log.
    assert_eq!([settle("d1", "pelargonium"), settle("d1", "bougainvillea")], [202, 202]);
    assert_eq!(settle("d2", "hydrangea"), 202);
    for (decision, turn) in [("d1", "t1"), ("d2", "t2")] {
        let body = json!({"decision_id": decision, "turn_id": turn, "decision_type": "routing"});
        assert_eq!(server.post("/api/v1/decisions", &body).0, 201);
    }
    for (turn, user) in [("t1", "ann"), ("t2", "bob")] {
        let turn = json!({"conversation_id": "c1", "turn_id": turn, "user_id": user, "text": "q"});
        assert_eq!(server.post("/api/v1/turns", &turn).0, 201);
    }
    assert_eq!(server.client().delete("/api/v1/users/ann").0, 200);
    let check = |server: &Server| {
        assert!(!is_on_disk(server, "pelargonium") && !is_on_disk(server, "bougainvillea"));
        assert!(is_on_disk(server, "hydrangea"), "the outcome of another user's decision stays");
    };
    check(&server);
    check(&rebuilt(server));
}
