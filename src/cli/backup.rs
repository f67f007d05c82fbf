//! `uptake backup`

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use model::Timestamp;
use serde_json::json;
use store::BackupNote;

use super::Common;
use super::progress::Progress;
use super::shown_address::without_password;
use crate::config::Config;
use crate::wiring;

/// Copy a store into a file while it is served.
///
/// The copy is the store as it was at one moment: everything that was acknowledged before the command began is in
/// it. Nobody is kept waiting meanwhile. It is checked before it gets its name, nothing is ever written over,
/// and it is one file that holds all that a restore needs: events, what follows from them, keys, what routers learnt,
/// the store's own key. So keep it as safe as the store itself.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake backup --to uptake-monday.db
  uptake backup --data /var/lib/uptake --to /mnt/backups/
  uptake backup --data /var/lib/uptake --to /mnt/backups/ --json

A folder gets a file with the time in its name. `uptake restore --help` says how to come back.")]
pub(super) struct Backup {
    #[command(flatten)]
    common: Common,
    /// File to write, or a folder for it.
    #[arg(long, value_name = "FILE|DIR")]
    to: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Backup {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (config, _) = self.common.load(Vec::new())?;
        refuse_postgres(&config, "pg_dump --format=custom --no-owner --file=FILE")?;
        let now = wiring::clock().now();
        let folder = Path::new(&config.store.data);
        let to = file_of(&self.to, now);
        refuse_data_folder(folder, &to)?;
        let bar = Progress::new("pages copied");
        let made =
            store::back_up(folder, &to, now, |done, of| bar.show(done, of)).with_context(|| {
                format!("cannot back up the store in {} to {}", folder.display(), to.display())
            })?;
        let bytes = std::fs::metadata(&to)?.len();
        if self.json {
            println!("{}", json!({"file": to, "bytes": bytes, "backup": described(&made)}));
        } else {
            println!(
                "{}: {} rows in {} tables, {} MB, the log up to position {}; checked",
                to.display(),
                made.rows,
                made.tables,
                bytes.div_ceil(1_000_000),
                made.head
            );
        }
        Ok(())
    }
}

/// What a backup says of itself, as JSON.
pub(super) fn described(note: &BackupNote) -> serde_json::Value {
    json!({"made_at": note.made_at.to_string(), "position": note.head, "tables": note.tables,
        "rows": note.rows, "digest": note.digest})
}

/// A store in Postgres is saved with Postgres's own tools.
pub(super) fn refuse_postgres(config: &Config, command: &str) -> anyhow::Result<()> {
    let address = &config.store.postgres;
    if address.is_empty() {
        return Ok(());
    }
    bail!(
        "the store is in Postgres, whose own tools do this while it is served:\n  {command} '{}'\n\
         docs/backup.md says more",
        without_password(address)
    )
}

/// The file itself, or one with the time in its name in a folder.
fn file_of(to: &Path, now: Timestamp) -> PathBuf {
    let is_folder = to.is_dir() || to.as_os_str().to_string_lossy().ends_with('/');
    if !is_folder {
        return to.to_owned();
    }
    let seconds: String =
        now.to_string().chars().take(19).filter(|letter| !matches!(letter, '-' | ':')).collect();
    to.join(format!("uptake-{seconds}Z.db"))
}

/// Whatever takes the store would take a backup beside it too.
fn refuse_data_folder(folder: &Path, to: &Path) -> anyhow::Result<()> {
    let parent = match to.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    };
    match (parent.canonicalize(), folder.canonicalize()) {
        (Ok(parent), Ok(folder)) if parent.starts_with(&folder) => {
            bail!("{} is in the data folder; a backup there would be lost with it", to.display())
        }
        (Ok(_), _) => Ok(()),
        (Err(error), _) => {
            Err(error).with_context(|| format!("cannot write to {}", parent.display()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gets_a_file_with_the_time_in_its_name() {
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        assert_eq!(file_of(Path::new("a.db"), now), Path::new("a.db"));
        assert_eq!(file_of(Path::new("b/"), now), Path::new("b/uptake-20270115T080000Z.db"));
    }
}
