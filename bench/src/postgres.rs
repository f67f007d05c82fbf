//! Durable writes with Postgres on the same machine. Needs a binary with the feature `scaled`.

use std::time::Duration;

use anyhow::{Context, anyhow};
use testkit::servers::{Database, Postgres, ServerProcess};

use crate::fill;
use crate::server::{Binary, Server, cpu_seconds_with_children};
use crate::table::Table;
use crate::table::Target::{AtLeast, None, Under};
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
    measure_cost(&postgres, &database, &server, table)?;
    let events = best_batches(&server, fill::metric)?;
    table.add("Postgres: events in batches of 1 000", events, "/s", AtLeast(15_000.0));
    let ratings = best_batches(&server, fill::rating)?;
    table.add("Postgres: ratings in batches of 1 000", ratings, "/s", None);
    table.add("Postgres: memory of the node afterwards", server.megabytes()?, "MB", None);
    Ok(())
}

/// Cost of a turn in an ongoing conversation, for the node and for Postgres.
fn measure_cost(
    postgres: &ServerProcess<Postgres>,
    database: &Database,
    server: &Server,
    table: &mut Table,
) -> anyhow::Result<()> {
    let (cpu, written) = (cpu_seconds_with_children(postgres.pid())?, Written::read(database)?);
    let load = run(server, "conversation.lua", 32, 10)?;
    let cpu = cpu_seconds_with_children(postgres.pid())? - cpu;
    let now = Written::read(database)?;
    let what = "Postgres: a turn in 1 000 conversations";
    table.add(&format!("{what}, CPU of the node"), load.cpu_ms_each, "ms", Under(0.5));
    let each = cpu * 1000.0 / load.requests;
    table.add(&format!("{what}, CPU of Postgres"), each, "ms", Under(0.6));
    let rows = (now.row_versions - written.row_versions) / load.requests;
    table.add(&format!("{what}, row versions"), rows, "", Under(14.0));
    let wal = (now.wal_bytes - written.wal_bytes) / 1000.0 / load.requests;
    table.add(&format!("{what}, write-ahead log"), wal, "KB", Under(6.5));
    Ok(())
}

/// Written by Postgres so far.
struct Written {
    wal_bytes: f64,
    row_versions: f64,
}

impl Written {
    fn read(database: &Database) -> anyhow::Result<Self> {
        // Sessions report their counts at most once a second.
        std::thread::sleep(Duration::from_millis(1500));
        let row = database.run(
            "select pg_current_wal_lsn() - '0/0', sum(n_tup_ins + n_tup_upd) from pg_stat_user_tables",
        );
        let row = row.map_err(|error| anyhow!("reading the counts of Postgres: {error}"))?;
        let (wal, rows) = row.trim().split_once('|').context("not two columns")?;
        Ok(Self { wal_bytes: wal.parse()?, row_versions: rows.parse()? })
    }
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
