//! `fuzz-detect CORPUS SECONDS`: mangles rows of the corpus and sends them through `score` and `scan`.
//!
//! Runs on stable. A panic stops it; the seed that is printed last finds the row again.

#![expect(clippy::print_stdout, reason = "it tells how far it came")]
#![expect(clippy::disallowed_methods, reason = "it runs for a given time")]

use std::fs;
use std::io::Cursor;
use std::time::{Duration, Instant};

use anyhow::Context;
use flow::{Detectors, Embedder, Mode, Scan, Task, scan, score_line};

/// What is put into rows: what parsers and detectors trip over.
const PIECES: [&[u8]; 16] = [
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\\u0000",
    b"\\ud800",
    b"\xff\xfe",
    "\u{202e}".as_bytes(),
    "🙂".as_bytes(),
    "不".as_bytes(),
    b"```",
    b"\n",
    b"null",
    b"-1e400",
];
const TASKS: [Task; 4] = [Task::Verdict, Task::Refusal, Task::Pair, Task::Embed];
const MODES: [Mode; 3] = [Mode::Seed, Mode::Rules, Mode::Model];

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let corpus = arguments.next().context("usage: fuzz-detect CORPUS SECONDS [SEED]")?;
    let seconds: u64 = arguments.next().context("how many seconds?")?.parse()?;
    let mut seed: u64 = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let mut rows: Vec<Vec<u8>> = Vec::new();
    for name in ["verdict", "refusal", "pairs"] {
        let text = fs::read(format!("{corpus}/{name}.jsonl"))?;
        rows.extend(text.split(|byte| *byte == b'\n').step_by(7).map(<[u8]>::to_vec));
    }
    rows.push(br#"{"id":"x","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"no"}]}"#.to_vec());
    rows.push(br#"{"id":"t","sessionId":"s","input":{"messages":[{"role":"user","content":"a"}]},"output":"b"}"#.to_vec());
    let began = Instant::now();
    let (mut tried, mut told) = (0u64, 0);
    while began.elapsed() < Duration::from_secs(seconds) {
        one(&rows, seed);
        tried += 1;
        seed += 1;
        if began.elapsed().as_secs() >= told + 10 {
            told = began.elapsed().as_secs();
            println!("{tried} rows, next seed {seed}");
        }
    }
    println!("{tried} mangled rows, no panic");
    Ok(())
}

fn one(rows: &[Vec<u8>], seed: u64) {
    let mut random = Random(seed);
    let mut row = rows[random.below(rows.len())].clone();
    for _ in 0..random.below(6) {
        mangle(&mut row, rows, &mut random);
    }
    let mut detectors = Detectors::default();
    detectors.verdict.mode = MODES[random.below(MODES.len())];
    for task in TASKS {
        // An unreadable row is an error that is told, never a panic.
        drop(score_line(&detectors, &Embedder::default(), task, &row));
    }
    let settings = Scan { detectors, threads: 1, worst: 2, keep: true };
    drop(scan(&settings, Cursor::new(&row), |_| Ok(()), |_| {}));
}

fn mangle(row: &mut Vec<u8>, rows: &[Vec<u8>], random: &mut Random) {
    let at = random.below(row.len() + 1);
    match random.below(6) {
        0 => row.truncate(at),
        1 => drop(row.splice(at..at, PIECES[random.below(PIECES.len())].iter().copied())),
        2 if at < row.len() => row[at] = random.below(256) as u8,
        3 => {
            let other = &rows[random.below(rows.len())];
            let from = random.below(other.len() + 1);
            drop(row.splice(at..at, other[from..].iter().copied()));
        }
        4 => {
            let part = row[at..].to_vec();
            (0..random.below(200)).for_each(|_| row.extend(&part[..part.len().min(500)]));
        }
        _ => drop(row.drain(at..(at + random.below(20)).min(row.len()))),
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (fit::train::stir(self.0) % most.max(1) as u64) as usize
    }
}
