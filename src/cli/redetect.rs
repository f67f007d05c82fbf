//! The command `uptake redetect`.

use clap::Args;
use serde_json::json;

use super::JsonCommon;
use super::progress::Progress;
use crate::wiring;

/// Run the current detectors over all stored turns.
///
/// Findings that changed (verdicts, retries, errors, latency) are appended to the log and count from then
/// on. Ratings and reviews take precedence over them. Use it after an update, after a change of the
/// `[detect]` settings, and after `uptake import`, which imports turns without findings. The command needs
/// the data folder to itself: stop the server first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake redetect
  uptake import chats.jsonl && uptake redetect --json")]
pub(super) struct Redetect {
    #[command(flatten)]
    common: JsonCommon,
}

impl Redetect {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let config = self.common.load()?;
        let progress = Progress::new("events");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let found = runtime.block_on(async {
            let engine = wiring::open_existing(&config).await?.engine;
            let found = engine.turns.redetect_log(move |done, of| progress.show(done, of)).await?;
            engine.close().await?;
            anyhow::Ok(found)
        })?;
        if self.common.json {
            println!("{}", json!({"turns": found.turns, "findings": found.findings}));
        } else {
            println!(
                "checked {} turns; {} findings are new or changed",
                found.turns, found.findings
            );
        }
        Ok(())
    }
}
