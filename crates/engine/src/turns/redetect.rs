//! Runs the current detectors over the whole log and appends changed findings.
//!
//! The log keeps the old findings. In the projections, new findings replace them, and a rebuild
//! gives the same result.

use detect::is_uncertain;
use model::{
    Body, Claim, ClaimSpace, Entry, Event, Finding, Position, Redacted, Scope, TurnHalf, Write,
};

use store::StoredEvent;

use crate::changes::build_entry;
use crate::error::EngineError;
use crate::turns::Turns;
use crate::turns::llm_reader::LLM_DETECTOR;
use crate::turns::message_signals::{DetectedVerdict, MessageContext, MessageSignals, ReaderShare};
use crate::turns::reader::Reading;
use crate::turns::recent_questions::RecentQuestions;

/// Events per read.
const BATCH_EVENTS: usize = 500;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RedetectionSummary {
    /// Questions and answers that were processed.
    pub turns: u64,
    /// New or changed findings.
    pub findings: u64,
}

impl Turns {
    /// Processes every turn. `progress` gets the current and the last position.
    pub async fn redetect_log(
        &self,
        progress: impl Fn(u64, u64),
    ) -> Result<RedetectionSummary, EngineError> {
        let head = self.core.head();
        let rule = self.core.detectors.retry;
        let history = RecentQuestions::in_process(rule.window, rule.max_questions);
        let (mut done, mut total) = (Position(0), RedetectionSummary::default());
        while done < head {
            let events = self.core.store.tail(done, BATCH_EVENTS).await?;
            let Some(last) = events.last() else { break };
            done = last.position;
            for stored in events.into_iter().filter(|stored| stored.position <= head) {
                let Body::Turn(half) = &stored.event.body else { continue };
                if half.is_derived() {
                    // A quotation in feedback is no message.
                    continue;
                }
                total.turns += 1;
                total.findings += match half {
                    TurnHalf::Opened(_) => {
                        let found = self.redetect_message(&stored, &history).await?;
                        history.add_question(&stored.event).await;
                        found
                    }
                    TurnHalf::Completed(_) => self.redetect_answer(&stored.event).await?,
                };
            }
            progress(done.0.min(head.0), head.0);
        }
        Ok(total)
    }

    /// Appends the changed findings of a turn's message.
    async fn redetect_message(
        &self,
        stored: &StoredEvent,
        history: &RecentQuestions,
    ) -> Result<u64, EngineError> {
        let opening = &stored.event;
        let Some(turn) = &opening.turn else { return Ok(0) };
        if is_stub(opening) {
            return Ok(0);
        }
        let context = MessageContext {
            history,
            position: Some(stored.position),
            is_first: false,
            late_answer: None,
            tail: None,
            reading: Reading::Now,
        };
        let signals = self.detect_message_signals(opening, context).await?;
        let mut findings = 0;
        let MessageSignals { verdict, retry } = signals;
        // A reading that failed leaves the stored verdict as it is.
        if let Some(verdict) = verdict.filter(|found| found.reader != ReaderShare::Pending) {
            let entries = self.changed_verdict_entries(opening, verdict).await?;
            findings += self.append_findings(entries).await?;
        }
        if retry.is_some() {
            let now = self.received_now(opening);
            let entries = self.signal_entries(&now, MessageSignals { verdict: None, retry });
            let original = entries.first().and_then(|entry| entry.event.turn.clone());
            let known = match original {
                None => None,
                Some(original) => self.core.load_turn(&opening.scope, original).await?,
            };
            // One retry finding per message, of any detector version.
            let same = |stored: &StoredEvent| {
                matches!(&stored.event.body, Body::Finding(Finding::Retry(found))
                    if found.detected_in.as_ref() == Some(turn))
            };
            if !known.is_some_and(|known| known.events.iter().any(same)) {
                findings += self.append_findings(entries).await?;
            }
        }
        Ok(findings)
    }

