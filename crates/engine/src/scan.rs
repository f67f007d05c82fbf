//! Runs the detectors over chat logs without a store.
//!
//! Reads a stream of lines, distributes conversations over threads, and keeps counts, the worst
//! conversations and the latest negative turns.

mod array;
mod assembler;
mod conversation;
mod csv_lines;
mod negative_turns;
mod pairs;
mod tally;

use std::io::BufRead;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use ingest::ChatRecord;
use parking_lot::Mutex;
use serde_json::Value;

use crate::detectors::Detectors;

pub use array::ArrayLines;
pub use conversation::{ScannedConversation, ScannedTurn};
pub use csv_lines::CsvLines;
pub use negative_turns::ScanPatterns;
pub use pairs::ScanPairs;
pub use tally::{ScanReport, WorstConversation, WorstTurn};

/// Conversations per job, to reduce channel traffic.
const BATCH_CONVERSATIONS: usize = 32;
/// Jobs in the queue, which bounds memory.
const QUEUE_BATCHES: usize = 16;

#[derive(Clone, Copy, Debug)]
pub struct ScanSettings {
    pub detectors: Detectors,
    /// Number of worker threads.
    pub threads: usize,
    /// Number of worst conversations to keep.
    pub worst: usize,
    /// True to pass every conversation to `each`.
    pub keep: bool,
}

/// A unit of work with line numbers: raw lines, or conversations assembled from single turns.
enum Job {
    Lines(Vec<(u64, Vec<u8>)>),
    Records(Vec<(u64, ChatRecord)>),
}

type Numbered<T> = (u64, T);
type JobResult = Numbered<(ScanReport, Vec<ScannedConversation>)>;

/// Reads lines to the end. With `keep`, `each` gets the conversations in file order. `progress`
/// gets the number of bytes read.
pub fn scan(
    settings: &ScanSettings,
    lines: impl BufRead,
    mut each: impl FnMut(&[ScannedConversation]) -> std::io::Result<()> + Send,
    mut progress: impl FnMut(u64),
) -> std::io::Result<ScanReport> {
    let (jobs, waiting) = sync_channel::<Numbered<Job>>(QUEUE_BATCHES);
    let (done, results) = sync_channel::<JobResult>(QUEUE_BATCHES);
    let waiting = Mutex::new(waiting);
    let failed = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..settings.threads.max(1) {
            let (waiting, done) = (&waiting, done.clone());
            scope.spawn(move || run_worker(settings, waiting, &done));
        }
        drop(done);
        let collector = scope.spawn(|| collect_results(settings, results, &mut each, &failed));
        let read = read_jobs(lines, &jobs, &mut progress, &failed);
        drop(jobs);
        let report =
            collector.join().unwrap_or_else(|_| Err(std::io::Error::other("scan thread panicked")));
        read.and(report)
    })
}

/// Splits the stream into jobs and assembles single turns. Stops when the collector failed.
fn read_jobs(
    mut lines: impl BufRead,
    jobs: &SyncSender<Numbered<Job>>,
    progress: &mut impl FnMut(u64),
    failed: &AtomicBool,
) -> std::io::Result<()> {
    let mut assembler = assembler::Assembler::default();
    let (mut batch, mut number, mut read, mut line_number) =
        (Vec::with_capacity(BATCH_CONVERSATIONS), 0, 0, 0);
    let mut send = |job: Job| -> bool {
        number += 1;
        !failed.load(Ordering::Relaxed) && jobs.send((number - 1, job)).is_ok()
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        let bytes = lines.read_until(b'\n', &mut line)?;
        if bytes == 0 {
            break;
        }
        (read, line_number) = (read + bytes as u64, line_number + 1);
        let trimmed = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line).trim_ascii();
        if trimmed.is_empty() {
            continue;
        }
        let mut goes_on = true;
        match assembler::parse_turn(trimmed, line_number) {
            Some(turn) => {
                let complete = assembler.add_turn(line_number, turn);
                goes_on = complete.is_empty() || send(Job::Records(complete));
            }
            None => batch.push((line_number, trimmed.to_vec())),
        }
        if batch.len() >= BATCH_CONVERSATIONS {
            goes_on &= send(Job::Lines(std::mem::take(&mut batch)));
        }
        if !goes_on {
            return Ok(());
        }
        progress(read);
    }
    if !batch.is_empty() {
        send(Job::Lines(batch));
    }
    for rest in assembler.finish().chunks(BATCH_CONVERSATIONS) {
        send(Job::Records(rest.to_vec()));
    }
    Ok(())
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Processes jobs until the queue is closed.
fn run_worker(
    settings: &ScanSettings,
    waiting: &Mutex<Receiver<Numbered<Job>>>,
    done: &SyncSender<JobResult>,
) {
    loop {
        let job = waiting.lock().recv();
        let Ok((number, job)) = job else { return };
        let mut report = ScanReport::default();
        let mut kept = Vec::new();
        let mut judge = |line_number: u64, record: &ChatRecord| {
            let Some(scanned) =
                conversation::detect_conversation(&settings.detectors, line_number, record)
            else {
                return;
            };
            report.count(&scanned, settings.worst);
            if settings.keep {
                kept.push(scanned);
            }
        };
        match job {
            Job::Records(records) => records.iter().for_each(|(at, record)| judge(*at, record)),
            Job::Lines(lines) => {
                let mut unreadable = 0;
                for (at, line) in lines {
                    match parse_record(&line) {
                        Some(record) => judge(at, &record),
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

fn parse_record(line: &[u8]) -> Option<ChatRecord> {
    let text = String::from_utf8_lossy(line);
    let value: Value = serde_json::from_str(&text).ok()?;
    ingest::read_chat(value.as_object()?).ok()
}

/// Restores file order and merges results. After an error of `each` it keeps draining, so that no
/// worker blocks, and returns the error at the end.
fn collect_results(
    settings: &ScanSettings,
    results: Receiver<JobResult>,
    each: &mut impl FnMut(&[ScannedConversation]) -> std::io::Result<()>,
    failed: &AtomicBool,
) -> std::io::Result<ScanReport> {
    let mut early = std::collections::BTreeMap::new();
    let (mut next, mut total, mut trouble) = (0, ScanReport::default(), Ok(()));
    for (number, result) in results {
        early.insert(number, result);
        while let Some((report, kept)) = early.remove(&next) {
            total.add(report, settings.worst);
            if trouble.is_ok() {
                trouble = each(&kept);
                failed.store(trouble.is_err(), Ordering::Relaxed);
            }
            next += 1;
        }
    }
    trouble.map(|()| total)
}
