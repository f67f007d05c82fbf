//! The command `uptake rebuild`.

use clap::Args;
use serde_json::json;

use super::JsonCommon;
use super::progress::Progress;
use crate::config::Config;
use crate::wiring;

/// Recompute every projection from the log.
///
/// Turns, reactions, counters and decisions are projections of the log. This command recomputes them
/// and reports whether any of them differed, which would be a bug. It needs the data folder to itself:
/// stop the server first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake rebuild
  uptake rebuild --data /var/lib/uptake --json")]
pub(super) struct Rebuild {
    #[command(flatten)]
    common: JsonCommon,
}

impl Rebuild {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let config = self.common.load()?;
        let rebuilt = rebuild_projections(&config)?;
        if self.common.json {
            println!("{}", json!({"events": rebuilt.events, "changed": rebuilt.changed}));
        } else if rebuilt.changed {
            println!(
                "replayed {} events; the projections differed from the log and were corrected",
                rebuilt.events
            );
        } else {
            println!("replayed {} events; the projections match the log", rebuilt.events);
        }
        Ok(())
    }
}

/// Replays the log of a store that no other process uses.
pub(super) fn rebuild_projections(config: &Config) -> anyhow::Result<engine::Rebuilt> {
    let progress = Progress::new("events");
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let engine = wiring::open_existing(config).await?.engine;
        let rebuilt = engine.rebuild(move |done, of| progress.show(done, of)).await?;
        engine.close().await?;
        Ok(rebuilt)
    })
}
