//! What happens by itself: sessions end after a silence, confidences are calibrated.
//!
//! One sweep at a time owns the folder, and a session's end is claimed by its last turn: two sweeps
//! that find the same silence end it once.

use std::sync::Arc;
use std::time::Duration;

use event::Timestamp;

use crate::engine::Engine;
use crate::error::FlowError;
use crate::tasks::Stop;

/// Sessions that are ended in one commit.
const CHUNK: usize = 200;

impl Engine {
    /// Starts sweeping, now and then again. Call it once, before serving.
    pub fn keep_sweeping(self: &Arc<Self>, every: Duration) {
        let engine = Arc::clone(self);
        self.tasks.start(|stop| sweep_on(engine, every, stop));
    }

    /// Ends the sessions that went silent and calibrates where people said something. Answers how
    /// many sessions ended.
    pub async fn sweep(&self) -> Result<usize, FlowError> {
        let ended = self.end_silent_sessions().await?;
        self.recalibrate().await?;
        Ok(ended)
    }

    async fn end_silent_sessions(&self) -> Result<usize, FlowError> {
        let now = self.clock.now().as_micros();
        let since = Timestamp::from_micros(now.saturating_sub(self.silence_micros()));
        let mut ended = 0;
        loop {
            let silent = self.store.silent_sessions(since, CHUNK).await?;
            let found = silent.len();
            let mut writes = Vec::with_capacity(found);
            for session in silent {
                writes.push(self.end_of(session).await?);
            }
            ended += self.commit_writes(writes).await?;
            if found < CHUNK {
                return Ok(ended);
            }
        }
    }
}

async fn sweep_on(engine: Arc<Engine>, every: Duration, mut stop: Stop) {
    while !*stop.borrow() {
        match engine.sweep().await {
            Ok(0) => {}
            Ok(ended) => tracing::info!(ended, "sessions ended after a silence"),
            Err(error) => tracing::warn!(%error, "the sweep failed; it comes again"),
        }
        tokio::select! {
            _ = stop.changed() => {}
            () = tokio::time::sleep(every) => {}
        }
    }
}
