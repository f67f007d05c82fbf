//! The command `uptake migrate-store`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
#[cfg(feature = "scaled")]
use serde_json::json;
#[cfg(feature = "scaled")]
use store::MigrateStep;

#[cfg(feature = "scaled")]
use super::progress::Progress;
use crate::config::load;
use crate::wiring;

/// Copy a store into a Postgres database.
///
/// Copies the store of a data folder into an empty Postgres database, then compares both: every table by
/// its row count and by checksums over all values. Stop the server of the folder first; the folder is not
/// changed. An interrupted run continues when the command is started again. Servers refuse the database
/// until the copy is complete.
///
/// Needs a build with the feature `scaled`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake migrate-store --from ./data --to postgres://uptake:secret@db.internal/uptake
  UPTAKE__STORE__POSTGRES=postgres://uptake:secret@db.internal/uptake uptake migrate-store --from ./data
  uptake migrate-store --from ./data --json

Afterwards set store.postgres to the same address and start the server.")]
pub(super) struct MigrateStore {
    /// Data folder to copy.
    // Optional in a build without Postgres, so that `run` can report the missing support.
    #[arg(long, value_name = "DIR", required = cfg!(feature = "scaled"))]
    from: Option<PathBuf>,
    /// Address of the database [default: the setting store.postgres].
    #[arg(long, value_name = "URL")]
    to: Option<String>,
    /// Configuration file; `uptake config` lists all keys.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Maximum number of rows per batch.
    #[arg(long, value_name = "N", default_value_t = 5000)]
    rows: usize,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl MigrateStore {
    pub(super) fn run(self) -> anyhow::Result<()> {
        wiring::require_support("Postgres")?;
        let (config, _) = load(self.config.as_deref(), Vec::new())?;
        super::logging::init_logging(&config)?;
        let to = self.to.unwrap_or(config.store.postgres);
        if to.is_empty() {
            bail!(
                "no target database: pass --to postgres://USER:PASSWORD@HOST/DATABASE or set store.postgres"
            );
        }
        let from = self.from.context("--from is required")?;
        migrate(&from, &to, self.rows, self.json)
    }
}

#[cfg(feature = "scaled")]
fn migrate(from: &Path, to: &str, batch_rows: usize, as_json: bool) -> anyhow::Result<()> {
    let bars = [Progress::new("rows copied"), Progress::new("rows compared")];
    let show = |step, done, of| match step {
        MigrateStep::Copying => bars[0].show(done, of),
        MigrateStep::Checking => bars[1].show(done, of),
    };
    let migrated = store::migrate_store(from, to, batch_rows, show)
        .with_context(|| format!("cannot migrate the store in {}", from.display()))?;
    let store::Migrated { tables, rows, found, head } = migrated;
    if as_json {
        println!("{}", json!({"tables": tables, "rows": rows, "found": found, "head": head}));
    } else {
        println!(
            "{rows} rows in {tables} tables are equal on both sides, {found} of them copied by an \
             earlier run; log position {head}"
        );
        println!("set store.postgres to the database's address and start the server");
    }
    Ok(())
}

#[cfg(not(feature = "scaled"))]
fn migrate(_: &Path, _: &str, _: usize, _: bool) -> anyhow::Result<()> {
    Ok(wiring::require_support("Postgres")?)
}
