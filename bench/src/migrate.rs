//! Migration of a store from SQLite to Postgres on the same machine. Needs the feature `scaled`.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use testkit::servers::Postgres;

use crate::server::{Binary, now};
use crate::table::Table;
use crate::table::Target::None;
use crate::{fill, loops};

const TURNS: usize = 50_000;
const RATINGS: usize = 200_000;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

pub(crate) fn measure(binary: &Binary, table: &mut Table) -> anyhow::Result<()> {
    let postgres = Postgres::start()?;
    let database = postgres.database()?;
    let folder = tempfile::tempdir()?;
    loops::import(binary, &folder, 0, TURNS)?;
    let server = binary.start_in(folder)?;
    fill::send(&server, 0, RATINGS, 1000, fill::rating)?;
    let folder = server.stop()?;
    let megabytes = fs::metadata(folder.path().join("uptake.db"))?.len() as f64 / 1e6;
    table.add("store to be migrated", megabytes, "MB", None);
    let begun = now();
    let mut command = binary.command(&["migrate-store", "--json", "--from"]);
    command.arg(folder.path()).arg("--to").arg(database.url()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let mut memory: f64 = 0.0;
    while child.try_wait()?.is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id()))?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        memory = memory.max(kib.unwrap_or(0.0) * 1024.0 / 1e6);
        std::thread::sleep(BETWEEN_LOOKS);
    }
    let seconds = begun.elapsed().as_secs_f64();
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("the store was not migrated");
    }
    let said: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let rows = said["rows"].as_u64().context("the output has no row count")? as f64;
    table.add("rows migrated", rows, "", None);
    table.add("migrated and compared", rows / seconds, "rows/s", None);
    table.add("peak memory of migrating", memory, "MB", None);
    Ok(())
}
