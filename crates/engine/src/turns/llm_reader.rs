//! Asks a chat model about messages that the reader is uncertain about. Off unless configured.
//!
//! ```text
//! request that waits for the verdict --ask, within the budget--> finding, in the same write
//! any other message --> queue --background, one at a time, within a rate--> changed finding
//! ```
//!
//! The model's answer is checked: a status that is no status, or a quotation that is not in the
//! message, counts as a failed call. After failures in a row the calls pause.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use detect::{Opinion, apply_opinion};
use model::{Clock, Verdict};
use outbound::ChatClient;

use crate::turns::call_gate::CallGate;
use crate::turns::llm_opinion::{OPINION_RULES, parse_opinion, prompt_data};
use crate::turns::reader::ReaderTexts;
use crate::turns::reading_queue::ReadingQueue;

/// The chat model and its limits.
#[derive(Clone, Debug)]
pub struct LlmReaderOptions {
    pub client: ChatClient,
    /// The longest wait of a request that needs the verdict.
    pub budget: Duration,
    pub calls_per_minute: u32,
}

/// Counts for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LlmReaderCounts {
    /// Calls that gave an opinion.
    pub answered: u64,
    /// Calls that failed or gave no valid opinion.
    pub failed: u64,
    /// Messages whose request did not wait for the end of the call.
    pub late: u64,
    pub dropped: u64,
    pub queued: u64,
    /// True while calls are paused after failures.
    pub is_paused: bool,
}

pub(crate) struct LlmReader {
    client: Arc<ChatClient>,
    budget: Duration,
    gate: Arc<CallGate>,
    clock: Arc<dyn Clock>,
    pub(crate) queue: ReadingQueue,
    answered: Arc<AtomicU64>,
    failed: Arc<AtomicU64>,
    late: AtomicU64,
}

impl LlmReader {
    pub(crate) fn new(options: LlmReaderOptions, clock: Arc<dyn Clock>) -> Self {
        let gate = CallGate::new(options.calls_per_minute, clock.now());
        Self {
            client: Arc::new(options.client),
            budget: options.budget,
            gate: Arc::new(gate),
            clock,
            queue: ReadingQueue::default(),
            answered: Arc::default(),
            failed: Arc::default(),
            late: AtomicU64::new(0),
        }
    }

    pub(crate) fn counts(&self) -> LlmReaderCounts {
        LlmReaderCounts {
            answered: self.answered.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            late: self.late.load(Ordering::Relaxed),
            dropped: self.queue.dropped(),
            queued: self.queue.queued(),
            is_paused: self.gate.is_closed(self.clock.now()),
        }
    }

    /// The name and version that its findings carry.
    pub(crate) fn version(&self) -> String {
        format!("{LLM_DETECTOR}{}-{}", detect::version(), self.client.model())
    }

    /// Waits until a call may start.
    pub(crate) async fn wait_for_call(&self) {
        while let Err(micros) = self.gate.try_enter(self.clock.now()) {
            let micros = u64::try_from(micros).unwrap_or(0).clamp(1_000, MAX_WAIT_MICROS);
            tokio::time::sleep(Duration::from_micros(micros)).await;
        }
    }

    /// The verdict of a request that waits; `None` without a call or when it takes too long.
    pub(crate) async fn ask_within_budget(
        &self,
        verdict: &Verdict,
        texts: &ReaderTexts,
    ) -> Option<Verdict> {
        if self.budget.is_zero() || self.gate.try_enter(self.clock.now()).is_err() {
            return None;
        }
        let asked = tokio::time::timeout(self.budget, self.ask(verdict, texts)).await;
        asked.unwrap_or_else(|_| {
            self.late.fetch_add(1, Ordering::Relaxed);
            None
        })
    }

    /// The verdict with the model's opinion; `None` when the call failed. The call must have been
    /// admitted. It runs to its own timeout, also after its request has left.
    pub(crate) async fn ask(&self, verdict: &Verdict, texts: &ReaderTexts) -> Option<Verdict> {
        let (client, gate) = (Arc::clone(&self.client), Arc::clone(&self.gate));
        let (clock, message) = (Arc::clone(&self.clock), texts.message.text.clone());
        let (answered, failed) = (Arc::clone(&self.answered), Arc::clone(&self.failed));
        let data = prompt_data(&message, &texts.question.text, &texts.answer).to_string();
        let call = tokio::task::spawn_blocking(move || {
            let opinion = ask_for_opinion(&client, &data, &message);
            gate.record_outcome(opinion.is_some(), clock.now());
            let count = if opinion.is_some() { answered } else { failed };
            count.fetch_add(1, Ordering::Relaxed);
            opinion
        });
        let opinion = call.await.inspect_err(|error| tracing::error!(%error, "a call failed"));
        Some(apply_opinion(verdict.clone(), &texts.message.text, &opinion.ok().flatten()?))
    }
}

/// Begins the detector name of a finding by a chat model.
pub(crate) const LLM_DETECTOR: &str = "verdict.llm/";

/// Looks again at least that often, so that a changed clock cannot stop the queue.
const MAX_WAIT_MICROS: u64 = 5_000_000;

fn ask_for_opinion(client: &ChatClient, data: &str, message: &str) -> Option<Opinion> {
    let text = client.complete_chat(OPINION_RULES, data);
    let text = text
        .inspect_err(|error| {
            tracing::warn!(%error, "asking the chat model about a message failed; its verdict stays");
        })
        .ok()?;
    let opinion = parse_opinion(&text, message);
    if opinion.is_none() {
        tracing::warn!("the chat model gave no valid opinion on a message; its verdict stays");
    }
    opinion
}
