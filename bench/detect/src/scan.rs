//! Throughput of `uptake scan` on a log made from the public rows.

#![expect(clippy::disallowed_methods, reason = "this measures time")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::ensure;
use serde_json::json;

use crate::rows::{Bench, held};

const ROUNDS: usize = 3;
/// Repetitions of the rows, so that the run is long enough to measure.
const COPIES: usize = 6;
const CONVERSATION_TURNS: usize = 8;
/// Every how many conversations the reader reads.
const READER_STEP: usize = 20;

pub(crate) fn measure(bench: &Bench) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("log.jsonl");
    let rows = bench.rows("detect/verdict-dev.jsonl")?;
    let mut file = BufWriter::new(File::create(&path)?);
    let mut turns = 0;
    for copy in 0..COPIES {
        for (number, part) in rows.chunks(CONVERSATION_TURNS).enumerate() {
            let messages: Vec<_> = part
                .iter()
                .flat_map(|row| {
                    [
                        json!({"role": "user", "content": row["prev_user"]}),
                        json!({"role": "assistant", "content": row["assistant"]}),
                    ]
                })
                .collect();
            turns += part.len();
            writeln!(file, "{}", json!({"id": format!("{copy}-{number}"), "messages": messages}))?;
        }
    }
    file.into_inner()?.sync_all()?;
    println!("## Scan\n");
    println!("| what | turns | seconds | turns/s | bar |");
    println!("|---|---|---|---|---|");
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        best = best.min(scan_seconds(bench, &["--fast"], &path)?);
    }
    let rate = turns as f64 / best;
    let bar = held(rate, 20_000.0);
    println!("| `--fast`, best of {ROUNDS} | {turns} | {best:.2} | {rate:.0} | ≥ 20 000 {bar} |");
    let part = folder.path().join("part.jsonl");
    let text = std::fs::read_to_string(&path)?;
    let lines: Vec<&str> = text.lines().step_by(READER_STEP).collect();
    std::fs::write(&part, lines.join("\n"))?;
    let seconds = scan_seconds(bench, &[], &part)?;
    let turns = lines.len() * CONVERSATION_TURNS;
    println!("| with the reader | {turns} | {seconds:.2} | {:.0} | |", turns as f64 / seconds);
    println!();
    Ok(())
}

fn scan_seconds(bench: &Bench, options: &[&str], path: &Path) -> anyhow::Result<f64> {
    let began = Instant::now();
    let status =
        Command::new(&bench.binary).args(["scan", "--json"]).args(options).arg(path).output()?;
    ensure!(status.status.success(), "uptake scan failed");
    Ok(began.elapsed().as_secs_f64())
}
