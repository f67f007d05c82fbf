//! `uptake restore`

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};
use store::StoredKey;

use super::Common;
use super::backup::{described, refuse_postgres};
use super::progress::Progress;
use crate::config::Config;
use crate::wiring;

/// Make a backup the store of an empty folder.
///
/// The backup is checked first: its structure, the number of rows in it, and a hash over everything in it; one that
/// is damaged is refused and leaves nothing behind. Then start the server on the folder.
///
/// What happened since the backup was made is gone, also what was taken away since: erased users and revoked keys are
/// back. The keys that are valid are listed. Whoever had logged in to the page logs in again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake restore --from uptake-monday.db --data /var/lib/uptake
  uptake restore --from uptake-monday.db --data ./again --verify
  uptake restore --from uptake-monday.db --data ./again --json")]
pub(super) struct Restore {
    #[command(flatten)]
    common: Common,
    /// The file that `uptake backup` wrote.
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// Then make every projection again from the log, and fail if any comes out different.
    #[arg(long)]
    verify: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Restore {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (config, _) = self.common.load(Vec::new())?;
        refuse_postgres(&config, "pg_restore --no-owner --exit-on-error FILE --dbname")?;
        let folder = Path::new(&config.store.data);
        let (now, bar) = (wiring::clock().now(), Progress::new("bytes copied"));
        let show = |done, of| bar.show(done, of);
        let restored = store::restore(&self.from, folder, now, show)
            .with_context(|| format!("cannot restore into {}", folder.display()))?;
        let replayed = if self.verify { Some(verify(&config)?) } else { None };
        if self.json {
            let keys: Vec<Value> = restored.keys.iter().map(listed).collect();
            let backup = described(&restored.note);
            let told =
                json!({"data": folder, "backup": backup, "replayed": replayed, "keys": keys});
            println!("{told}");
            return Ok(());
        }
        let note = &restored.note;
        println!(
            "{}: {} rows in {} tables as of {}, the log up to position {}; checked",
            folder.display(),
            note.rows,
            note.tables,
            note.made_at,
            note.head
        );
        if let Some(events) = replayed {
            println!("replayed {events} events; the projections were right");
        }
        tell_what_is_back(&restored.keys);
        Ok(())
    }
}

/// A key as JSON, without its secret, which is nowhere.
fn listed(key: &StoredKey) -> Value {
    json!({"id": key.id, "role": key.role.as_word(), "tenant": key.tenant.as_str(),
        "project": key.project.as_ref().map(model::Project::as_str)})
}

/// What was taken away since the backup was made, nobody but the operator knows.
fn tell_what_is_back(keys: &[StoredKey]) {
    println!("users who were erased since then are back: erase them again before anybody reads");
    match keys {
        [] => println!("no key is valid"),
        some => println!("valid keys, {}; revoke again those that were revoked since:", some.len()),
    }
    for key in keys {
        let project = key.project.as_ref().map_or("*", model::Project::as_str);
        println!("{:12}  {:8}  {}/{project}", key.id, key.role.as_word(), key.tenant);
    }
}

/// Replays the log and compares. Answers how many events there were.
fn verify(config: &Config) -> anyhow::Result<u64> {
    let progress = Progress::new("events");
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let rebuilt = runtime.block_on(async {
        let engine = wiring::open_existing(config).await?.engine;
        let rebuilt = engine.rebuild(move |done, of| progress.show(done, of)).await?;
        engine.close().await?;
        anyhow::Ok(rebuilt)
    })?;
    if rebuilt.changed {
        bail!("the projections were not what the log says; they are right now");
    }
    Ok(rebuilt.events)
}
