//! Router choices at a fixed rate, and the turns they learn from.

use anyhow::{Context, ensure};
use serde_json::json;

use crate::server::{Binary, Server, now};
use crate::steady::{post, steadily};
use crate::table::Table;
use crate::table::Target::{None, Under};

const RATE: usize = 1_000;
const SENDERS: usize = 4;
const SECONDS: usize = 10;
const RUNS: usize = 3;
/// Turns that each router has learned from before the measurement.
const WARMUP_TURNS: usize = 500;

pub(crate) fn measure(binary: &Binary, table: &mut Table) -> anyhow::Result<()> {
    let server = binary.start()?;
    for algorithm in ["thompson", "lints", "hybrid"] {
        set(&server, algorithm)?;
        teach(&server, algorithm)?;
        let mut best = (f64::INFINITY, f64::INFINITY);
        for _ in 0..RUNS {
            let (p50, p99) = steadily(RATE, SENDERS, SECONDS, |agent, _, n| {
                let body = json!({"router": algorithm, "text": question(n)});
                let chosen = post(agent, &server, "/api/v1/route", &body)?;
                let done = now();
                ensure!(chosen["arm"].is_string(), "{chosen}");
                Ok(done)
            })?;
            best = (best.0.min(p50), best.1.min(p99));
        }
        let what = format!("route by {algorithm} at {RATE}/s");
        table.add(&format!("{what}, p50"), best.0, "ms", None);
        table.add(&format!("{what}, p99, best of {RUNS}"), best.1, "ms", Under(1.0));
    }
    let (p50, p99) =
        steadily(200, SENDERS, SECONDS, |agent, _, n| served(agent, &server, "hybrid", n))?;
    table.add("turn with route, then its answer, at 200/s, p50", p50, "ms", None);
    table.add("turn with route, then its answer, at 200/s, p99", p99, "ms", None);
    server.stop()?;
    Ok(())
}

fn set(server: &Server, algorithm: &str) -> anyhow::Result<()> {
    let arms: Vec<_> = (0..5).map(|n| json!({"id": format!("model-{n}")})).collect();
    let body = json!({"arms": arms, "algorithm": algorithm});
    let agent = crate::fill::agent();
    let address = format!("{}/api/v1/routers/{algorithm}", server.url);
    agent.put(address).header("X-API-Key", &server.key).send_json(&body)?;
    Ok(())
}

fn teach(server: &Server, algorithm: &str) -> anyhow::Result<()> {
    let agent = crate::fill::agent();
    for n in 0..WARMUP_TURNS {
        served(&agent, server, algorithm, n)?;
    }
    Ok(())
}

/// A turn with a routed model and its answer.
fn served(
    agent: &ureq::Agent,
    server: &Server,
    router: &str,
    n: usize,
) -> anyhow::Result<std::time::Instant> {
    let body = json!({"text": question(n), "conversation_id": format!("{router}-{}", n / 10),
        "include": ["route"], "router": router});
    let opened = post(agent, server, "/api/v1/turns", &body)?;
    let turn = opened["turn_id"].as_str().context("no turn id")?;
    let arm = &opened["route"]["arm"];
    let slow = arm.as_str().is_some_and(|arm| arm.ends_with('3'));
    let answer = json!({"response": "Here is what I found.", "model": arm,
        "latency_ms": if slow { 900 } else { 20_000 }});
    post(agent, server, &format!("/api/v1/turns/{turn}/complete"), &answer)?;
    Ok(now())
}

fn question(n: usize) -> String {
    format!("Which of our products number {} sold best in week {} of the year?", n % 997, n % 52)
}
