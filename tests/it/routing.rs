//! Model routing learned from the outcomes of earlier turns.

mod estimates;
mod recovery;

use serde_json::{Value, json};

use crate::conversation_calls::past_time;
use crate::feedback_calls::react;
use crate::privacy::is_on_disk;
use crate::server::{Server, uptake};

const MODELS: [(&str, f64); 3] = [("small", 0.3), ("good", 0.9), ("middle", 0.6)];

/// A seeded random number generator.
struct Dice(u64);

impl Dice {
    fn next_roll(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }
}

fn put_router(server: &Server, name: &str, definition: &Value) -> Value {
    let (status, answer) = server.client().put(&format!("/api/v1/routers/{name}"), definition);
    assert_eq!(status, 200, "{answer}");
    answer
}

fn three_models() -> Value {
    json!({"arms": MODELS.map(|(id, _)| json!({"id": id})), "seed": 7})
}

fn router(server: &Server, name: &str) -> Value {
    let (status, answer) = server.get(&format!("/api/v1/routers/{name}"));
    assert_eq!(status, 200, "{answer}");
    answer
}

fn arm(router: &Value, id: &str) -> Value {
    let arms = router["arms"].as_array().unwrap();
    arms.iter().find(|arm| arm["id"] == id).unwrap().clone()
}

fn route(server: &Server, body: &Value) -> Value {
    let (status, answer) = server.post("/api/v1/route", body);
    assert_eq!(status, 200, "{answer}");
    answer
}

/// A turn served by the router's arm. Returns the arm and the response of `complete`.
fn serve_turn(server: &Server, turn: &str, text: &str, completion: &Value) -> (String, Value) {
    // Asked long before any other event.
    let body = json!({"turn_id": turn, "conversation_id": format!("c-{turn}"), "user_id": "ann",
        "text": text, "include": ["route"], "router": "chat", "ts": past_time(60)});
    let (status, opened) = server.post("/api/v1/turns", &body);
    assert_eq!(status, 201, "{opened}");
    let arm = opened["route"]["arm"].as_str().unwrap().to_owned();
    let mut completion = completion.clone();
    completion["model"] = json!(arm);
    let (status, done) = server.post(&format!("/api/v1/turns/{turn}/complete"), &completion);
    assert_eq!(status, 200, "{done}");
    (arm, done)
}

#[test]
fn router_learns_the_best_of_three_models_from_implicit_signals() {
    let mut server = Server::start();
    put_router(&server, "chat", &three_models());
    let mut dice = Dice(20_261_115);
    let mut chosen: Vec<String> = Vec::new();
    let mut greeting = "";
    for n in 0..2_000 {
        if n == 1_500 {
            let before = router(&server, "chat");
            server = server.kill_and_restart();
            let after = router(&server, "chat");
            assert_eq!(before["arms"], after["arms"], "the same posteriors after a crash");
        }
        // Ten questions per conversation; each message judges the previous answer.
        let said = if n % 10 == 0 { "" } else { greeting };
        let text = format!("{said}How many items number {n} did we sell in week {}?", n % 52);
        let body = json!({"conversation_id": format!("c{}", n / 10), "text": text,
            "include": ["route"], "router": "chat"});
        let (status, opened) = server.post("/api/v1/turns", &body);
        assert_eq!(status, 201, "{opened}");
        let arm = opened["route"]["arm"].as_str().unwrap().to_owned();
        let quality = MODELS.iter().find(|(id, _)| *id == arm).unwrap().1;
        let (good, quiet) = (dice.next_roll() < quality, dice.next_roll() < 0.5);
        let answer = match good || !quiet {
            true => json!({"response": "You sold 12 of them.", "latency_ms": 900, "model": arm}),
            false => json!({"status": "error", "error": "upstream failed", "model": arm}),
        };
        greeting = match (good, quiet) {
            (true, true) => "Perfect, thank you, that is exactly what I needed. ",
            (false, false) => "No, that is wrong. ",
            (true, false) | (false, true) => "",
        };
        let turn = opened["turn_id"].as_str().unwrap();
        assert_eq!(server.post(&format!("/api/v1/turns/{turn}/complete"), &answer).0, 200);
        chosen.push(arm);
    }
    let last = chosen[1_500..].iter().filter(|arm| *arm == "good").count();
    assert!(last >= 350, "{last} of the last 500");
    let shown = router(&server, "chat");
    assert!(shown["explanation"].as_str().unwrap().contains("good looks best"), "{shown}");
    assert_eq!(
        shown["arms"]
            .as_array()
            .unwrap()
            .iter()
            .map(|arm| arm["choices"].as_u64().unwrap())
            .sum::<u64>(),
        2_000,
        "{shown}"
    );
    assert_eq!(shown["trend"]["recent"]["turns"], 100, "{shown}");
    assert_eq!(shown["faults"], 0);
    check_evaluation_and_rebuild(server, &shown);
}

