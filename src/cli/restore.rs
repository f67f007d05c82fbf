//! `uptake restore`

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::json;

use super::Common;
use super::backup::{described, refuse_postgres};
use super::progress::Progress;
use crate::config::Config;
use crate::wiring;

/// Make a backup the store of an empty folder.
///
/// The backup is checked first: its structure, the number of rows in it, and a hash over everything in it; one that
/// is damaged is refused and leaves nothing behind. Then start the server on the folder.
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
        let bar = Progress::new("bytes copied");
        let restored = store::tables::restore(&self.from, folder, |done, of| bar.show(done, of))
            .with_context(|| format!("cannot restore into {}", folder.display()))?;
        let replayed = if self.verify { Some(verify(&config)?) } else { None };
        if self.json {
            let told =
                json!({"data": folder, "backup": described(&restored), "replayed": replayed});
            println!("{told}");
            return Ok(());
        }
        println!(
            "{}: {} rows in {} tables as of {}, the log up to position {}; checked",
            folder.display(),
            restored.rows,
            restored.tables,
            restored.made_at,
            restored.head
        );
        if let Some(events) = replayed {
            println!("replayed {events} events; the projections were right");
        }
        Ok(())
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
