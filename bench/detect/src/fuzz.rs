//! `fuzz-detect CORPUS SECONDS`: sends mangled rows of the corpus through `score` and `scan`.
//!
//! A panic stops it; the seed printed last reproduces the row.

#![expect(clippy::print_stdout, reason = "it tells how far it came")]
#![expect(clippy::disallowed_methods, reason = "it runs for a given time")]

use std::fs;
use std::io::Cursor;
use std::time::{Duration, Instant};

use anyhow::Context;
use engine::{Detectors, Embedder, Mode, Scan, Task, scan, score_line};

const TASKS: [Task; 4] = [Task::Verdict, Task::Refusal, Task::Pair, Task::Embed];
const MODES: [Mode; 3] = [Mode::Seed, Mode::Rules, Mode::Model];
/// Chat logs, which the corpus does not contain.
const LOGS: [&str; 2] = [
    r#"{"id":"x","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"no"}]}"#,
    r#"{"id":"t","sessionId":"s","input":{"messages":[{"role":"user","content":"a"}]},"output":"b"}"#,
];

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let corpus = arguments.next().context("usage: fuzz-detect CORPUS SECONDS [SEED]")?;
    let seconds: u64 = arguments.next().context("SECONDS is missing")?.parse()?;
    let mut seed: u64 = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let mut texts = Vec::new();
    for name in ["verdict", "refusal", "pairs"] {
        texts.push(fs::read_to_string(format!("{corpus}/{name}.jsonl"))?);
    }
    let mut rows: Vec<&str> = texts.iter().flat_map(|text| text.lines().step_by(7)).collect();
    rows.extend(LOGS);
    let began = Instant::now();
    let (mut tried, mut printed_at) = (0u64, 0);
    while began.elapsed() < Duration::from_secs(seconds) {
        one(&rows, seed);
        tried += 1;
        seed += 1;
        if began.elapsed().as_secs() >= printed_at + 10 {
            printed_at = began.elapsed().as_secs();
            println!("{tried} rows, next seed {seed}");
        }
    }
    println!("{tried} mangled rows, no panic");
    Ok(())
}

fn one(rows: &[&str], seed: u64) {
    let row = testkit::mangle_row(rows, seed);
    let mut detectors = Detectors::default();
    detectors.verdict.mode = MODES[(seed % MODES.len() as u64) as usize];
    for task in TASKS {
        // An unreadable row is an error, never a panic.
        drop(score_line(&detectors, &Embedder::default(), task, &row));
    }
    let settings = Scan { detectors, threads: 1, worst: 2, keep: true };
    drop(scan(&settings, Cursor::new(&row), |_| Ok(()), |_| {}));
}
