//! Durable writes: single and in batches.

use serde_json::json;

use crate::fill;
use crate::server::{Binary, Server};
use crate::table::Table;
use crate::table::Target::{AtLeast, None, Under};
use crate::wrk::{best_of, run};

const TURNS: usize = 10_000;

pub(crate) fn measure(binary: &Binary, table: &mut Table) -> anyhow::Result<()> {
    let server = binary.start()?;
    run(&server, "event.lua", 64, 2)?; // warm up the caches
    let one = best_of(3, &server, "event.lua", 1, 5)?;
    table.add("events, 1 connection", one.per_second, "/s", None);
    table.add("events, 1 connection, p50", one.p50_ms, "ms", Under(1.0));
    let many = best_of(3, &server, "event.lua", 64, 10)?;
    table.add("events, 64 connections", many.per_second, "/s", AtLeast(12_000.0));
    table.add("events, 64 connections, p99", many.p99_ms, "ms", Under(40.0));
    table.add("events, server CPU each", many.cpu_ms_each, "ms", Under(0.12));
    let more = best_of(3, &server, "event.lua", 256, 5)?;
    table.add("events, 256 connections", more.per_second, "/s", None);
    let ratings = best_of(3, &server, "rating.lua", 64, 5)?;
    table.add("ratings on turns, 64 connections", ratings.per_second, "/s", AtLeast(8_000.0));
    table.add("ratings on turns, p99", ratings.p99_ms, "ms", Under(40.0));
    let turns = best_of(3, &server, "turn.lua", 64, 5)?;
    table.add("turns with answer, 64 connections", turns.per_second, "/s", None);
    table.add("turns with answer, server CPU each", turns.cpu_ms_each, "ms", None);
    drop(server);

    let server = binary.start()?;
    let many = best_of(3, &server, "conversation.lua", 64, 5)?;
    let what = "turns with answer in 1 000 conversations, 64 connections";
    table.add(what, many.per_second, "/s", AtLeast(7_000.0));
    let one = best_of(3, &server, "conversation.lua", 1, 5)?;
    let what = "turns with answer in conversations, 1 connection, written each";
    table.add(what, one.written_kb_each, "KB", Under(60.0));
    let hundred = run(&server, "conversation.lua", 100, 5)?;
    let what = "turns with answer in conversations, 100 connections, written each";
    table.add(what, hundred.written_kb_each, "KB", None);
    let comments = best_of(3, &server, "comment.lua", 32, 5)?;
    table.add("comments on turns, 32 connections", comments.per_second, "/s", AtLeast(10_000.0));
    drop(server);

    let server = binary.start()?;
    open_turns(&server)?;
    let reactions = best_of(3, &server, "reaction.lua", 64, 5)?;
    table.add("reactions, 64 connections", reactions.per_second, "/s", AtLeast(6_000.0));
    table.add("reactions, p99", reactions.p99_ms, "ms", None);
    drop(server);

    let server = binary.start()?;
    let mut best = 0.0_f64;
    for round in 0..3 {
        let (from, to) = (round * 100_000, (round + 1) * 100_000);
        let took = fill::send(&server, from, to, 1000, fill::metric)?;
        best = best.max(100_000.0 / took.as_secs_f64());
    }
    table.add("events in batches of 1 000", best, "/s", AtLeast(25_000.0));
    let mut best = 0.0_f64;
    for round in 0..3 {
        let (from, to) = (round * 100_000, (round + 1) * 100_000);
        let took = fill::send(&server, from, to, 1000, fill::rating)?;
        best = best.max(100_000.0 / took.as_secs_f64());
    }
    table.add("ratings in batches of 1 000", best, "/s", None);
    Ok(())
}

/// The turns that `reaction.lua` reacts to.
fn open_turns(server: &Server) -> anyhow::Result<()> {
    let agent = fill::agent();
    for n in 0..TURNS {
        let body = json!({"turn_id": format!("t{n}"), "conversation_id": format!("c{}", n % 1000),
            "user_id": "u1", "text": "q"});
        let request = agent.post(format!("{}/api/v1/turns", server.url));
        let request = request.header("X-API-Key", &server.key);
        request.header("Content-Type", "application/json").send(body.to_string())?;
    }
    Ok(())
}
