//! Choices on their way into the log. Nobody waits for them: a choice is not an acknowledged event,
//! and the turn that follows it carries all that is needed.

use std::sync::Arc;
use std::time::Duration;

use event::Write;

use crate::engine::Engine;
use crate::put_off::put_off;
use crate::tasks::Stop;

/// Choices that are stored in one commit.
const CHUNK: usize = 500;
/// How often they are stored.
const PAUSE: Duration = Duration::from_millis(50);
/// After so many pauses what routers have learnt is kept.
const PAUSES_TO_KEEP: u32 = 200;

impl Engine {
    /// Starts storing choices, and keeping what routers have learnt. Call it once, before serving.
    pub fn keep_routing(self: &Arc<Self>) {
        let engine = Arc::clone(self);
        self.tasks.start(|stop| run(engine, stop));
    }

    /// How many choices were made and are not in the log because too many were waiting.
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
            let size = chunk.len() as u64;
            if let Err(error) = self.commit_writes(chunk).await {
                put_off(error, "choices of routers were not stored; they are counted as dropped");
                self.choices.count_dropped(size);
            }
        }
    }
}

async fn run(engine: Arc<Engine>, mut stop: Stop) {
    let mut pauses = 0;
    while !*stop.borrow() {
        tokio::select! {
            _ = stop.changed() => {}
            () = tokio::time::sleep(PAUSE) => {}
        }
        engine.store_choices().await;
        pauses += 1;
        if pauses % PAUSES_TO_KEEP == 0
            && let Err(error) = engine.routing.keep(&*engine.store).await
        {
            put_off(error, "what routers have learnt was not kept; trying again later");
        }
    }
}
