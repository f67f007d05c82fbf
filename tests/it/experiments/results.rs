//! Results of experiments from turns and feedback.

use serde_json::{Value, json};

use super::experiment_calls::{act, assign, failed, for_each, rate, rebuilt, results, run, turn};
use crate::privacy::is_on_disk;
use crate::server::{Client, Server};

/// One unit of each variant.
fn unit_of_each_variant(client: &Client, id: &str, names: &str) -> [String; 2] {
    let mut found = [None, None];
    for n in 0.. {
        let unit = format!("{names}{n}");
        let place = usize::from(assign(client, id, &unit) == "treatment");
        found[place].get_or_insert(unit);
        if let [Some(control), Some(treatment)] = &found {
            return [control.clone(), treatment.clone()];
        }
    }
    unreachable!()
}

fn means(client: &Client, id: &str) -> (Value, Value) {
    let found = results(client, id);
    (found["variants"][0]["mean"].clone(), found["variants"][1]["mean"].clone())
}

#[test]
fn results_include_late_feedback() {
    let server = Server::start();
    let client = server.client();
    run(&client, "rated", "satisfaction", &json!({}));
    run(&client, "errors", "error_rate", &json!({"by": "unit"}));
    let found = results(&client, "rated");
    assert_eq!(
        found["variants"][0],
        json!({"name": "control", "units": 0, "observed": 0,
        "mean": null, "interval": null})
    );
    assert_eq!(
        (&found["difference"], &found["srm"]),
        (&json!(null), &json!({"p": null, "ok": true}))
    );
    assert_eq!((&found["verdict"], &found["status"]), (&json!("undecided"), &json!("RUNNING")));
    let [a, b] = unit_of_each_variant(&client, "rated", "u");
    assert_eq!(means(&client, "rated"), (json!(null), json!(null)), "no feedback");
    for n in 0..4 {
        turn(&client, &format!("a{n}"), &a, &json!({}));
        turn(&client, &format!("b{n}"), &b, &json!({}));
        rate(&client, &format!("a{n}"), if n == 0 { 5 } else { 1 });
    }
    rate(&client, "b0", 5);
    assert_eq!(means(&client, "rated"), (json!(0.25), json!(1.0)));
    rate(&client, "b1", 1);
    rate(&client, "a1", 5);
    assert_eq!(means(&client, "rated"), (json!(0.5), json!(0.5)), "a changed mind changes it");
    assert_eq!(means(&client, "errors"), (json!(null), json!(null)), "no unit is exposed");
    assign(&client, "errors", &a);
    turn(&client, "a9", &a, &failed());
    turn(&client, "a10", &a, &json!({}));
    let found = means(&client, "errors");
    assert!(found == (json!(0.5), json!(null)) || found == (json!(null), json!(0.5)), "{found:?}");
    assert_eq!(act(&client, "rated", "complete").0, 200);
    let over = results(&client, "rated");
    rate(&client, "b1", 5);
    turn(&client, "b9", &b, &json!({}));
    assert_eq!(results(&client, "rated"), over, "the results of what is over stand");
    let server = rebuilt(server.kill_and_restart());
    assert_eq!(results(&server.client(), "rated"), over);
    assert_eq!(means(&server.client(), "errors"), found);
}

