//! The command `uptake import`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use engine::{Engine, PreparedLine};
use model::{Project, Scope, Tenant, Write};
use serde_json::{Value, json};

use super::JsonCommon;
use super::progress::Progress;
use crate::wiring;

const BATCH_WRITES: usize = 1000;
/// Further rejected lines are counted, but not printed.
const MAX_PRINTED_ERRORS: u64 = 10;
/// Further lines that were skipped for the same reason are counted, but not printed.
const MAX_PRINTED_PER_REASON: u64 = 10;

/// Import events, chat logs or exports of other systems from JSON Lines files.
///
/// A line is an event in the format of `uptake export` or POST /api/v1/feedback, a turn in the format of
/// POST /api/v1/turns, a conversation (OpenAI-style `messages`, ShareGPT, LMSYS, WildChat), a Langfuse trace,
/// root observation or score, a LangSmith root run or feedback row, or a reaction artifact
/// (`artifact:turn.log.reaction`). A file may also be one JSON array, or CSV with a row of names. Events that
/// are already stored are skipped. The command needs the data folder to itself: stop the server first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake import log.jsonl
  uptake import --data /var/lib/uptake part1.jsonl part2.jsonl --json
  uptake import --tenant acme --project support traces.jsonl scores.jsonl")]
pub(super) struct Import {
    #[command(flatten)]
    common: JsonCommon,
    /// Tenant of lines that name none.
    #[arg(long, value_name = "TENANT", default_value = "default")]
    tenant: String,
    /// Project of lines that name none.
    #[arg(long, value_name = "PROJECT", default_value = "default")]
    project: String,
    /// Files to read.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

#[derive(Debug, Default)]
struct ImportCounts {
    imported: u64,
    replayed: u64,
    rejected: u64,
    /// Lines with a conversation without messages.
    empty: u64,
    /// Lines without anything to import, by reason.
    skipped: BTreeMap<&'static str, u64>,
}

impl ImportCounts {
    fn print(&self, as_json: bool) {
        let Self { imported, replayed, rejected, empty, skipped } = self;
        if as_json {
            let counts = json!({"imported": imported, "replayed": replayed, "rejected": rejected,
                "empty": empty, "skipped": skipped});
            println!("{counts}");
            return;
        }
        println!(
            "imported {imported} events, {replayed} already stored, {rejected} lines rejected"
        );
        if *empty > 0 {
            println!("skipped {empty} conversations without messages");
        }
        for (reason, lines) in skipped {
            println!("skipped {lines} lines: {reason}");
        }
    }
}

impl Import {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let config = self.common.load()?;
        let scope = Scope {
            tenant: Tenant::new(self.tenant.as_str()).context("--tenant")?,
            project: Project::new(self.project.as_str()).context("--project")?,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let tally = runtime.block_on(async {
            let opened = wiring::open(&config).await;
            let opened =
                opened.context("this command needs the store to itself; stop its server first")?;
            let mut tally = ImportCounts::default();
            for file in &self.files {
                import_file(&opened.engine, file, &scope, &mut tally).await?;
            }
            opened.engine.close().await?;
            anyhow::Ok(tally)
        })?;
        tally.print(self.common.json);
        if tally.rejected > 0 {
            bail!("{} lines were rejected", tally.rejected);
        }
        Ok(())
    }
}

async fn import_file(
    engine: &Engine,
    path: &Path,
    scope: &Scope,
    tally: &mut ImportCounts,
) -> anyhow::Result<()> {
    let failed = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(failed)?;
    let size = file.metadata()?.len();
    let progress = Progress::new("bytes");
    let mut reader = open_lines(path, file).with_context(failed)?;
    let (mut line, mut number, mut read) = (Vec::new(), 0_u64, 0_u64);
    let mut writes = Vec::with_capacity(BATCH_WRITES);
    loop {
        line.clear();
        let bytes = reader.read_until(b'\n', &mut line)?;
        (number, read) = (number + 1, read + bytes as u64);
        if !line.trim_ascii().is_empty() {
            match parse_line(engine, &line, number, scope) {
                Ok(PreparedLine { skipped: Some(reason), .. }) => {
                    count_skipped(tally, path, number, reason);
                }
                Ok(prepared) if prepared.writes.is_empty() => tally.empty += 1,
                Ok(prepared) => writes.extend(prepared.writes.into_iter().map(|w| (number, w))),
                Err(error) => count_rejected(tally, path, number, &error),
            }
        }
        if writes.len() >= BATCH_WRITES || bytes == 0 {
            store_batch(engine, path, std::mem::take(&mut writes), tally).await?;
            progress.show(read, size);
        }
        if bytes == 0 {
            return Ok(());
        }
    }
}

fn parse_line(
    engine: &Engine,
    line: &[u8],
    number: u64,
    scope: &Scope,
) -> anyhow::Result<PreparedLine> {
    let value: Value = serde_json::from_slice(line).context("the line is not JSON")?;
    Ok(engine.feedback.prepare_line(value, number, scope)?)
}

async fn store_batch(
    engine: &Engine,
    path: &Path,
    writes: Vec<(u64, Write)>,
    tally: &mut ImportCounts,
) -> anyhow::Result<()> {
    let (numbers, writes): (Vec<u64>, Vec<Write>) = writes.into_iter().unzip();
    for (number, receipt) in numbers.into_iter().zip(engine.feedback.record_batch(writes).await?) {
        match receipt {
            Ok(receipt) if receipt.replayed => tally.replayed += 1,
            Ok(_) => tally.imported += 1,
            Err(error) => count_rejected(tally, path, number, &error.into()),
        }
    }
    Ok(())
}

fn count_rejected(tally: &mut ImportCounts, path: &Path, number: u64, error: &anyhow::Error) {
    tally.rejected += 1;
    if tally.rejected <= MAX_PRINTED_ERRORS {
        eprintln!("{}:{number}: {error:#}", path.display());
    }
}

fn count_skipped(tally: &mut ImportCounts, path: &Path, number: u64, reason: &'static str) {
    let lines = tally.skipped.entry(reason).or_default();
    *lines += 1;
    if *lines <= MAX_PRINTED_PER_REASON {
        eprintln!("{}:{number}: skipped: {reason}", path.display());
    }
}

/// Opens the file line by line. Each item of a JSON array and each row of a file with the extension
/// `csv` is returned as one line.
pub(super) fn open_lines(path: &Path, mut file: File) -> std::io::Result<Box<dyn BufRead>> {
    let mut head = [0u8; 256];
    let read = file.read(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    let is_array = head[..read].trim_ascii_start().starts_with(b"[");
    let is_csv = path.extension().is_some_and(|name| name.eq_ignore_ascii_case("csv"));
    let reader = BufReader::with_capacity(1 << 20, file);
    if is_csv {
        Ok(Box::new(BufReader::new(engine::CsvLines::new(reader))))
    } else if is_array {
        Ok(Box::new(BufReader::new(engine::ArrayLines::new(reader))))
    } else {
        Ok(Box::new(reader))
    }
}