    /// The entries of a stored message's verdict. Empty when the message has the same verdict.
    pub(super) async fn changed_verdict_entries(
        &self,
        opening: &Redacted<Event>,
        mut verdict: DetectedVerdict,
    ) -> Result<Vec<Entry>, EngineError> {
        let Some(turn) = &opening.turn else { return Ok(Vec::new()) };
        self.reconcile_with_stored_retry(&opening.scope, turn, &mut verdict).await?;
        let known = self.core.store.message_verdict(&opening.scope, turn).await?;
        let known = known.map(|stored| stored.event.into_inner());
        let mut entries = self.verdict_entries(&self.received_now(opening), turn, verdict);
        if let (Some(entry), Some(known)) = (entries.first_mut(), &known) {
            *entry = set_replaced_turn(entry, known);
        }
        let Some(entry) = entries.first() else { return Ok(entries) };
        let keeps = is_same_verdict(&entry.event, known.as_ref())
            || keeps_opinion(&entry.event, known.as_ref());
        Ok(if keeps { Vec::new() } else { entries })
    }

    /// The event with the current time of arrival, which its findings get.
    fn received_now(&self, event: &Redacted<Event>) -> Redacted<Event> {
        let now = self.core.clock.now();
        event.derive(|event| Event { received_at: now, ..event.clone() })
    }

    /// Appends the changed findings of an answer.
    async fn redetect_answer(&self, completed: &Redacted<Event>) -> Result<u64, EngineError> {
        let Some(turn) = &completed.turn else { return Ok(0) };
        let question = self.load_question(&completed.scope, turn).await?;
        if question.is_empty() {
            // The turn was erased or dropped.
            return Ok(0);
        }
        let Some(done) = completed.body.completion() else { return Ok(0) };
        let finding = self.inspect_answer(&question, done);
        let entry =
            self.core.finding_entry(&self.received_now(completed), Some(turn.clone()), finding);
        let known = self.core.load_turn(&completed.scope, turn.clone()).await?;
        let last = known.and_then(|turn| {
            let mut newest = turn.events.into_iter().rev();
            newest.find(|stored| matches!(stored.event.body, Body::Finding(Finding::Answer(_))))
        });
        if last.is_some_and(|stored| stored.event.body == entry.event.body) {
            return Ok(0);
        }
        self.append_findings(vec![entry]).await
    }

    async fn load_question(
        &self,
        scope: &Scope,
        turn: &model::TurnId,
    ) -> Result<String, EngineError> {
        let found = self.core.store.exchanges_by_id(scope, vec![turn.clone()]).await?.pop();
        Ok(found.map(|exchange| exchange.opening.text).unwrap_or_default())
    }

    async fn append_findings(&self, entries: Vec<Entry>) -> Result<u64, EngineError> {
        let mut entries = entries.into_iter();
        let Some(Entry { event, changes }) = entries.next() else { return Ok(0) };
        let id = event.id.to_string();
        let claims = vec![Claim { space: ClaimSpace::Event, id, mac: None }];
        let write = Write { claims, more: entries.collect(), ..Write::new(event, changes) };
        self.core.commit_one(write).await?;
        Ok(1)
    }
}

/// Names the verdict's previous target, so that learners can correct it.
fn set_replaced_turn(found: &Entry, known: &Event) -> Entry {
    let before = known.turn.clone().filter(|before| found.event.turn.as_ref() != Some(before));
    build_entry(found.event.derive(|event| {
        let mut event = event.clone();
        if let Body::Finding(Finding::Verdict(verdict)) = &mut event.body {
            verdict.instead_of = before;
        }
        event
    }))
}

/// True for the stub of an erased message.
pub(super) fn is_stub(opening: &Event) -> bool {
    opening.body.opening().is_none_or(|opening| opening.text.is_empty())
}

/// True when the known verdict on the same turn is a chat model's and the new one is uncertain: the
/// model would be asked again.
fn keeps_opinion(found: &Event, known: Option<&Event>) -> bool {
    let Some(known) = known else { return false };
    let (Body::Finding(Finding::Verdict(new)), Body::Finding(Finding::Verdict(old))) =
        (&found.body, &known.body)
    else {
        return false;
    };
    found.turn == known.turn
        && old.detector.starts_with(LLM_DETECTOR)
        && !new.detector.starts_with(LLM_DETECTOR)
        && is_uncertain(&new.verdict)
}

/// True when the known verdict has the same target, detector and content.
fn is_same_verdict(found: &Event, known: Option<&Event>) -> bool {
    let Some(known) = known else { return false };
    let (Body::Finding(Finding::Verdict(new)), Body::Finding(Finding::Verdict(old))) =
        (&found.body, &known.body)
    else {
        return false;
    };
    found.turn == known.turn && new.detector == old.detector && new.verdict == old.verdict
}
