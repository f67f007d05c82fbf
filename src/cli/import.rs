//! `uptake import`

use std::fs::File;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use engine::Engine;
use model::Write;
use serde_json::{Value, json};

use super::Common;
use super::lines::lines_of;
use super::progress::Progress;
use crate::wiring;

const PAGE: usize = 1000;
/// Lines whose trouble is told in full.
const MOST_TOLD: u64 = 10;

/// Load events or chat logs from files of JSON lines.
///
/// A line is an event as `uptake export` writes it or as POST /api/v1/feedback takes it, or a
/// conversation of a chat log: OpenAI-style `messages`, ShareGPT, LMSYS and WildChat, Langfuse
/// traces, turns as POST /api/v1/turns takes them. A file may also be one JSON array. What was
/// imported before is left as it is. It needs the data folder to itself: stop the server first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake import log.jsonl
  uptake import --data /var/lib/uptake part1.jsonl part2.jsonl --json")]
pub(super) struct Import {
    #[command(flatten)]
    common: Common,
    /// Files to read.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Default)]
struct Tally {
    imported: u64,
    replayed: u64,
    rejected: u64,
    /// Lines with a conversation in which nobody said anything.
    empty: u64,
}

impl Import {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (config, _) = self.common.load(Vec::new())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let tally = runtime.block_on(async {
            let opened = wiring::open(&config).await;
            let opened =
                opened.context("this command needs the store to itself; stop its server")?;
            let mut tally = Tally::default();
            for file in &self.files {
                import(&opened.engine, file, &mut tally).await?;
            }
            opened.engine.close().await?;
            anyhow::Ok(tally)
        })?;
        let Tally { imported, replayed, rejected, empty } = tally;
        if self.json {
            let told = json!({"imported": imported, "replayed": replayed, "rejected": rejected,
                "empty": empty});
            println!("{told}");
        } else {
            println!(
                "imported {imported} events, {replayed} were there already, {rejected} did not fit"
            );
            if empty > 0 {
                println!("nothing was said in {empty} of the conversations");
            }
        }
        if rejected > 0 {
            bail!("{rejected} lines were not imported");
        }
        Ok(())
    }
}

async fn import(engine: &Engine, path: &Path, tally: &mut Tally) -> anyhow::Result<()> {
    let told = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(told)?;
    let size = file.metadata()?.len();
    let progress = Progress::new("bytes");
    let mut reader = lines_of(file).with_context(told)?;
    let (mut line, mut number, mut read) = (Vec::new(), 0_u64, 0_u64);
    let mut writes = Vec::with_capacity(PAGE);
    loop {
        line.clear();
        let bytes = reader.read_until(b'\n', &mut line)?;
        (number, read) = (number + 1, read + bytes as u64);
        if !line.trim_ascii().is_empty() {
            match prepare(engine, &line, number) {
                Ok(prepared) if prepared.is_empty() => tally.empty += 1,
                Ok(prepared) => writes.extend(prepared.into_iter().map(|write| (number, write))),
                Err(error) => reject(tally, path, number, &error),
            }
        }
        if writes.len() >= PAGE || bytes == 0 {
            store(engine, path, std::mem::take(&mut writes), tally).await?;
            progress.show(read, size);
        }
        if bytes == 0 {
            return Ok(());
        }
    }
}

fn prepare(engine: &Engine, line: &[u8], number: u64) -> anyhow::Result<Vec<Write>> {
    let value: Value = serde_json::from_slice(line).context("the line is not JSON")?;
    Ok(engine.feedback.prepare_line(value, number)?)
}

async fn store(
    engine: &Engine,
    path: &Path,
    writes: Vec<(u64, Write)>,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let (numbers, writes): (Vec<u64>, Vec<Write>) = writes.into_iter().unzip();
    for (number, receipt) in numbers.into_iter().zip(engine.feedback.record_batch(writes).await?) {
        match receipt {
            Ok(receipt) if receipt.replayed => tally.replayed += 1,
            Ok(_) => tally.imported += 1,
            Err(error) => reject(tally, path, number, &error.into()),
        }
    }
    Ok(())
}

fn reject(tally: &mut Tally, path: &Path, number: u64, error: &anyhow::Error) {
    tally.rejected += 1;
    if tally.rejected <= MOST_TOLD {
        eprintln!("{}:{number}: {error:#}", path.display());
    }
}
