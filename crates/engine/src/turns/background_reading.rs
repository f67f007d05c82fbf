//! Reads queued messages one after the other and appends the verdicts that change.

use std::sync::Arc;
use std::time::Duration;

use detect::is_uncertain;
use model::{
    Body, Claim, ClaimSpace, Entry, Event, Finding, Need, Scope, TurnId, VerdictStatus, Write,
};

use crate::error::EngineError;
use crate::retriable::log_retriable;
use crate::tasks::StopSignal;
use crate::turns::Turns;
use crate::turns::message_signals::{MessageContext, ReaderShare};
use crate::turns::reader::Reading;
use crate::turns::reading_queue::{ReadingQueue, UnreadMessage};
use crate::turns::redetect::is_stub;

/// Attempts when an erasure or another verdict of the message is stored at the same time.
const MAX_ATTEMPTS: usize = 3;
/// The pause while the store is unavailable, and between attempts.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The end of an attempt.
enum Attempt {
    Done,
    /// The store has changed since the texts were read.
    Outdated,
    /// The chat model gave no opinion.
    Unanswered,
}

/// Judges the messages of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judge {
    Reader,
    Llm,
}

impl Turns {
    /// Starts the background reading of queued messages. Without a reader nothing is started.
    pub fn spawn_reader(self: &Arc<Self>) {
        if !self.core.detectors.has_reader() {
            return;
        }
        self.reader.queue.set_serving();
        let turns = Arc::clone(self);
        self.core.tasks.spawn_task(|stop| run_judge(turns, Judge::Reader, stop));
    }

    /// Starts asking the chat model about queued messages. Without one nothing is started.
    pub fn spawn_llm_reader(self: &Arc<Self>) {
        let Some(llm) = &self.llm else { return };
        llm.queue.set_serving();
        let turns = Arc::clone(self);
        self.core.tasks.spawn_task(|stop| run_judge(turns, Judge::Llm, stop));
    }

    fn reading_queue(&self, judge: Judge) -> &ReadingQueue {
        match (judge, &self.llm) {
            (Judge::Llm, Some(llm)) => &llm.queue,
            (Judge::Llm, None) | (Judge::Reader, _) => &self.reader.queue,
        }
    }

    /// The next message that may be judged now.
    async fn next_message(&self, judge: Judge) -> UnreadMessage {
        let message = self.reading_queue(judge).next_message().await;
        if let (Judge::Llm, Some(llm)) = (judge, &self.llm) {
            llm.wait_for_call().await;
        }
        message
    }

    /// Judges a stored message again and appends a changed verdict.
    async fn read_stored_message(
        &self,
        judge: Judge,
        unread: &UnreadMessage,
    ) -> Result<Attempt, EngineError> {
        let UnreadMessage { scope, message } = unread;
        let store = &self.core.store;
        let read_at = self.core.head();
        let known = store.message_verdict(scope, message).await?.map(|stored| stored.position);
        let exchange = store.exchanges_by_id(scope, vec![message.clone()]).await?.pop();
        let Some(exchange) = exchange else { return Ok(Attempt::Done) };
        let opening = store.opening_at(scope, exchange.opened).await?;
        let Some(opening) = opening.filter(|stored| !is_stub(&stored.event)) else {
            return Ok(Attempt::Done);
        };
        let context = MessageContext {
            history: &self.history,
            position: Some(exchange.opened),
            is_first: false,
            late_answer: None,
            tail: None,
            reading: match judge {
                Judge::Reader => Reading::Now,
                Judge::Llm => Reading::NowWithLlm,
            },
        };
        let found = self.detect_message_verdict(&opening.event, context).await?;
        let Some(verdict) = found else { return Ok(Attempt::Done) };
        match (judge, verdict.reader) {
            (Judge::Reader, ReaderShare::Judged) | (Judge::Llm, ReaderShare::JudgedByLlm) => {}
            (Judge::Llm, _) if is_uncertain(&verdict.verdict) => return Ok(Attempt::Unanswered),
            (Judge::Reader | Judge::Llm, _) => return Ok(Attempt::Done),
        }
        if let Some(place) = &verdict.target
            && self.has_newer_verdict(scope, place.turn.clone(), &opening.event).await?
        {
            return Ok(Attempt::Done);
        }
        let entries = self.changed_verdict_entries(&opening.event, verdict).await?;
        // The words of a user who is erased meanwhile must not be stored again, and a verdict on a
        // late answer must not be replaced by one on an older answer.
        let needs = vec![Need::NoErasureSince(read_at), Need::VerdictAt(message.clone(), known)];
        self.append_reading(entries, needs).await
    }

    async fn append_reading(
        &self,
        entries: Vec<Entry>,
        needs: Vec<Need>,
    ) -> Result<Attempt, EngineError> {
        let mut entries = entries.into_iter();
        let Some(Entry { event, changes }) = entries.next() else { return Ok(Attempt::Done) };
        let id = event.id.to_string();
        let claims = vec![Claim { space: ClaimSpace::Event, id, mac: None }];
        let write = Write { claims, needs, more: entries.collect(), ..Write::new(event, changes) };
        match self.core.commit_one(write).await {
            Ok(_) => Ok(Attempt::Done),
            Err(EngineError::NotStored) => Ok(Attempt::Outdated),
            Err(error) => Err(error),
        }
    }

    /// True when a later message has judged the same turn: the latest message counts, and a finding
    /// that is appended now would count as the latest.
    async fn has_newer_verdict(
        &self,
        scope: &Scope,
        target: TurnId,
        message: &Event,
    ) -> Result<bool, EngineError> {
        let Some(turn) = self.core.load_turn(scope, target).await? else { return Ok(false) };
        Ok(turn.events.iter().any(|stored| {
            let Body::Finding(Finding::Verdict(found)) = &stored.event.body else { return false };
            Some(&found.detected_in) != message.turn.as_ref()
                && found.verdict.status != VerdictStatus::Neutral
                && stored.event.ts > message.ts
        }))
    }
}

async fn run_judge(turns: Arc<Turns>, judge: Judge, mut stop: StopSignal) {
    let queue = turns.reading_queue(judge);
    let mut attempts = 0;
    loop {
        let message = tokio::select! {
            message = turns.next_message(judge) => message,
            _ = stop.wait_for(|stopped| *stopped) => return,
        };
        let outcome = tokio::select! {
            outcome = turns.read_stored_message(judge, &message) => outcome,
            _ = stop.wait_for(|stopped| *stopped) => return,
        };
        let failed = matches!(outcome, Ok(Attempt::Outdated | Attempt::Unanswered));
        attempts = if failed { attempts + 1 } else { 0 };
        match outcome {
            Ok(Attempt::Done) => continue,
            Ok(Attempt::Outdated | Attempt::Unanswered) if attempts < MAX_ATTEMPTS => {
                queue.return_message(message);
            }
            Ok(Attempt::Outdated | Attempt::Unanswered) => {
                attempts = 0;
                queue.count_dropped();
                continue;
            }
            Err(error) if error.is_unavailable() => queue.return_message(message),
            Err(error) => {
                queue.count_dropped();
                log_retriable(error, "judging a message failed; its earlier verdict stays");
                continue;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(RETRY_PAUSE) => {}
            _ = stop.wait_for(|stopped| *stopped) => return,
        }
    }
}