/// The learned state is a function of the log, and other policies are evaluated on it.
fn check_evaluation_and_rebuild(server: Server, shown: &Value) {
    let ask = |policy: Value| {
        let body = json!({"router": "chat", "policy": policy});
        let (status, answer) = server.post("/api/v1/policies/evaluate", &body);
        assert_eq!(status, 200, "{answer}");
        answer["dr"]["estimate"].as_f64().unwrap()
    };
    let fixed = |arm: &str| ask(json!({"kind": "fixed", "arm": arm}));
    let (good, middle, small) = (fixed("good"), fixed("middle"), fixed("small"));
    assert!(good > middle && middle > small, "{good} {middle} {small}");
    let random = ask(json!({"kind": "random"}));
    assert!(small < random && random < good, "{random}");
    let (_, folder) = server.stop();
    let (code, out, error) = uptake(folder.path(), &["rebuild"]);
    assert_eq!(code, Some(0), "{out}{error}");
    let (code, out, _) = uptake(folder.path(), &["routers", "show", "chat", "--json"]);
    assert_eq!(code, Some(0));
    let again: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(again["arms"], shown["arms"], "bit for bit, from the beginning of the log");
    let (_, out, _) = uptake(folder.path(), &["routers", "show"]);
    assert!(out.contains("good looks best") && out.contains("lately"), "{out}");
}

#[test]
fn seeded_router_repeats_its_choices() {
    let server = Server::start();
    let arms_of = |project: &str| {
        let client = server.client().with_header("X-Uptake-Project", project);
        assert_eq!(client.put("/api/v1/routers/chat", &three_models()).0, 200);
        let choose = |n: u32| {
            let (turn, conversation) = (format!("t{n}"), format!("c{n}"));
            let body = json!({"turn_id": turn, "conversation_id": conversation, "include": ["route"],
                "router": "chat", "text": format!("How many items number {n} did we sell?")});
            let (status, opened) = client.post("/api/v1/turns", &body);
            assert_eq!(status, 201, "{opened}");
            let arm = opened["route"]["arm"].as_str().unwrap().to_owned();
            let body = json!({"response": "You sold 12 of them.", "latency_ms": 900, "model": arm});
            assert_eq!(client.post(&format!("/api/v1/turns/{turn}/complete"), &body).0, 200);
            arm
        };
        (0..40).map(choose).collect::<Vec<_>>()
    };
    assert_eq!(arms_of("first"), arms_of("second"));
}

