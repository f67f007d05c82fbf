//! The command `uptake export`.

mod preferences;

use std::io::{BufWriter, Write, stdout};
use std::path::{Path, PathBuf};

use clap::Args;
use model::Position;
use serde_json::json;

use super::Common;
use super::output_file::OutputFile;
use super::progress::Progress;
use crate::wiring;

const PAGE_EVENTS: usize = 1000;

/// Export the log of all tenants as JSON Lines, oldest first, or preference data for training.
///
/// Each line is an event in the format of GET /api/v1/events. The command also works while a server runs;
/// events stored after it started are not included.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake export > log.jsonl
  uptake export --data /var/lib/uptake --output log.jsonl
  uptake export --after 120000 --output rest.jsonl --json
  uptake export --preferences dpo --split train --output train.jsonl
  uptake export --preferences kto --output kto.parquet")]
pub(super) struct Export {
    #[command(flatten)]
    common: Common,
    /// File to write, readable by its owner only; standard output when absent or `-`.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only events after this log position.
    #[arg(long, value_name = "POSITION", default_value_t = 0, conflicts_with = "preferences")]
    after: u64,
    /// Print a summary as JSON (with --output).
    #[arg(long, requires = "output")]
    json: bool,
    #[command(flatten)]
    preferences: preferences::Preferences,
}

impl Export {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (config, _) = self.common.load(Vec::new())?;
        let log = wiring::open_log(&config.store)?;
        let output = self.output.filter(|path| path != Path::new("-"));
        if self.preferences.preferences.is_some() {
            return self.preferences.run(log, output, self.json);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let Some(path) = output else {
            return match runtime.block_on(write_events(&log, Position(self.after), stdout().lock()))
            {
                // The reader of the pipe has closed it, as `head` does.
                Err(error) if is_broken_pipe(&error) => Ok(()),
                result => result.map(drop),
            };
        };
        let mut file = OutputFile::create(&path)?;
        let written = runtime.block_on(write_events(&log, Position(self.after), &mut file))?;
        file.finish()?;
        if self.json {
            println!("{}", json!({"events": written, "output": path}));
        } else {
            println!("wrote {written} events to {}", path.display());
        }
        Ok(())
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

async fn write_events(
    log: &store::ReadOnlyLog,
    mut after: Position,
    to: impl Write,
) -> anyhow::Result<u64> {
    let head = log.head().await?;
    let progress = Progress::new("events");
    let mut lines = BufWriter::new(to);
    let mut written = 0;
    while after < head {
        let page = log.tail(after, PAGE_EVENTS).await?;
        if page.is_empty() {
            break;
        }
        for stored in page.into_iter().take_while(|stored| stored.position <= head) {
            after = stored.position;
            writeln!(lines, "{}", api::event_line(stored)?)?;
            written += 1;
        }
        progress.show(after.0, head.0);
    }
    lines.flush()?;
    Ok(written)
}
