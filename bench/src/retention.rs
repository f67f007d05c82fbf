//! The pause of other writers while old events are dropped from a store with 10⁵ turns.

use std::fs;
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde_json::json;
use tempfile::TempDir;
use testkit::servers::Postgres;

use crate::server::{Binary, Server, now};
use crate::table::Table;
use crate::table::Target::{None, Under};
use crate::{fill, loops};

const TURNS: usize = 100_000;
/// Turns of two events each that arrived long ago.
const OLD_TURNS: usize = 500;
const OLD: &str = "2001-01-01T00:00:00Z";
const RETENTION_DAYS: u32 = 3_000;
/// Before the rule is set, for comparison.
const QUIET: Duration = Duration::from_secs(3);
const TARGET_MILLIS: f64 = 50.0;

pub(crate) fn measure(binary: &Binary, table: &mut Table) -> anyhow::Result<()> {
    let folder = import(binary)?;
    if binary.command(&["migrate-store", "--help"]).output()?.status.success() {
        let postgres = Postgres::start()?;
        let database = postgres.database()?;
        let mut migrate = binary.command(&["migrate-store", "--json", "--from"]);
        let migrated = migrate.arg(folder.path()).arg("--to").arg(database.url()).output()?;
        ensure!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
        let server = binary.start_with(&[("UPTAKE__STORE__POSTGRES", database.url())])?;
        drop_old_events(&server, table, "Postgres")?;
    }
    drop_old_events(&binary.start_in(folder)?, table, "SQLite")
}

/// A store whose first turns are old.
fn import(binary: &Binary) -> anyhow::Result<TempDir> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("turns.jsonl");
    let mut file = BufWriter::new(fs::File::create(&path)?);
    for n in 0..TURNS {
        loops::write_turn(&mut file, n, (n < OLD_TURNS).then_some(OLD))?;
    }
    file.flush()?;
    binary.import(folder.path(), &path)?;
    fs::remove_file(&path)?;
    Ok(folder)
}

fn drop_old_events(server: &Server, table: &mut Table, whose: &str) -> anyhow::Result<()> {
    loops::wait_until_settled(server)?;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let quiet = scope.spawn(|| write_until(server, &is_over));
        std::thread::sleep(QUIET);
        is_over.store(true, Ordering::Release);
        table.add(&format!("{whose}: longest write before"), joined(quiet)?, "ms", None);
        is_over.store(false, Ordering::Release);
        let writer = scope.spawn(|| write_until(server, &is_over));
        let took = set_retention(server);
        is_over.store(true, Ordering::Release);
        let longest = joined(writer)?;
        let what = format!("{whose}: longest write while 1 000 old events are dropped");
        table.add(&what, longest, "ms", Under(TARGET_MILLIS));
        table.add(&format!("{whose}: until they are dropped"), took?, "s", None);
        Ok(())
    })
}

fn joined(writer: std::thread::ScopedJoinHandle<'_, anyhow::Result<f64>>) -> anyhow::Result<f64> {
    writer.join().unwrap_or_else(|_| bail!("the writer panicked"))
}

/// Writes one event after another. Returns the longest time of a write, in milliseconds.
fn write_until(server: &Server, is_over: &AtomicBool) -> anyhow::Result<f64> {
    let agent = fill::agent();
    let (mut longest, mut number) = (0.0_f64, 0);
    while !is_over.load(Ordering::Acquire) {
        let begun = now();
        let request = agent
            .post(format!("{}/api/v1/feedback", server.url))
            .header("Content-Type", "application/json")
            .header("X-API-Key", &server.key);
        request.send(fill::metric(number))?;
        longest = longest.max(begun.elapsed().as_secs_f64() * 1e3);
        number += 1;
    }
    Ok(longest)
}

/// Sets the rule, and returns the seconds until the old events are gone.
fn set_retention(server: &Server) -> anyhow::Result<f64> {
    let agent = fill::agent();
    let begun = now();
    let rule = json!({"retention_days": {"events": RETENTION_DAYS}});
    agent
        .put(format!("{}/api/v1/tenants/default/privacy", server.url))
        .header("X-API-Key", &server.key)
        .send_json(rule)
        .context("setting the retention")?;
    let last = format!("{}/api/v1/feedback/completed-{}", server.url, OLD_TURNS - 1);
    while begun.elapsed() < Duration::from_secs(300) {
        match agent.get(&last).header("X-API-Key", &server.key).call() {
            Ok(_) => std::thread::sleep(Duration::from_millis(20)),
            Err(ureq::Error::StatusCode(404)) => return Ok(begun.elapsed().as_secs_f64()),
            Err(other) => return Err(other.into()),
        }
    }
    bail!("the old events were not dropped within five minutes")
}
