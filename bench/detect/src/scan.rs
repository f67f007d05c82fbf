//! Throughput of `uptake scan` on a log made from the public rows.

#![expect(clippy::disallowed_methods, reason = "this measures time")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::Command;
use std::time::Instant;

use anyhow::ensure;
use serde_json::json;

use crate::rows::{Bench, held};

const ROUNDS: usize = 3;
/// Repetitions of the rows, so that the run is long enough to measure.
const COPIES: usize = 6;

pub(crate) fn measure(bench: &Bench) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("log.jsonl");
    let rows = bench.rows("detect/verdict-dev.jsonl")?;
    let mut file = BufWriter::new(File::create(&path)?);
    let mut turns = 0;
    for copy in 0..COPIES {
        for (number, part) in rows.chunks(8).enumerate() {
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
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let status = Command::new(&bench.binary).args(["scan", "--json"]).arg(&path).output()?;
        ensure!(status.status.success(), "uptake scan failed");
        best = best.min(began.elapsed().as_secs_f64());
    }
    let rate = turns as f64 / best;
    println!("## Scan, best of {ROUNDS}\n");
    println!("| turns | seconds | turns/s | bar |");
    println!("|---|---|---|---|");
    println!("| {turns} | {best:.2} | {rate:.0} | ≥ 20 000 {} |", held(rate, 20_000.0));
    Ok(())
}