#[test]
fn late_rating_updates_the_arm_that_served_the_turn() {
    let server = Server::start();
    put_router(&server, "chat", &three_models());
    let slow = json!({"response": "12", "latency_ms": 900});
    let (arm_of_it, done) = serve_turn(&server, "t1", "How many did we sell?", &slow);
    assert_eq!(done["reward"], 0.9, "{done}");
    for n in 2..5 {
        serve_turn(&server, &format!("t{n}"), "And how many in June?", &slow);
    }
    let before = router(&server, "chat");
    react(&server, "c-t1", "t1", &json!({"reaction": "not_ok"}));
    let after = router(&server, "chat");
    for (id, _) in MODELS {
        let (was, is) = (arm(&before, id), arm(&after, id));
        if id == arm_of_it {
            assert!(is["mean"].as_f64().unwrap() < was["mean"].as_f64().unwrap(), "{is} {was}");
            assert_eq!(is["observations"], was["observations"], "one observation per turn");
        } else {
            assert_eq!(is, was, "other arms are unchanged");
        }
    }
    let server = server.kill_and_restart();
    assert_eq!(router(&server, "chat")["arms"], after["arms"]);
    // A replay changes nothing; clearing the rating reverts it.
    react(&server, "c-t1", "t1", &json!({"reaction": "not_ok"}));
    assert_eq!(router(&server, "chat")["arms"], after["arms"]);
    react(&server, "c-t1", "t1", &json!({"reaction": null}));
    assert_eq!(router(&server, "chat")["arms"], before["arms"]);
    let reward =
        json!({"turn_id": "t1", "quality_score": 0.95, "user_rating": 5, "met_expectations": true});
    let (status, answer) = server.post("/api/v1/rewards", &reward);
    assert_eq!(status, 201, "{answer}");
    let best = arm(&router(&server, "chat"), &arm_of_it)["mean"].as_f64().unwrap();
    assert!(best > arm(&before, &arm_of_it)["mean"].as_f64().unwrap());
    let (_, bad) = server.post("/api/v1/rewards", &json!({"turn_id": "t1", "user_rating": 9}));
    assert_eq!(bad["field"], "user_rating", "{bad}");
    assert_eq!(server.post("/api/v1/rewards", &json!({"turn_id": "t1"})).0, 422);
    let early = server.post("/api/v1/rewards", &json!({"turn_id": "no", "user_rating": 4}));
    assert_eq!((early.0, &early.1["pending"]), (202, &json!(true)), "waits for its turn");
}

#[test]
fn retry_and_rejection_lower_the_previous_arm() {
    let server = Server::start();
    put_router(&server, "chat", &json!({"arms": [{"id": "a"}, {"id": "b"}]}));
    let say = |text: &str, arm: &str, turn: &str| {
        let body = json!({"conversation_id": "c1", "user_id": "ann", "turn_id": turn, "text": text,
            "include": ["route"], "router": "chat"});
        // The arm is set by the client, so that the test knows which one is blamed.
        let other = if arm == "a" { "b" } else { "a" };
        let choice = json!({"router": "chat", "text": text, "exclude": [other]});
        let decision = route(&server, &choice);
        assert_eq!(decision["arm"], arm);
        let (status, opened) = server.post("/api/v1/turns", &body);
        assert_eq!(status, 201, "{opened}");
        let done = json!({"response": "Here are three business laptops.", "latency_ms": 800,
            "model": arm, "decision_id": decision["decision_id"]});
        assert_eq!(server.post(&format!("/api/v1/turns/{turn}/complete"), &done).0, 200);
        opened
    };
    say("Find laptops under $1000", "a", "t1");
    let before = router(&server, "chat");
    let opened = say("No, I meant gaming laptops, not business laptops", "b", "t2");
    assert_eq!(opened["previous"]["status"], "rejected", "{opened}");
    let after = router(&server, "chat");
    let mean = |router: &Value, id: &str| arm(router, id)["mean"].as_f64().unwrap();
    assert!(mean(&after, "a") < mean(&before, "a"), "{after}");
    assert!(mean(&after, "b") > 0.5, "{after}");
}

