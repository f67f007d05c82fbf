//! Writes queued choices to the log in the background. A choice need not be durable: the
//! `decision_id` of the following turn carries all that learning needs.

use std::sync::Arc;
use std::time::Duration;

use model::Write;

use crate::error::EngineError;
use crate::retriable::log_retriable;
use crate::routing::Routing;
use crate::tasks::StopSignal;

/// Choices per commit.
const COMMIT_CHOICES: usize = 500;
/// Period of commits.
const STORE_INTERVAL: Duration = Duration::from_millis(50);
/// Store intervals between two checkpoints.
const INTERVALS_PER_CHECKPOINT: u32 = 200;

impl Routing {
    /// Spawns the task that stores choices and saves checkpoints. Call it once, before serving.
    pub fn spawn_choice_writer(self: &Arc<Self>) {
        let routing = Arc::clone(self);
        self.core.tasks.spawn_task(|stop| run_choice_writer(routing, stop));
    }

    /// Choices that are not in the log because the queue was full or the commit failed.
    pub fn dropped_choices(&self) -> u64 {
        self.choices.dropped_count()
    }

    /// Commits all queued choices.
    pub(crate) async fn store_choices(&self) {
        let _storing = self.choices.store_lock.lock().await;
        let mut waiting = self.choices.take_all().into_iter();
        loop {
            let chunk: Vec<Write> = waiting.by_ref().take(COMMIT_CHOICES).collect();
            if chunk.is_empty() {
                return;
            }
            let size = chunk.len();
            let (dropped, why) = match self.core.commit(chunk).await {
                Ok(receipts) => {
                    let mut failed: Vec<EngineError> =
                        receipts.into_iter().filter_map(Result::err).collect();
                    (failed.len(), failed.pop())
                }
                Err(error) => (size, Some(error)),
            };
            if let Some(error) = why {
                log_retriable(
                    error,
                    "router choices could not be stored; counting them as dropped",
                );
                self.choices.count_dropped(dropped as u64);
            }
        }
    }
}

async fn run_choice_writer(routing: Arc<Routing>, mut stop: StopSignal) {
    let mut pauses = 0;
    while !*stop.borrow() {
        tokio::select! {
            _ = stop.changed() => {}
            () = tokio::time::sleep(STORE_INTERVAL) => {}
        }
        routing.store_choices().await;
        pauses += 1;
        if pauses % INTERVALS_PER_CHECKPOINT == 0
            && let Err(error) = routing.states.save_checkpoints(&routing.core.store).await
        {
            log_retriable(error, "router checkpoint could not be saved; retrying");
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Mac, Scope};

    use crate::test_engine::{TestEngine, open_test_engine};
    use crate::{IncomingEvent, RawEvent, Trust};

    #[tokio::test]
    async fn choice_that_cannot_be_stored_is_counted_as_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, .. } = open_test_engine(folder.path()).await;
        // The second event reuses the first one's id with another body.
        for (id, mac) in [("one", 1), ("one", 2), ("two", 3)] {
            let raw = RawEvent {
                id: Some(id.into()),
                event_type: "metric".into(),
                source: "system_metric".into(),
                category: "cost".into(),
                ..RawEvent::default()
            };
            let incoming =
                IncomingEvent { raw, mac: Mac([mac; 16]), key: None, trust: Trust::Backend };
            engine
                .routing
                .choices
                .push(engine.feedback.prepare(&Scope::default(), incoming).unwrap());
        }
        engine.routing.store_choices().await;
        assert_eq!((engine.routing.dropped_choices(), engine.core.head().0), (1, 2));
    }
}
