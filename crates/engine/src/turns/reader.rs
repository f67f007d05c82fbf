//! Judges messages with the reader where the instant models are unsure.
//!
//! ```text
//! request that waits for the verdict --read, within the budget--> finding, in the same write
//! any other request --> queue --background, one at a time--> changed finding, a write of its own
//! ```
//!
//! The queue is in memory and bounded. What it drops, at a full queue or a stop, keeps the instant
//! verdict until `uptake redetect`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use detect::{Answer, Exchange, Utterance};
use model::{Opening, Scope, TurnId, Verdict};
use parking_lot::Mutex;
use store::Stopwatch;
use tokio::sync::{Notify, Semaphore};

use crate::detectors::Detectors;

/// Messages that wait for the background; the oldest are dropped.
const MAX_QUEUED: usize = 10_000;

/// When the reader judges a message that the instant models are unsure about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Later, in the background.
    Later,
    /// Now, if it takes no longer than the budget of a request.
    WithinBudget,
    /// Now, however long it takes.
    Now,
}

/// A stored message that the reader has not judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnreadMessage {
    pub(crate) scope: Scope,
    pub(crate) message: TurnId,
}

/// A message with the exchange before it.
pub(crate) struct ReaderTexts {
    pub(crate) message: Opening,
    pub(crate) question: Opening,
    pub(crate) answer: String,
    pub(crate) gap: Option<Duration>,
}

/// Counts for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReaderCounts {
    /// Messages that were read.
    pub read: u64,
    /// Messages whose request did not wait for the end of the reading.
    pub late: u64,
    /// Messages that were dropped from the full queue.
    pub dropped: u64,
    pub queued: u64,
    pub busy: Duration,
}

pub(crate) struct MessageReader {
    detectors: Detectors,
    queue: Mutex<VecDeque<UnreadMessage>>,
    added: Notify,
    /// Set while a background task empties the queue.
    is_serving: AtomicBool,
    /// One reading of a request at a time for each core.
    requests: Arc<Semaphore>,
    read: Arc<AtomicU64>,
    late: AtomicU64,
    dropped: AtomicU64,
    busy_micros: Arc<AtomicU64>,
}

impl MessageReader {
    pub(crate) fn new(detectors: Detectors) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            detectors,
            queue: Mutex::default(),
            added: Notify::new(),
            is_serving: AtomicBool::new(false),
            requests: Arc::new(Semaphore::new(cores)),
            read: Arc::default(),
            late: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            busy_micros: Arc::default(),
        }
    }

    /// Lets messages be queued.
    pub(crate) fn set_serving(&self) {
        self.is_serving.store(true, Ordering::Release);
    }

    /// The next message to read; waits for one.
    pub(crate) async fn next_message(&self) -> UnreadMessage {
        loop {
            let next = self.queue.lock().pop_front();
            match next {
                Some(message) => return message,
                None => self.added.notified().await,
            }
        }
    }

    /// Queues a message again that could not be read.
    pub(crate) fn return_message(&self, message: UnreadMessage) {
        self.queue.lock().push_front(message);
    }

    pub(crate) fn count_dropped(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Queues a message for the background, if a background task runs.
    pub(crate) fn add_message(&self, message: UnreadMessage) {
        if !self.is_serving.load(Ordering::Acquire) {
            return;
        }
        let mut queue = self.queue.lock();
        if queue.len() >= MAX_QUEUED {
            queue.pop_front();
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        queue.push_back(message);
        self.added.notify_one();
    }

    pub(crate) fn counts(&self) -> ReaderCounts {
        ReaderCounts {
            read: self.read.load(Ordering::Relaxed),
            late: self.late.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            queued: self.queue.lock().len() as u64,
            busy: Duration::from_micros(self.busy_micros.load(Ordering::Relaxed)),
        }
    }

    /// The verdict with the reader; `None` when it is to be read later.
    pub(crate) async fn read(&self, when: Reading, texts: ReaderTexts) -> Option<Verdict> {
        match when {
            Reading::Later => None,
            Reading::Now => self.spawn_reading(texts, ()).await,
            Reading::WithinBudget => {
                let found = self.read_within(self.detectors.reader_budget(), texts).await;
                if found.is_none() {
                    self.late.fetch_add(1, Ordering::Relaxed);
                }
                found
            }
        }
    }

    /// Does not begin what cannot end in time: without a budget, or while every core reads.
    async fn read_within(&self, budget: Duration, texts: ReaderTexts) -> Option<Verdict> {
        if budget.is_zero() {
            return None;
        }
        let permit = Arc::clone(&self.requests).try_acquire_owned().ok()?;
        tokio::time::timeout(budget, self.spawn_reading(texts, permit)).await.ok().flatten()
    }

    /// Reads on a blocking thread. `permit` is held until the end, also after the request has left.
    async fn spawn_reading(
        &self,
        texts: ReaderTexts,
        permit: impl Send + 'static,
    ) -> Option<Verdict> {
        let (detectors, read) = (self.detectors, Arc::clone(&self.read));
        let busy = Arc::clone(&self.busy_micros);
        let reading = tokio::task::spawn_blocking(move || {
            let watch = Stopwatch::start();
            let verdict = texts.read(&detectors);
            read.fetch_add(1, Ordering::Relaxed);
            let micros = u64::try_from(watch.elapsed().as_micros()).unwrap_or(u64::MAX);
            busy.fetch_add(micros, Ordering::Relaxed);
            drop(permit);
            verdict
        });
        reading.await.inspect_err(|error| tracing::error!(%error, "a reading failed")).ok()
    }
}

impl ReaderTexts {
    fn read(&self, detectors: &Detectors) -> Verdict {
        let message = Utterance::read(&self.message.text);
        let question = Utterance::read(&self.question.text);
        let answer = Answer::read(Some(&question), &self.answer);
        let exchange = Exchange {
            message: &message,
            question: Some(&question),
            answer: Some(&answer),
            intent: self.message.intent.as_deref(),
            previous_intent: self.question.intent.as_deref(),
            gap: self.gap,
        };
        detectors.read_verdict(&exchange, &self.answer)
    }
}
