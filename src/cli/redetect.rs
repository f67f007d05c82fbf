//! `uptake redetect`

use clap::Args;
use serde_json::json;

use super::Common;
use super::progress::Progress;
use crate::wiring;

/// Run today's detectors over everything that is stored.
///
/// What they find differently is appended to the log and counts from then on: verdicts, retries and
/// what answers show. Ratings and reviews stay above it. Useful after an update, after a change of
/// the detectors' settings, and after `uptake import` of chat logs, which brings turns without
/// findings. It needs the data folder to itself: stop the server first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake redetect
  uptake import chats.jsonl && uptake redetect --json")]
pub(super) struct Redetect {
    #[command(flatten)]
    common: Common,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Redetect {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (config, _) = self.common.load(Vec::new())?;
        let progress = Progress::new("events");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let found = runtime.block_on(async {
            let engine = wiring::open_existing(&config).await?.engine;
            let found = engine.turns.redetect_log(move |done, of| progress.show(done, of)).await?;
            engine.close().await?;
            anyhow::Ok(found)
        })?;
        if self.json {
            println!("{}", json!({"turns": found.turns, "findings": found.findings}));
        } else {
            println!(
                "looked at {} questions and answers again; {} findings are new or different",
                found.turns, found.findings
            );
        }
        Ok(())
    }
}
