//! Durable writes with Postgres on the same machine. Needs a binary with the feature `scaled`.

use testkit::servers::Postgres;

use crate::fill;
use crate::server::{Binary, Server};
use crate::table::Table;
use crate::table::Target::{AtLeast, None};
use crate::wrk::{best_of, run};

/// Events per round in batches.
const BATCHED_EVENTS: usize = 50_000;

pub(crate) fn measure(binary: &Binary, table: &mut Table) -> anyhow::Result<()> {
    let postgres = Postgres::start()?;
    let database = postgres.database()?;
    let server = binary.start_with(&[("UPTAKE__STORE__POSTGRES", database.url())])?;
    run(&server, "event.lua", 32, 2)?; // warm up the caches
    let one = best_of(3, &server, "event.lua", 1, 5)?;
    table.add("Postgres: events, 1 connection", one.per_second, "/s", None);
    table.add("Postgres: events, 1 connection, p50", one.p50_ms, "ms", None);
    let some = best_of(3, &server, "event.lua", 32, 5)?;
    table.add("Postgres: events, 32 connections", some.per_second, "/s", AtLeast(3_000.0));
    table.add("Postgres: events, 32 connections, p99", some.p99_ms, "ms", None);
    let many = best_of(3, &server, "event.lua", 64, 5)?;
    table.add("Postgres: events, 64 connections", many.per_second, "/s", None);
    for (what, script) in [
        ("ratings on turns", "rating.lua"),
        ("turns with answer, each a conversation", "turn.lua"),
        ("turns with answer in 1 000 conversations", "conversation.lua"),
    ] {
        let load = best_of(3, &server, script, 32, 5)?;
        let what = format!("Postgres: {what}, 32 connections");
        table.add(&what, load.per_second, "/s", None);
        table.add(&format!("{what}, p99"), load.p99_ms, "ms", None);
    }
    let events = best_batches(&server, fill::metric)?;
    table.add("Postgres: events in batches of 1 000", events, "/s", AtLeast(15_000.0));
    let ratings = best_batches(&server, fill::rating)?;
    table.add("Postgres: ratings in batches of 1 000", ratings, "/s", None);
    table.add("Postgres: memory of the node afterwards", server.megabytes()?, "MB", None);
    Ok(())
}

/// The best rate of three rounds.
fn best_batches(server: &Server, event: fn(usize) -> String) -> anyhow::Result<f64> {
    let mut best = 0.0_f64;
    for round in 0..3 {
        let (from, to) = (round * BATCHED_EVENTS, (round + 1) * BATCHED_EVENTS);
        let took = fill::send(server, from, to, 1000, event)?;
        best = best.max(BATCHED_EVENTS as f64 / took.as_secs_f64());
    }
    Ok(best)
}
