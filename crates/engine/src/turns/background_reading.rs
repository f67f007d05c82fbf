//! Reads queued messages one after the other and appends the verdicts that change.

use std::sync::Arc;
use std::time::Duration;

use model::{
    Body, Claim, ClaimSpace, Entry, Event, Finding, Need, Scope, TurnId, VerdictStatus, Write,
};

use crate::error::EngineError;
use crate::retriable::log_retriable;
use crate::tasks::StopSignal;
use crate::turns::Turns;
use crate::turns::message_signals::{MessageContext, ReaderShare};
use crate::turns::reader::{Reading, UnreadMessage};
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
}

impl Turns {
    /// Starts the background reading of queued messages. Without a reader nothing is started.
    pub fn spawn_reader(self: &Arc<Self>) {
        if !self.core.detectors.has_reader() {
            return;
        }
        self.reader.set_serving();
        let turns = Arc::clone(self);
        self.core.tasks.spawn_task(|stop| run_reader(turns, stop));
    }

    /// Judges a stored message with the reader and appends a changed verdict.
    async fn read_stored_message(&self, unread: &UnreadMessage) -> Result<Attempt, EngineError> {
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
            reading: Reading::Now,
        };
        let found = self.detect_message_verdict(&opening.event, context).await?;
        let Some(verdict) = found.filter(|found| found.reader == ReaderShare::Judged) else {
            return Ok(Attempt::Done);
        };
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

async fn run_reader(turns: Arc<Turns>, mut stop: StopSignal) {
    let mut attempts = 0;
    loop {
        let message = tokio::select! {
            message = turns.reader.next_message() => message,
            _ = stop.wait_for(|stopped| *stopped) => return,
        };
        let outcome = turns.read_stored_message(&message).await;
        let is_outdated = matches!(outcome, Ok(Attempt::Outdated));
        attempts = if is_outdated { attempts + 1 } else { 0 };
        match outcome {
            Ok(Attempt::Done) => continue,
            Ok(Attempt::Outdated) if attempts < MAX_ATTEMPTS => {
                turns.reader.return_message(message);
            }
            Ok(Attempt::Outdated) => {
                attempts = 0;
                turns.reader.count_dropped();
                continue;
            }
            Err(error) if error.is_unavailable() => turns.reader.return_message(message),
            Err(error) => {
                turns.reader.count_dropped();
                log_retriable(error, "reading a message failed; its instant verdict stays");
                continue;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(RETRY_PAUSE) => {}
            _ = stop.wait_for(|stopped| *stopped) => return,
        }
    }
}
