//! Reads queued messages one after the other and appends the verdicts that change.

use std::sync::Arc;

use model::{Claim, ClaimSpace, Entry, Need, Write};

use crate::error::EngineError;
use crate::retriable::log_retriable;
use crate::tasks::StopSignal;
use crate::turns::Turns;
use crate::turns::message_signals::MessageContext;
use crate::turns::reader::{Reading, UnreadMessage};
use crate::turns::redetect::is_stub;

/// Attempts when users of the project are erased at the same time.
const MAX_ATTEMPTS: usize = 3;

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
    async fn read_stored_message(&self, unread: &UnreadMessage) -> Result<(), EngineError> {
        for _ in 0..MAX_ATTEMPTS {
            let read_at = self.core.head();
            let stored = self.core.store.opening_at(&unread.scope, unread.opened).await?;
            let Some(opening) = stored.filter(|stored| !is_stub(&stored.event)) else {
                return Ok(());
            };
            let context = MessageContext {
                history: &self.history,
                position: Some(unread.opened),
                is_first: false,
                late_answer: None,
                tail: None,
                reading: Reading::Now,
            };
            let found = self.detect_message_verdict(&opening.event, context).await?;
            let Some(verdict) = found else { return Ok(()) };
            let mut entries =
                self.changed_verdict_entries(&opening.event, verdict).await?.into_iter();
            let Some(Entry { event, changes }) = entries.next() else { return Ok(()) };
            let claims =
                vec![Claim { space: ClaimSpace::Event, id: event.id.to_string(), mac: None }];
            // The words of a user who is erased meanwhile must not be stored again.
            let needs = vec![Need::NoErasureSince(read_at)];
            let write =
                Write { claims, needs, more: entries.collect(), ..Write::new(event, changes) };
            match self.core.commit_one(write).await {
                Err(EngineError::NotStored) => {}
                outcome => return outcome.map(drop),
            }
        }
        Ok(())
    }
}

async fn run_reader(turns: Arc<Turns>, mut stop: StopSignal) {
    loop {
        let message = tokio::select! {
            message = turns.reader.next_message() => message,
            _ = stop.wait_for(|stopped| *stopped) => return,
        };
        if let Err(error) = turns.read_stored_message(&message).await {
            log_retriable(error, "reading a message failed; its instant verdict stays");
        }
    }
}
