//! Rebuilding all projections of a store with 10⁵ turns.

use std::process::Command;

use anyhow::{Context, ensure};
use testkit::servers::Postgres;

use crate::loops;
use crate::server::{Binary, now};
use crate::table::Table;
use crate::table::Target::{AtLeast, None};

const TURNS: usize = 100_000;

pub(crate) fn measure(binary: &Binary, table: &mut Table) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    loops::import(binary, &folder, 0, TURNS)?;
    let mut on_sqlite = binary.command(&["rebuild", "--json", "--data"]);
    on_sqlite.arg(folder.path());
    let rate = rebuild(&mut on_sqlite)?;
    table.add("SQLite: events rebuilt", rate, "/s", None);
    if binary.command(&["migrate-store", "--help"]).output()?.status.success() {
        let postgres = Postgres::start()?;
        let database = postgres.database()?;
        let mut migrate = binary.command(&["migrate-store", "--json", "--from"]);
        let migrated = migrate.arg(folder.path()).arg("--to").arg(database.url()).output()?;
        ensure!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
        let mut on_postgres = binary.command(&["rebuild", "--json"]);
        on_postgres.env("UPTAKE__STORE__POSTGRES", database.url());
        let rate = rebuild(&mut on_postgres)?;
        table.add("Postgres: events rebuilt", rate, "/s", AtLeast(10_000.0));
    }
    Ok(())
}

/// Events per second. The projections must be equal to those in the store.
fn rebuild(command: &mut Command) -> anyhow::Result<f64> {
    let begun = now();
    let output = command.output()?;
    let seconds = begun.elapsed().as_secs_f64();
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rebuilt: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    ensure!(rebuilt["changed"] == false, "the projections differed from the log: {rebuilt}");
    let events = rebuilt["events"].as_f64().context("the output has no count of events")?;
    Ok(events / seconds)
}
