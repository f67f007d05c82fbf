//! The command `uptake backup`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use model::Timestamp;
use serde_json::json;
use store::BackupNote;

use super::JsonCommon;
use super::password_mask::strip_passwords;
use super::progress::Progress;
use crate::config::Config;
use crate::wiring;

/// Back up a store into one file, also while a server runs.
///
/// The backup is a consistent snapshot: it contains every write acknowledged before the command started. Reads and
/// writes continue meanwhile. The file is verified before it gets its name, and an existing file is never
/// overwritten. It contains everything a restore needs: events, projections, API keys, router state and the store's
/// secret key. Protect it like the store itself.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake backup --to uptake-monday.db
  uptake backup --data /var/lib/uptake --to /mnt/backups/
  uptake backup --data /var/lib/uptake --to /mnt/backups/ --json

In a folder the file is named after the current time. Restore it with `uptake restore`.")]
pub(super) struct Backup {
    #[command(flatten)]
    common: JsonCommon,
    /// File to write, or a folder to write it into.
    #[arg(long, value_name = "FILE|DIR")]
    to: PathBuf,
}

impl Backup {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let config = self.common.load()?;
        refuse_postgres(&config, "pg_dump --format=custom --no-owner --file=FILE")?;
        let now = wiring::system_clock().now();
        let folder = Path::new(&config.store.data);
        let to = choose_file(&self.to, now);
        refuse_data_folder(folder, &to)?;
        let bar = Progress::new("pages copied");
        let made =
            store::back_up(folder, &to, now, |done, of| bar.show(done, of)).with_context(|| {
                format!("cannot back up the store in {} to {}", folder.display(), to.display())
            })?;
        let bytes = std::fs::metadata(&to)?.len();
        if self.common.json {
            println!("{}", json!({"file": to, "bytes": bytes, "backup": note_as_json(&made)}));
        } else {
            println!(
                "{}: {} rows in {} tables, {} MB, log position {}; verified",
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

pub(super) fn note_as_json(note: &BackupNote) -> serde_json::Value {
    json!({"made_at": note.made_at.to_string(), "position": note.head, "tables": note.tables,
        "rows": note.rows, "digest": note.digest})
}

/// Backups of a Postgres store are made with Postgres's own tools.
pub(super) fn refuse_postgres(config: &Config, command: &str) -> anyhow::Result<()> {
    let address = &config.store.postgres;
    if address.is_empty() {
        return Ok(());
    }
    bail!(
        "the store is in Postgres; use its own tool, also while the server runs:\n  {command} '{}'\n\
         See docs/backup.md.",
        strip_passwords(address)
    )
}

/// `to` itself, or a file named after the current time when `to` is a folder.
fn choose_file(to: &Path, now: Timestamp) -> PathBuf {
    let is_folder = to.is_dir() || to.as_os_str().to_string_lossy().ends_with('/');
    if !is_folder {
        return to.to_owned();
    }
    let seconds: String =
        now.to_string().chars().take(19).filter(|letter| !matches!(letter, '-' | ':')).collect();
    to.join(format!("uptake-{seconds}Z.db"))
}

/// A backup inside the data folder would be lost together with the store.
fn refuse_data_folder(folder: &Path, to: &Path) -> anyhow::Result<()> {
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let parent =
        parent.canonicalize().with_context(|| format!("cannot write to {}", parent.display()))?;
    if folder.canonicalize().is_ok_and(|folder| parent.starts_with(folder)) {
        bail!(
            "{} is inside the data folder and would be lost with it; choose another folder",
            to.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backup_into_a_folder_is_named_after_the_time() {
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        assert_eq!(choose_file(Path::new("a.db"), now), Path::new("a.db"));
        assert_eq!(choose_file(Path::new("b/"), now), Path::new("b/uptake-20270115T080000Z.db"));
    }
}
