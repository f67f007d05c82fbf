//! `uptake migrate-store`

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use serde_json::json;
use store::MigrateStep;

use super::progress::Progress;
use crate::config::load;

/// Copy a store into a Postgres database.
///
/// Copies everything that a folder's store holds into an empty Postgres database and compares both sides
/// afterwards, every table by the number of its rows and by sums over all their values. Nobody may serve
/// the folder meanwhile; it stays as it is. A run that was stopped goes on where it was when it is started
/// again, and until it has come to its end no server takes the database for a store.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake migrate-store --from ./data --to postgres://uptake:secret@db.internal/uptake
  UPTAKE__STORE__POSTGRES=postgres://uptake:secret@db.internal/uptake uptake migrate-store --from ./data
  uptake migrate-store --from ./data --json

Afterwards set store.postgres to the same address and start the server.")]
pub(super) struct MigrateStore {
    /// Folder that holds the store.
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// Address of the database; without it that of the configuration (store.postgres).
    #[arg(long, value_name = "URL")]
    to: Option<String>,
    /// Configuration file; `uptake config` shows every key.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Rows that are copied together at the most.
    #[arg(long, value_name = "N", default_value_t = 5000)]
    rows: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl MigrateStore {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (config, _) = load(self.config.as_deref(), Vec::new())?;
        super::logging::start(&config)?;
        let to = self.to.unwrap_or(config.store.postgres);
        if to.is_empty() {
            bail!("say where to: --to postgres://USER:PASSWORD@HOST/DATABASE, or store.postgres");
        }
        let bars = [Progress::new("rows copied"), Progress::new("rows checked")];
        let show = |step, done, of| match step {
            MigrateStep::Copying => bars[0].show(done, of),
            MigrateStep::Checking => bars[1].show(done, of),
        };
        let migrated = store::migrate_store(&self.from, &to, self.rows, show)
            .with_context(|| format!("cannot migrate the store in {}", self.from.display()))?;
        let store::Migrated { tables, rows, found, head } = migrated;
        if self.json {
            println!("{}", json!({"tables": tables, "rows": rows, "found": found, "head": head}));
        } else {
            println!(
                "{rows} rows in {tables} tables are the same on both sides, {found} of them from an \
                 earlier run; the log stands at {head}"
            );
            println!("set store.postgres to the database's address and start the server");
        }
        Ok(())
    }
}
