//! Retrieval feedback: items that answers use are ranked higher.

use serde_json::{Value, json};

use crate::privacy::is_on_disk;
use crate::server::{Client, Server, uptake};

fn post_ok(client: &Client, path: &str, body: &Value) -> Value {
    let (status, answer) = client.post(&format!("/api/v1/retrieval/{path}"), body);
    assert!((200..300).contains(&status), "{path} {body}: {status} {answer}");
    answer
}

fn multipliers(client: &Client, estimator: &str) -> Vec<(String, f64)> {
    let results = json!([{"entity_id": "plain", "score": 0.5}, {"entity_id": "liked", "score": 0.5},
        {"entity_id": "unknown", "score": 0.5}]);
    let body = json!({"query": "How do users log in?", "results": results, "estimator": estimator});
    let answer = post_ok(client, "rerank", &body);
    let results = answer["results"].as_array().unwrap();
    let read = |result: &Value| {
        assert_eq!(result["original_score"], 0.5);
        (result["entity_id"].as_str().unwrap().to_owned(), result["multiplier"].as_f64().unwrap())
    };
    results.iter().map(read).collect()
}

fn stats(client: &Client, entity: &str) -> Value {
    client.get(&format!("/api/v1/retrieval/entities/{entity}/stats")).1
}

/// Five queries that return two equal items, of which the answer uses one.
fn send_five_queries(client: &Client) {
    for n in 0..5 {
        let query_id = format!("q{n}");
        let entities = json!([
            {"entity_id": "plain", "name": "PaymentGateway", "rank": 1},
            {"entity_id": "liked", "name": "LoginService", "rank": 2},
            {"entity_id": "mystery", "rank": 3}]);
        post_ok(
            client,
            "returned",
            &json!({"query_id": query_id, "query": "How do users log in?", "entities": entities}),
        );
        let answer =
            json!({"query_id": query_id, "response": "The login service checks the password."});
        let found = post_ok(client, "usage", &answer);
        let expected = json!([{"entity_id": "plain", "signal": "ignored"},
            {"entity_id": "liked", "signal": "used", "why": "name"}]);
        assert_eq!(found["signals"], expected, "no signal for items that cannot be matched");
        // Sent twice, counted once.
        post_ok(client, "usage", &answer);
    }
}

