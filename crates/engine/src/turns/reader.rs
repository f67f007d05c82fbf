//! Judges messages with the reader where the instant models are unsure.
//!
//! ```text
//! request that waits for the verdict --read, within the budget--> finding, in the same write
//! any other request --> queue --background, one at a time--> changed finding, a write of its own
//! ```
//!
//! What the queue drops, when it is full or at a stop, keeps the instant verdict until `uptake
//! redetect`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use detect::{Answer, Exchange, Utterance};
use model::{Opening, Verdict};
use store::Stopwatch;
use tokio::sync::Semaphore;

use crate::detectors::Detectors;
use crate::turns::low_priority_thread::LowPriorityThread;
use crate::turns::reading_queue::ReadingQueue;

/// When the reader judges a message that the instant models are unsure about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Later, in the background.
    Later,
    /// Now, if it takes no longer than the budget of a request.
    WithinBudget,
    /// Now, however long it takes.
    Now,
    /// Now, and by the chat model if the reader is uncertain too.
    NowWithLlm,
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
    pub(crate) queue: ReadingQueue,
    background: LowPriorityThread,
    /// One reading of a request at a time for each core.
    requests: Arc<Semaphore>,
    read: Arc<AtomicU64>,
    late: AtomicU64,
    busy_micros: Arc<AtomicU64>,
}

impl MessageReader {
    pub(crate) fn new(detectors: Detectors) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            detectors,
            queue: ReadingQueue::default(),
            background: LowPriorityThread::default(),
            requests: Arc::new(Semaphore::new(cores)),
            read: Arc::default(),
            late: AtomicU64::new(0),
            busy_micros: Arc::default(),
        }
    }

    pub(crate) fn counts(&self) -> ReaderCounts {
        ReaderCounts {
            read: self.read.load(Ordering::Relaxed),
            late: self.late.load(Ordering::Relaxed),
            dropped: self.queue.dropped(),
            queued: self.queue.queued(),
            busy: Duration::from_micros(self.busy_micros.load(Ordering::Relaxed)),
        }
    }

    /// The verdict with the reader; `None` when it is to be read later.
    pub(crate) async fn read(&self, when: Reading, texts: Arc<ReaderTexts>) -> Option<Verdict> {
        match when {
            Reading::Later => None,
            Reading::Now | Reading::NowWithLlm => {
                self.background.run(self.reading(texts, ())).await
            }
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
    async fn read_within(&self, budget: Duration, texts: Arc<ReaderTexts>) -> Option<Verdict> {
        if budget.is_zero() {
            return None;
        }
        let permit = Arc::clone(&self.requests).try_acquire_owned().ok()?;
        let reading = tokio::task::spawn_blocking(self.reading(texts, permit));
        let read = tokio::time::timeout(budget, reading).await.ok()?;
        read.inspect_err(|error| tracing::error!(%error, "a reading failed")).ok()
    }

    /// The work of a reading, which takes milliseconds. `permit` is held until the end, also after
    /// the request has left.
    fn reading(
        &self,
        texts: Arc<ReaderTexts>,
        permit: impl Send + 'static,
    ) -> impl FnOnce() -> Verdict + Send + 'static {
        let (detectors, read) = (self.detectors, Arc::clone(&self.read));
        let busy = Arc::clone(&self.busy_micros);
        move || {
            let watch = Stopwatch::start();
            let verdict = texts.read(&detectors);
            read.fetch_add(1, Ordering::Relaxed);
            let micros = u64::try_from(watch.elapsed().as_micros()).unwrap_or(u64::MAX);
            busy.fetch_add(micros, Ordering::Relaxed);
            drop(permit);
            verdict
        }
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
