//! Choices on their way into the log. Nobody waits for them: a choice is not an acknowledged event,
//! and the turn that follows it carries all that is needed.

use std::sync::Arc;
use std::time::Duration;

use model::Write;

use crate::error::EngineError;
use crate::retriable::put_off;
use crate::routing::Routing;
use crate::tasks::Stop;

/// Choices that are stored in one commit.
const CHUNK: usize = 500;
/// How often they are stored.
const PAUSE: Duration = Duration::from_millis(50);
/// After so many pauses what routers have learnt is kept.
const PAUSES_TO_KEEP: u32 = 200;

impl Routing {
    /// Starts storing choices, and keeping what routers have learnt. Call it once, before serving.
    pub fn keep_routing(self: &Arc<Self>) {
        let engine = Arc::clone(self);
        self.core.tasks.start(|stop| run(engine, stop));
    }

    /// How many choices were made and are not in the log: too many were waiting, or they could not be stored.
    pub fn dropped_choices(&self) -> u64 {
        self.choices.dropped()
    }

    /// Stores the choices that wait.
    pub(crate) async fn store_choices(&self) {
        let _storing = self.choices.storing.lock().await;
        let mut waiting = self.choices.take().into_iter();
        loop {
            let chunk: Vec<Write> = waiting.by_ref().take(CHUNK).collect();
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
                put_off(error, "choices of routers were not stored; they are counted as dropped");
                self.choices.count_dropped(dropped as u64);
            }
        }
    }
}

async fn run(engine: Arc<Routing>, mut stop: Stop) {
    let mut pauses = 0;
    while !*stop.borrow() {
        tokio::select! {
            _ = stop.changed() => {}
            () = tokio::time::sleep(PAUSE) => {}
        }
        engine.store_choices().await;
        pauses += 1;
        if pauses % PAUSES_TO_KEEP == 0
            && let Err(error) = engine.states.keep(&*engine.core.store).await
        {
            put_off(error, "what routers have learnt was not kept; trying again later");
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Mac, Scope};

    use crate::test_engine::{TestEngine, engine_in};
    use crate::{IncomingEvent, RawEvent, Trust};

    #[tokio::test]
    async fn one_that_cannot_be_stored_is_counted_and_the_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, .. } = engine_in(folder.path()).await;
        // The second has the first one's id and says something else.
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