#[test]
fn used_items_rank_above_ignored_ones_after_a_restart() {
    let server = Server::start();
    let client = server.client();
    send_five_queries(&client);
    let order = |found: &[(String, f64)]| -> Vec<String> {
        found.iter().map(|(entity, _)| entity.clone()).collect()
    };
    let check = |client: &Client| {
        let seed = multipliers(client, "seed");
        assert_eq!(seed, [("liked".into(), 1.5), ("unknown".into(), 1.0), ("plain".into(), 0.5)]);
        let coec = multipliers(client, "coec");
        assert_eq!(order(&coec), ["liked", "unknown", "plain"]);
        let expected = json!({"entityId": "liked", "totalReturns": 5, "usedCount": 5,
            "ignoredCount": 0, "positiveCount": 0, "negativeCount": 0, "useRate": 1.0});
        assert_eq!(stats(client, "liked"), expected);
        assert_eq!(stats(client, "unknown")["useRate"], 0.5);
        let list = |which: &str| {
            let found = client.get(&format!("/api/v1/retrieval/{which}?limit=5")).1;
            let entities = found["entities"].as_array().unwrap();
            entities
                .iter()
                .map(|one| one["entityId"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (list("most-helpful"), list("most-ignored")),
            (vec!["liked".into()], vec!["plain".into()])
        );
    };
    check(&client);
    let server = server.kill_and_restart();
    check(&server.client());
    let client = server.client();
    // Three ratings, one of them changed; each query counts once.
    for (query, helpful) in
        [("q0", true), ("q0", false), ("q1", false), ("q2", false), ("q2", false)]
    {
        let body =
            json!({"query_id": query, "entity_id": "liked", "helpful": helpful, "comment": "well"});
        post_ok(&client, "feedback", &body);
    }
    let lowered = multipliers(&client, "seed");
    assert!((lowered[0].1 - 1.05).abs() < 1e-9 && lowered[0].0 == "liked", "{lowered:?}");
    assert_eq!(stats(&client, "liked")["negativeCount"], 3);
    // A later report turns ignored into used, and never back.
    let code = json!({"query_id": "q0", "kind": "code", "response": "let gateway = PaymentGateway::new();"});
    let found = post_ok(&client, "usage", &code);
    assert_eq!(found["signals"][0]["signal"], "used", "{found}");
    post_ok(&client, "usage", &json!({"query_id": "q0", "response": "Nothing of that."}));
    assert_eq!(stats(&client, "plain")["usedCount"], 1);
    assert_eq!(stats(&client, "plain")["totalReturns"], 5);
    let other = server.client().with_header("X-Uptake-Tenant", "other");
    assert_eq!(stats(&other, "liked")["totalReturns"], 0);
    assert_eq!(
        other.post("/api/v1/retrieval/usage", &json!({"query_id": "q0", "response": "x"})),
        (202, json!({"signals": [], "pending": true})),
        "another tenant's query"
    );
    let (_, folder) = server.stop();
    let (code, out, error) = uptake(folder.path(), &["rebuild", "--json"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.starts_with("{\"changed\":false"), "{out}");
}

#[test]
fn completed_turn_reports_usage_and_later_reports_add_to_it() {
    let server = Server::start();
    let client = server.client();
    let turn = json!({"turn_id": "t1", "user_id": "ann", "text": "How do Zanzibarquux users log in?",
        "response": "See [doc-7]: the session token is checked first.",
        "retrieved": [{"entity_id": "doc-7", "content": "Tokens."},
            {"entity_id": "doc-8", "name": "BillingJob", "content": "Runs at night."}, {"entity_id": "x"}]});
    let (status, opened) = client.post("/api/v1/turns", &turn);
    assert_eq!(status, 201, "{opened}");
    let expected = json!([{"entity_id": "doc-7", "signal": "used", "why": "citation"},
        {"entity_id": "doc-8", "signal": "ignored"}]);
    assert_eq!(opened["completed"]["usage"], expected, "{opened}");
    let (status, again) = client.post("/api/v1/turns", &turn);
    assert_eq!((status, &again["completed"]["usage"]), (200, &expected), "the same for a repeat");
    assert_eq!(stats(&client, "doc-7")["usedCount"], 1);
    let code = json!({"query_id": "t1", "kind": "code", "response": "BillingJob.run()"});
    assert_eq!(post_ok(&client, "usage", &code)["signals"][1]["signal"], "used");
    let response = json!({"items": [
        {"query_id": "t1", "signals": [{"entity_id": "x", "signal": "explicit_positive"}]},
        {"query_id": "elsewhere", "query": "?", "signals": [{"entity_id": "x", "signal": "used", "rank": 2}]}]});
    post_ok(&client, "signals", &response);
    assert_eq!(
        (stats(&client, "x")["positiveCount"].clone(), stats(&client, "x")["usedCount"].clone()),
        (json!(1), json!(1))
    );
    // A batch is stored completely or not at all.
    let half = json!({"items": [{"query_id": "q", "signals": [{"entity_id": "y", "signal": "used"}]},
        {"query_id": "q", "signals": [{"entity_id": "y", "signal": "liked"}]}]});
    let (status, answer) = client.post("/api/v1/retrieval/signals", &half);
    assert_eq!((status, &answer["field"]), (422, &json!("items[1].signals[0].signal")), "{answer}");
    assert_eq!(stats(&client, "y")["totalReturns"], 0);
    for (path, body) in [
        ("returned", json!({"query_id": "", "entities": []})),
        ("returned", json!({"query_id": "q", "entities": [{"entity_id": ""}]})),
        ("rerank", json!({"results": [], "estimator": "best"})),
        ("usage", json!({"query_id": "t1", "response": "x", "kind": "song"})),
        ("signals", json!({"items": []})),
    ] {
        assert_eq!(
            client.post(&format!("/api/v1/retrieval/{path}"), &body).0,
            422,
            "{path} {body}"
        );
    }
    assert_eq!(client.delete("/api/v1/users/ann").0, 200);
    assert!(!is_on_disk(&server, "Zanzibarquux"));
    assert_eq!(stats(&client, "doc-7")["usedCount"], 1, "numbers stay");
    let server = server.kill_and_restart();
    assert_eq!(stats(&server.client(), "doc-8")["usedCount"], 1);
}

#[test]
fn external_ids_are_not_redacted_and_partial_reports_add_up() {
    let server = Server::start();
    let client = server.client();
    // Ids that look like card numbers, addresses, emails or paths are not redacted.
    for id in [
        "ba12d313-4097-4350-9478-f45196a6b83b",
        "10.0.0.4",
        "bob@example.com",
        "src/auth/login.rs",
        "https://example.com/a?b=c d",
        "dö\u{4e0a}",
    ] {
        let entities = json!([{"entity_id": id, "name": "WombatFinder"}]);
        post_ok(&client, "returned", &json!({"query_id": id, "entities": entities}));
        let found =
            post_ok(&client, "usage", &json!({"query_id": id, "response": "Use WombatFinder."}));
        assert_eq!(found["signals"][0]["signal"], "used", "{id}: {found}");
        let path =
            id.replace('%', "%25").replace('/', "%2F").replace('?', "%3F").replace(' ', "%20");
        let path: String = path
            .chars()
            .map(|c| {
                if c.is_ascii() {
                    c.to_string()
                } else {
                    c.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect()
                }
            })
            .collect();
        assert_eq!(stats(&client, &path)["usedCount"], 1, "{id}");
    }
    // Partial reports of one query: items of the first are still matched.
    let part = |id: &str, name: &str| json!({"query_id": "q", "query": "how?", "entities": [{"entity_id": id, "name": name}]});
    assert_eq!(post_ok(&client, "returned", &part("a", "AlphaThing"))["replayed"], false);
    post_ok(&client, "returned", &part("b", "BetaThing"));
    assert_eq!(post_ok(&client, "returned", &part("a", "AlphaThing"))["replayed"], true);
    let found =
        post_ok(&client, "usage", &json!({"query_id": "q", "response": "AlphaThing it is."}));
    assert_eq!(found["signals"].as_array().unwrap().len(), 2, "{found}");
    assert_eq!(
        (stats(&client, "a")["usedCount"].clone(), stats(&client, "b")["ignoredCount"].clone()),
        (json!(1), json!(1))
    );
    let (status, answer) =
        client.post("/api/v1/retrieval/returned", &json!({"query_id": "q", "entities": []}));
    assert_eq!((status, &answer["field"]), (422, &json!("entities")));
    // A repeated report stores nothing.
    let head = client.get("/api/v1/events?limit=1000").1["items"].as_array().unwrap().len();
    post_ok(&client, "usage", &json!({"query_id": "q", "response": "AlphaThing it is."}));
    assert_eq!(client.get("/api/v1/events?limit=1000").1["items"].as_array().unwrap().len(), head);
}

#[test]
fn rating_before_the_results_counts_like_one_after() {
    let server = Server::start();
    let multiplier = |client: &Client| {
        let body = json!({"query": "zebra stripes", "results": [{"entity_id": "z", "score": 1.0}], "estimator": "coec"});
        post_ok(client, "rerank", &body)["results"][0]["multiplier"].as_f64().unwrap()
    };
    let found = ["early", "late"].map(|project| {
        let client = server.client().with_header("X-Uptake-Project", project);
        let opinion = || {
            post_ok(
                &client,
                "feedback",
                &json!({"query_id": "f", "entity_id": "z", "helpful": true}),
            )
        };
        if project == "early" {
            opinion();
        }
        let entities = json!([{"entity_id": "z", "name": "ZebraGuide", "rank": 1}]);
        post_ok(
            &client,
            "returned",
            &json!({"query_id": "f", "query": "zebra stripes", "entities": entities}),
        );
        post_ok(&client, "usage", &json!({"query_id": "f", "response": "As ZebraGuide says."}));
        if project == "late" {
            opinion();
        }
        multiplier(&client)
    });
    assert!((found[0] - found[1]).abs() < 1e-12 && found[0] > 1.0, "{found:?}");
    let (_, folder) = server.stop();
    let (_, out, error) = uptake(folder.path(), &["rebuild", "--json"]);
    assert!(out.starts_with("{\"changed\":false"), "{out}{error}");
}

#[test]
fn failed_answer_gives_no_usage_signal() {
    let server = Server::start();
    let client = server.client();
    for (n, more) in [
        json!({"status": "error", "error": "upstream timeout", "response": "Sorry, something went wrong."}),
        json!({"response": ""}),
        json!({"response": "I'm sorry, but I can't help with that."}),
    ]
    .iter()
    .enumerate()
    {
        let mut turn = json!({"turn_id": format!("t{n}"), "text": "How?",
            "retrieved": [{"entity_id": "doc", "name": "BillingJob", "content": "Runs at night."}]});
        turn.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(client.post("/api/v1/turns", &turn).0, 201, "{turn}");
    }
    assert_eq!(stats(&client, "doc")["totalReturns"], 0);
    // The same item on both endpoints, redacted or not.
    let turn = json!({"turn_id": "mail", "text": "Who?", "response": "Write to bob@example.com please.",
        "retrieved": [{"entity_id": "m", "name": "bob@example.com"}]});
    let (_, opened) = client.post("/api/v1/turns", &turn);
    let usage = post_ok(
        &client,
        "usage",
        &json!({"query_id": "mail", "response": "Write to bob@example.com please."}),
    );
    assert_eq!(
        opened["completed"]["usage"][0]["signal"], usage["signals"][0]["signal"],
        "{opened} {usage}"
    );
}