#[test]
fn sealed_decision_is_credited_when_the_choice_was_lost() {
    let server = Server::start();
    put_router(&server, "chat", &json!({"arms": [{"id": "a"}, {"id": "b"}], "algorithm": "lints"}));
    let choice = route(&server, &json!({"router": "chat", "text": "Write a function"}));
    assert_eq!(choice["features_version"], "e1");
    let chances: f64 = choice["scores"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["propensity"].as_f64().unwrap())
        .sum();
    assert!((chances - 1.0).abs() < 1e-9, "{choice}");
    let server = server.kill_and_restart();
    let body = json!({"turn_id": "t1", "text": "Write a function", "response": "fn f() {}",
        "model": choice["arm"], "latency_ms": 500, "decision_id": choice["decision_id"],
        "tokens_in": 10, "tokens_out": 20});
    assert_eq!(server.post("/api/v1/turns", &body).0, 201);
    let shown = router(&server, "chat");
    let served = arm(&shown, choice["arm"].as_str().unwrap());
    assert_eq!(served["observations"], 1, "{shown}");
    // Another model answered, or the id is forged: no credit.
    for (turn, model, id) in
        [("t2", "somebody else", choice["decision_id"].clone()), ("t3", "a", json!("made-up"))]
    {
        let body = json!({"turn_id": turn, "text": "Again", "response": "x", "model": model,
            "latency_ms": 500, "decision_id": id});
        assert_eq!(server.post("/api/v1/turns", &body).0, 201);
    }
    let total = |router: &Value| {
        let arms = router["arms"].as_array().unwrap();
        arms.iter().map(|arm| arm["observations"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(total(&router(&server, "chat")), 1);
    // A replay of the completion counts once.
    assert_eq!(server.post("/api/v1/turns", &body).0, 200);
    assert_eq!(router(&server, "chat")["arms"], shown["arms"]);
}

#[test]
fn changing_arms_keeps_the_state_of_the_others() {
    let server = Server::start();
    put_router(&server, "chat", &three_models());
    let quick = json!({"response": "12", "latency_ms": 900});
    for n in 0..12 {
        serve_turn(&server, &format!("t{n}"), "How many did we sell?", &quick);
    }
    let before = router(&server, "chat");
    let arms = json!([{"id": "good"}, {"id": "small", "enabled": false}, {"id": "new"}]);
    let after = put_router(&server, "chat", &json!({"arms": arms, "seed": 7}));
    for id in ["good", "small"] {
        assert_eq!(arm(&after, id)["mean"], arm(&before, id)["mean"]);
        assert_eq!(arm(&after, id)["observations"], arm(&before, id)["observations"]);
    }
    assert_eq!(arm(&after, "new")["observations"], 0);
    for _ in 0..30 {
        assert_ne!(route(&server, &json!({"router": "chat"}))["arm"], "small", "disabled");
    }
    let only = json!({"router": "chat", "exclude": ["good", "new"]});
    let forced = route(&server, &only);
    assert_eq!(forced["relaxed"], true, "a request never fails: {forced}");
    // Served, without feedback so far.
    let (late, _) = serve_turn(&server, "late", "And in May?", &json!({"response": "12"}));
    let (status, reset) = server.post("/api/v1/routers/chat/reset", &json!({}));
    assert_eq!(status, 200);
    assert_eq!(arm(&reset, "good")["observations"], 0);
    assert_eq!(reset["trend"]["recent"]["turns"], 0, "{reset}");
    react(&server, "c-late", "late", &json!({"reaction": "ok"}));
    assert_eq!(arm(&router(&server, "chat"), &late)["observations"], 0, "forgotten for good");
    let server = server.kill_and_restart();
    assert_eq!(router(&server, "chat")["arms"], reset["arms"], "still forgotten");
    let (_, out, _) = uptake(server.folder(), &["routers", "reset", "chat"]);
    assert!(out.contains("learned state was discarded"), "{out}");
}

#[test]
fn invalid_router_definitions_are_refused_with_the_field() {
    let server = Server::start();
    let put = |body: Value| server.client().put("/api/v1/routers/chat", &body);
    let arms = json!([{"id": "a"}, {"id": "b"}]);
    for (body, field) in [
        (json!({"arms": []}), "arms"),
        (json!({"arms": [{"id": "a"}, {"id": "a"}]}), "arms[1].id"),
        (json!({"arms": arms, "min_propensity": 2}), "min_propensity"),
        (json!({"arms": arms, "reward": {"cost_ref": 0}}), "reward.cost_ref"),
        (json!({"arms": arms, "reward": {"overrides": {"exported": 1}}}), "reward.overrides"),
        (json!({"arms": arms, "discount": 7}), "discount"),
        (json!({"arms": arms, "features": 5}), "features"),
    ] {
        let (status, answer) = put(body.clone());
        assert_eq!(status, 422, "{body}: {answer}");
        assert_eq!(answer["field"], field, "{answer}");
    }
    assert_eq!(put(json!({"arms": arms, "algo": "fixed"})).0, 422);
    assert_eq!(server.client().put("/api/v1/routers/a%20b", &json!({"arms": arms})).0, 422);
    assert_eq!(server.get("/api/v1/routers/chat").0, 404);
    assert_eq!(server.post("/api/v1/route", &json!({"router": "chat", "text": "x"})).0, 404);
    let body = json!({"text": "x", "include": ["route"], "router": "nobody", "turn_id": "t1"});
    assert_eq!(server.post("/api/v1/turns", &body).0, 404);
    assert_eq!(server.get("/api/v1/turns/t1").0, 404, "nothing was stored");
    assert_eq!(server.post("/api/v1/turns", &json!({"text": "x", "include": ["route"]})).0, 422);
    assert_eq!(server.get("/api/v1/routers").1, json!({"routers": []}));
}

#[test]
fn cost_and_budget_shift_traffic() {
    let server = Server::start();
    let arms = json!([{"id": "dear", "price_in": 1000.0, "price_out": 1000.0},
        {"id": "cheap", "price_in": 1.0, "price_out": 1.0}]);
    put_router(&server, "chat", &json!({"arms": arms, "daily_budget": 1.0}));
    let dear = route(&server, &json!({"router": "chat", "exclude": ["cheap"]}));
    let body = json!({"turn_id": "t1", "text": "hi", "response": "hello", "model": "dear",
        "decision_id": dear["decision_id"], "tokens_in": 1000, "tokens_out": 500});
    assert_eq!(server.post("/api/v1/turns", &body).0, 201);
    let shown = router(&server, "chat");
    assert_eq!(arm(&shown, "dear")["cost"], 1.5, "{shown}");
    assert_eq!(shown["spent_today"], 1.5);
    let only_cheap = |server: &Server| {
        for _ in 0..20 {
            assert_eq!(route(server, &json!({"router": "chat"}))["arm"], "cheap");
        }
    };
    only_cheap(&server);
    let (_, reset) = server.post("/api/v1/routers/chat/reset", &json!({}));
    assert_eq!(reset["spent_today"], 1.5, "what was spent stays spent");
    only_cheap(&server);
    only_cheap(&server.kill_and_restart());
}

/// True when an event of the log has features.
fn count_features(server: &Server) -> usize {
    let events = server.get("/api/v1/events?limit=1000").1;
    let items = events["items"].as_array().unwrap();
    let has =
        |item: &&Value| item["data"]["features"].as_array().is_some_and(|all| !all.is_empty());
    items.iter().filter(has).count()
}

#[test]
fn erasure_removes_features_and_tenants_are_isolated() {
    let server = Server::start();
    let definition = json!({"arms": [{"id": "a"}, {"id": "b"}], "algorithm": "lints",
        "reward": {"overrides": {"export": 1.0}}});
    put_router(&server, "chat", &definition);
    let quick = json!({"response": "12", "latency_ms": 900});
    for n in 0..6 {
        serve_turn(&server, &format!("t{n}"), "How does Zanzibarquux sell?", &quick);
    }
    let bob = json!({"turn_id": "b1", "conversation_id": "c-b1", "user_id": "bob",
        "text": "And elsewhere?", "include": ["route"], "router": "chat"});
    let arm_of_bob = server.post("/api/v1/turns", &bob).1["route"]["arm"].clone();
    let done = json!({"response": "13", "latency_ms": 900, "model": arm_of_bob});
    assert_eq!(server.post("/api/v1/turns/b1/complete", &done).0, 200);
    // Ann sends several kinds of events, also about bob's turn.
    let event = |kind: &str, source: &str, turn: &str, data: Value| {
        let body = json!({"type": kind, "source": source, "category": "quality", "user_id": "ann",
            "message_id": turn, "data": data});
        assert_eq!(server.post("/api/v1/feedback", &body).0, 201);
    };
    event("explicit", "user_correction", "t1", json!({"corrected": "14"}));
    event("interaction", "user_interaction", "t2", json!({"kind": "export"}));
    event("explicit", "user_rating", "b1", json!({"rating": "negative"}));
    let before = router(&server, "chat");
    // Right after a choice that is still being written to the log.
    route(&server, &json!({"router": "chat", "text": "Zanzibarquux?", "user_id": "ann"}));
    assert!(count_features(&server) >= 7);
    assert_eq!(server.client().delete("/api/v1/users/ann").0, 200);
    let after = router(&server, "chat");
    let learnt = |router: &Value| {
        let arms = router["arms"].as_array().unwrap().iter();
        arms.map(|arm| json!([arm["mean"], arm["observations"], arm["weight"]])).collect::<Vec<_>>()
    };
    assert_eq!(learnt(&before), learnt(&after), "numbers stay");
    assert_eq!(count_features(&server), 1, "bob's own stay");
    for words in ["Zanzibarquux", "\"ann\""] {
        assert!(!is_on_disk(&server, words), "{words}");
    }
    let server = server.kill_and_restart();
    assert_eq!(router(&server, "chat")["arms"], after["arms"]);
    let other = server.client().with_header("X-Uptake-Tenant", "other");
    assert_eq!(other.get("/api/v1/routers").1, json!({"routers": []}));
    assert_eq!(other.post("/api/v1/route", &json!({"router": "chat"})).0, 404);
    let (_, folder) = server.stop();
    let (code, out, error) = uptake(folder.path(), &["rebuild"]);
    assert_eq!(code, Some(0), "{out}{error}");
    let (_, out, _) = uptake(folder.path(), &["routers", "show", "chat", "--json"]);
    let again: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(learnt(&again), learnt(&after), "also when it is learnt again from what is left");
    assert_eq!(again["faults"], 0);
}

#[test]
fn turn_keeps_its_arm_unless_the_arm_is_disabled() {
    let server = Server::start();
    put_router(&server, "chat", &three_models());
    let ask = |more: Value| {
        let mut body = json!({"router": "chat", "text": "x", "turn_id": "t1"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        route(&server, &body)
    };
    let first = ask(json!({}));
    for _ in 0..5 {
        assert_eq!(ask(json!({}))["arm"], first["arm"]);
    }
    let other = ask(json!({"exclude": [first["arm"]]}));
    assert_ne!(other["arm"], first["arm"], "it failed upstream");
    assert_eq!(other["relaxed"], false);
    assert_eq!(ask(json!({}))["arm"], other["arm"], "the latest counts");
    let enabled = |id: &str| json!({"id": id, "enabled": other["arm"] != id});
    put_router(&server, "chat", &json!({"arms": MODELS.map(|(id, _)| enabled(id))}));
    assert_ne!(ask(json!({}))["arm"], other["arm"], "disabled");
    // An answer sent with the question was not served by the chosen arm.
    let before = router(&server, "chat");
    let whole = json!({"turn_id": "t9", "text": "x", "response": "y", "latency_ms": 5,
        "include": ["route"], "router": "chat"});
    assert_eq!(server.post("/api/v1/turns", &whole).0, 201);
    let observed = |router: &Value| {
        let arms = router["arms"].as_array().unwrap();
        arms.iter().map(|arm| arm["observations"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(observed(&before), observed(&router(&server, "chat")));
}
