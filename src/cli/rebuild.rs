//! The command `uptake rebuild`.

use clap::Args;
use serde_json::json;

use super::Common;
use super::progress::Progress;
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
    common: Common,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl Rebuild {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (config, _) = self.common.load(Vec::new())?;
        let progress = Progress::new("events");
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let rebuilt = runtime.block_on(async {
            let engine = wiring::open_existing(&config).await?.engine;
            let rebuilt = engine.rebuild(move |done, of| progress.show(done, of)).await?;
            engine.close().await?;
            anyhow::Ok(rebuilt)
        })?;
        if self.json {
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
