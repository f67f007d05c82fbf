//! The same detectors over chat logs: what a stored conversation would have told.
//!
//! Reads a stream of lines, spreads conversations over threads, keeps only counts and the worst.

mod array;
mod assemble;
mod conversation;
mod tally;

use std::io::BufRead;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use capture::ChatRecord;
use serde_json::Value;

use crate::detectors::Detectors;

pub use array::ArrayLines;
pub use conversation::{Scanned, ScannedTurn};
pub use tally::{ScanReport, Worst, WorstTurn};

/// Conversations that travel together: fewer hand-overs.
const BATCH: usize = 32;
/// Batches that may wait: bounds the memory.
const WAITING: usize = 16;

/// How a scan is done.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    /// The detectors' rules.
    pub detectors: Detectors,
    /// Threads that judge.
    pub threads: usize,
    /// How many of the worst conversations are kept.
    pub worst: usize,
    /// Whether each conversation is handed back, for `each`.
    pub keep: bool,
}

/// What a thread works on: lines as read, or conversations put together from single turns.
enum Job {
    Lines(Vec<Vec<u8>>),
    Records(Vec<ChatRecord>),
}

type Numbered<T> = (u64, T);

/// Reads lines to their end. `each` sees the conversations in the order of the file, when `keep`
/// is set; `progress` hears how many bytes were read.
pub fn scan(
    settings: &Scan,
    lines: impl BufRead,
    mut each: impl FnMut(&[Scanned]) -> std::io::Result<()> + Send,
    mut progress: impl FnMut(u64),
) -> std::io::Result<ScanReport> {
    let (jobs, waiting) = sync_channel::<Numbered<Job>>(WAITING);
    let (done, results) = sync_channel::<Numbered<(ScanReport, Vec<Scanned>)>>(WAITING);
    let waiting = Mutex::new(waiting);
    thread::scope(|scope| {
        for _ in 0..settings.threads.max(1) {
            let (waiting, done) = (&waiting, done.clone());
            scope.spawn(move || judge_all(settings, waiting, &done));
        }
        drop(done);
        let collector = scope.spawn(move || collect(settings, &results, &mut each));
        let read = read_all(lines, &jobs, &mut progress);
        drop(jobs);
        let report = collector
            .join()
            .unwrap_or_else(|_| Err(std::io::Error::other("a thread of the scan died")));
        read.and(report)
    })
}

/// Cuts the stream into jobs. Single turns are put together first.
fn read_all(
    mut lines: impl BufRead,
    jobs: &SyncSender<Numbered<Job>>,
    progress: &mut impl FnMut(u64),
) -> std::io::Result<()> {
    let mut assembler = assemble::Assembler::default();
    let (mut batch, mut number, mut read) = (Vec::with_capacity(BATCH), 0, 0);
    let mut send = |job: Job| -> bool {
        number += 1;
        jobs.send((number - 1, job)).is_ok()
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        let bytes = lines.read_until(b'\n', &mut line)?;
        if bytes == 0 {
            break;
        }
        read += bytes as u64;
        let trimmed = line.trim_ascii();
        if trimmed.is_empty() {
            continue;
        }
        match assemble::turn_in(trimmed) {
            Some(turn) => {
                let complete = assembler.take(turn);
                if !complete.is_empty() && !send(Job::Records(complete)) {
                    break;
                }
            }
            None => batch.push(trimmed.to_vec()),
        }
        if batch.len() >= BATCH && !send(Job::Lines(std::mem::take(&mut batch))) {
            break;
        }
        progress(read);
    }
    if !batch.is_empty() {
        send(Job::Lines(batch));
    }
    for rest in assembler.finish().chunks(BATCH) {
        send(Job::Records(rest.to_vec()));
    }
    Ok(())
}

/// Takes jobs until there are none.
fn judge_all(
    settings: &Scan,
    waiting: &Mutex<Receiver<Numbered<Job>>>,
    done: &SyncSender<Numbered<(ScanReport, Vec<Scanned>)>>,
) {
    loop {
        let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, job)) = job else { return };
        let mut report = ScanReport::default();
        let mut kept = Vec::new();
        let mut judge = |record: &ChatRecord| {
            let scanned = conversation::judge(&settings.detectors, record);
            report.count(&scanned, settings.worst);
            if settings.keep {
                kept.push(scanned);
            }
        };
        match job {
            Job::Records(records) => records.iter().for_each(&mut judge),
            Job::Lines(lines) => {
                let mut unreadable = 0;
                for line in lines {
                    match record_in(&line) {
                        Some(record) => judge(&record),
                        None => unreadable += 1,
                    }
                }
                report.unreadable = unreadable;
            }
        }
        if done.send((number, (report, kept))).is_err() {
            return;
        }
    }
}

fn record_in(line: &[u8]) -> Option<ChatRecord> {
    let text = String::from_utf8_lossy(line);
    let value: Value = serde_json::from_str(&text).ok()?;
    capture::read_chat(value.as_object()?).ok()
}

/// Puts results back into the order of the file and adds them up.
fn collect(
    settings: &Scan,
    results: &Receiver<Numbered<(ScanReport, Vec<Scanned>)>>,
    each: &mut impl FnMut(&[Scanned]) -> std::io::Result<()>,
) -> std::io::Result<ScanReport> {
    let mut early = std::collections::BTreeMap::new();
    let (mut next, mut total) = (0, ScanReport::default());
    for (number, result) in results {
        early.insert(number, result);
        while let Some((report, kept)) = early.remove(&next) {
            total.add(report, settings.worst);
            each(&kept)?;
            next += 1;
        }
    }
    Ok(total)
}