#[test]
fn turn_counts_for_the_variant_at_its_time() {
    let server = Server::start();
    let client = server.client();
    run(&client, "x", "error_rate", &json!({}));
    run(&client, "talks", "latency", &json!({"unit": "conversation"}));
    turn(&client, "early", "u0", &failed());
    let [a, b] = unit_of_each_variant(&client, "x", "u");
    rate(&client, "early", 1);
    assert_eq!(
        means(&client, "x"),
        (json!(null), json!(null)),
        "not counted before the assignment"
    );
    // Asked, assigned, answered: applications do it in this order too.
    let question =
        json!({"turn_id": "q", "conversation_id": "c9", "user_id": "u99", "text": "Why?"});
    assert_eq!(client.post("/api/v1/turns", &question).0, 201);
    let which = usize::from(assign(&client, "x", "u99") == "treatment");
    assign(&client, "talks", "c9");
    let answer = json!({"response": "So.", "latency_ms": 1500});
    assert_eq!(client.post("/api/v1/turns/q/complete", &answer).0, 200);
    let found = results(&client, "x");
    assert_eq!(found["variants"][which]["observed"], 1, "{found}");
    let talks = results(&client, "talks");
    let both = [0, 1].map(|n| talks["variants"][n]["mean"].clone());
    assert!(both.contains(&json!(1.5)) && both.contains(&json!(null)), "{talks}");
    // A turn before the assignment is not an effect of it.
    turn(
        &client,
        "old",
        &a,
        &json!({"ts": "2026-01-05T00:00:00Z", "status": "error", "error": "x",
        "response": null}),
    );
    turn(&client, "new", &b, &failed());
    let found = results(&client, "x");
    let observed = |n: usize| found["variants"][n]["observed"].as_u64().unwrap();
    assert_eq!(observed(0) + observed(1), 2, "{found}");
    let server = rebuilt(server);
    assert_eq!(results(&server.client(), "x"), found);
}

#[test]
fn pre_experiment_data_narrows_the_interval() {
    let server = Server::start();
    run(&server.client(), "x", "quality_score", &json!({}));
    for_each(&server.client(), 0..260, |client, n| {
        let (unit, own) = (format!("u{n}"), (n * 37 % 100) as f64 / 125.0);
        turn(client, &format!("before{n}"), &unit, &json!({"quality_score": own}));
        let gain = if assign(client, "x", &unit) == "treatment" { 0.1 } else { 0.0 };
        let more = (n % 7) as f64 / 100.0;
        turn(client, &format!("after{n}"), &unit, &json!({"quality_score": own + gain + more}));
    });
    let found = results(&server.client(), "x");
    let comparison = &found["comparisons"][0];
    assert!(comparison["variance_reduction"].as_f64() > Some(0.9), "{comparison}");
    let width =
        |one: &Value| one["interval"][1].as_f64().unwrap() - one["interval"][0].as_f64().unwrap();
    assert!(width(&comparison["cuped"]) < 0.5 * width(&comparison["difference"]), "{comparison}");
    // N of the confidence sequence, as documented.
    let [a, b] = [0, 1].map(|n| found["variants"][n]["observed"].as_f64().unwrap());
    let n = comparison["difference"]["n"].as_f64().unwrap();
    assert!((n - 2.0 * a * b / (a + b)).abs() < 1e-9, "{comparison}");
    assert_eq!(
        (&found["verdict"], &found["best"]),
        (&json!("better"), &json!("treatment")),
        "{found}"
    );
    let server = rebuilt(server);
    assert_eq!(results(&server.client(), "x"), found);
}

#[test]
fn erased_unit_keeps_its_sums_without_its_name() {
    let server = Server::start();
    let client = server.client();
    run(&client, "x", "satisfaction", &json!({}));
    let [a, b] = unit_of_each_variant(&client, "x", "zqxwv-unit-");
    for (n, unit) in [&a, &b, &a].into_iter().enumerate() {
        turn(&client, &format!("t{n}"), unit, &json!({"conversation_id": "c1"}));
        rate(&client, &format!("t{n}"), if n == 0 { 1 } else { 5 });
    }
    let before = results(&client, "x");
    assert_eq!(before["variants"][0]["mean"], 0.5, "{before}");
    for n in 0..40 {
        let (status, answer) = client.delete(&format!("/api/v1/users/zqxwv-unit-{n}"));
        assert!(status == 200 || status == 404, "{answer}");
    }
    assert_eq!(results(&client, "x"), before);
    assert!(!is_on_disk(&server, "zqxwv-unit"), "a name is left");
    let server = rebuilt(server);
    assert_eq!(results(&server.client(), "x"), before);
}
