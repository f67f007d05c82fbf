//! The command `uptake export`.

use std::io::{BufWriter, Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use engine::{PreferenceEncoding, PreferenceExport, PreferenceQuery, PreferenceRequest};
use model::{Position, Project, Scope, Tenant};
use serde_json::{Map, Value, json};
use store::ReadOnlyLog;

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
    preferences: Preferences,
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
    log: &ReadOnlyLog,
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

/// Flags of `--preferences`: selection and format of the rows.
#[derive(Debug, Args)]
struct Preferences {
    /// Export preference data in this format instead of the log: dpo, kto, sft, reward or openai_dpo.
    /// Parquet when the file name ends in .parquet.
    #[arg(long, value_name = "SHAPE")]
    preferences: Option<String>,
    /// Tenant of the preference data.
    #[arg(long, default_value = "default", requires = "preferences")]
    tenant: String,
    /// Project of the preference data.
    #[arg(long, default_value = "default", requires = "preferences")]
    project: String,
    /// Only this split: train, validation or test.
    #[arg(long, requires = "preferences")]
    split: Option<String>,
    /// Only turns asked from this time on.
    #[arg(long, value_name = "TIME", requires = "preferences")]
    since: Option<String>,
    /// Only turns asked before this time.
    #[arg(long, value_name = "TIME", requires = "preferences")]
    until: Option<String>,
    /// Minimum confidence of a row, 0 to 1 [default: 0.7].
    #[arg(long, value_name = "NUMBER", requires = "preferences")]
    min_confidence: Option<f64>,
    /// Sources of the rows: correction, rating, rephrase, regeneration, experiment.
    #[arg(long, value_delimiter = ',', value_name = "SOURCES", requires = "preferences")]
    sources: Vec<String>,
    /// Maximum number of rows per source: NUMBER for all sources, or SOURCE:NUMBER.
    #[arg(long, value_delimiter = ',', value_name = "NUMBERS", requires = "preferences")]
    cap: Vec<String>,
}

impl Preferences {
    fn run(self, log: ReadOnlyLog, output: Option<PathBuf>, as_json: bool) -> anyhow::Result<()> {
        let scope =
            Scope { tenant: Tenant::new(self.tenant)?, project: Project::new(self.project)? };
        let query = PreferenceQuery::parse(PreferenceRequest {
            format: self.preferences,
            split: self.split,
            since: self.since,
            until: self.until,
            min_confidence: self.min_confidence,
            sources: self.sources,
            cap: self.cap,
            after: None,
            encoding: choose_encoding(output.as_deref().unwrap_or(Path::new("-"))),
        })?;
        let mut export = PreferenceExport::new(Arc::new(log), scope, query);
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let Some(path) = output else {
            return match runtime.block_on(write_rows(&mut export, stdout().lock())) {
                Err(error) if is_broken_pipe(&error) => Ok(()),
                result => result,
            };
        };
        let mut file = OutputFile::create(&path)?;
        runtime.block_on(write_rows(&mut export, &mut file))?;
        file.finish()?;
        print_counts(&export, &path, as_json);
        Ok(())
    }
}

/// Parquet when the file name ends in `.parquet`.
pub(super) fn choose_encoding(path: &Path) -> PreferenceEncoding {
    match path.extension().is_some_and(|ending| ending == "parquet") {
        true => PreferenceEncoding::Parquet,
        false => PreferenceEncoding::Jsonl,
    }
}

async fn write_rows(export: &mut PreferenceExport, to: impl Write) -> anyhow::Result<()> {
    let mut output = BufWriter::new(to);
    while let Some(bytes) = export.next().await? {
        output.write_all(&bytes)?;
    }
    Ok(output.flush()?)
}

fn print_counts(export: &PreferenceExport, path: &Path, as_json: bool) {
    let tally = export.tally();
    let rows: u64 = tally.rows.values().sum();
    let by_source = tally.rows.iter().map(|(source, rows)| (source.as_word(), *rows));
    if as_json {
        let sources: Map<String, Value> =
            by_source.map(|(source, rows)| (source.to_owned(), rows.into())).collect();
        println!(
            "{}",
            json!({"rows": rows, "sources": sources, "repeated": tally.repeated,
                "unsure": tally.unsure, "capped": tally.capped, "output": path})
        );
        return;
    }
    let sources: Vec<String> = by_source.map(|(source, rows)| format!("{source} {rows}")).collect();
    let sources = if sources.is_empty() { "none".to_owned() } else { sources.join(", ") };
    println!("wrote {rows} rows to {} ({sources})", path.display());
}
