//! The command `uptake restore`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};
use store::StoredKey;

use super::JsonCommon;
use super::backup::{note_as_json, refuse_postgres};
use super::progress::Progress;
use super::rebuild::rebuild_projections;
use crate::wiring;

/// Restore a backup into an empty folder.
///
/// The backup is verified first: its structure, its row counts and a hash over all content. A damaged backup is
/// refused and leaves nothing behind. After the restore, start the server on the folder.
///
/// The store is in the state of the backup. Users erased and keys revoked since then are back: erase and revoke them
/// again. The command lists the valid keys. Users of the web pages have to log in again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake restore --from uptake-monday.db --data /var/lib/uptake
  uptake restore --from uptake-monday.db --data ./again --verify
  uptake restore --from uptake-monday.db --data ./again --json")]
pub(super) struct Restore {
    #[command(flatten)]
    common: JsonCommon,
    /// Backup file written by `uptake backup`.
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// Then recompute every projection from the log, and fail if any differs.
    #[arg(long)]
    verify: bool,
}

impl Restore {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let config = self.common.load()?;
        refuse_postgres(&config, "pg_restore --no-owner --exit-on-error FILE --dbname")?;
        let folder = Path::new(&config.store.data);
        let (now, bar) = (wiring::system_clock().now(), Progress::new("bytes copied"));
        let show = |done, of| bar.show(done, of);
        let restored = store::restore(&self.from, folder, now, show)
            .with_context(|| format!("cannot restore into {}", folder.display()))?;
        let replayed = if self.verify { Some(rebuild_projections(&config)?) } else { None };
        if replayed.as_ref().is_some_and(|rebuilt| rebuilt.changed) {
            bail!("the restored projections differed from the log; they were corrected");
        }
        let replayed = replayed.map(|rebuilt| rebuilt.events);
        if self.common.json {
            let keys: Vec<Value> = restored.keys.iter().map(key_as_json).collect();
            let backup = note_as_json(&restored.note);
            let result =
                json!({"data": folder, "backup": backup, "replayed": replayed, "keys": keys});
            println!("{result}");
            return Ok(());
        }
        let note = &restored.note;
        println!(
            "{}: {} rows in {} tables as of {}, log position {}; verified",
            folder.display(),
            note.rows,
            note.tables,
            note.made_at,
            note.head
        );
        if let Some(events) = replayed {
            println!("replayed {events} events; the projections match the log");
        }
        print_key_warning(&restored.keys);
        Ok(())
    }
}

/// The store holds no secrets of keys, only their hashes.
fn key_as_json(key: &StoredKey) -> Value {
    json!({"id": key.id, "role": key.role.as_word(), "tenant": key.tenant.as_str(),
        "project": key.project.as_ref().map(model::Project::as_str)})
}

/// Only the operator knows which users were erased and keys revoked since the backup.
fn print_key_warning(keys: &[StoredKey]) {
    println!("users erased since the backup are back: erase them again before serving");
    match keys {
        [] => println!("no valid keys"),
        some => println!("{} valid keys; revoke again those revoked since the backup:", some.len()),
    }
    for key in keys {
        let project = key.project.as_ref().map_or("*", model::Project::as_str);
        println!("{:12}  {:8}  {}/{project}", key.id, key.role.as_word(), key.tenant);
    }
}
