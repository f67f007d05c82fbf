//! What happens by itself: sessions end after a silence, confidences are calibrated.
//!
//! One node at a time sweeps, and whether a session still is as it was found is judged when
//! its end is stored: two sweeps that find the same silence end it once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use model::{Scope, Timestamp};
use store::{OpenSession, Stopwatch};

use crate::error::FlowError;
use crate::retriable::log_retriable;
use crate::tasks::StopSignal;
use crate::turns::Turns;

/// Sessions that are ended in one commit.
const COMMIT_SESSIONS: usize = 100;
/// After each commit the sweep rests so many times as long as that took.
const REST_FACTOR: u32 = 4;

impl Turns {
    /// Starts sweeping, now and then again. Call it once, before serving.
    pub fn spawn_sweep(self: &Arc<Self>, every: Duration) {
        let turns = Arc::clone(self);
        self.core.tasks.spawn_task(|stop| run_sweep(turns, every, stop));
    }

    /// Ends the sessions that went silent and calibrates where people said something. Answers how
    /// many sessions ended.
    pub async fn sweep_sessions(&self) -> Result<usize, FlowError> {
        let ended = self.end_silent_sessions().await?;
        self.recalibrate_projects().await?;
        Ok(ended)
    }

    async fn end_silent_sessions(&self) -> Result<usize, FlowError> {
        let now = self.core.clock.now().as_micros();
        let since = Timestamp::from_micros(now.saturating_sub(self.silence_micros()));
        let stop = self.core.tasks.stop_signal();
        let mut ended = 0;
        loop {
            let silent = self.core.store.silent_sessions(since, COMMIT_SESSIONS).await?;
            let found = silent.len();
            let watch = Stopwatch::start();
            let some = self.end_sessions(silent).await?;
            ended += some;
            // None of many means that they cannot be ended now; the next sweep looks again.
            if found < COMMIT_SESSIONS || some == 0 || *stop.borrow() {
                return Ok(ended);
            }
            // There may be very many after an import; requests come first.
            tokio::time::sleep(watch.elapsed() * REST_FACTOR).await;
        }
    }

    async fn end_sessions(&self, silent: Vec<OpenSession>) -> Result<usize, FlowError> {
        let mut by_scope: HashMap<Scope, Vec<OpenSession>> = HashMap::new();
        for session in silent {
            by_scope.entry(session.scope.clone()).or_default().push(session);
        }
        let mut writes = Vec::with_capacity(COMMIT_SESSIONS);
        for (scope, sessions) in by_scope {
            let turns = sessions.iter().map(|session| session.last_turn.clone()).collect();
            let mut last =
                self.core.store.exchanges_by_id(&scope, turns).await?.into_iter().peekable();
            for session in sessions {
                // Both are in one order.
                let last = last.next_if(|last| last.turn == session.last_turn);
                writes.push(self.build_session_end(&session, last.as_ref()));
            }
        }
        self.core.commit_writes(writes).await
    }
}

async fn run_sweep(turns: Arc<Turns>, every: Duration, mut stop: StopSignal) {
    while turns.cluster.leadership.wait_until_leader(&mut stop).await {
        match turns.sweep_sessions().await {
            Ok(0) => {}
            Ok(ended) => tracing::info!(ended, "sessions ended after a silence"),
            Err(error) => log_retriable(error, "the sweep failed; it comes again"),
        }
        tokio::select! {
            _ = stop.changed() => {}
            () = tokio::time::sleep(every) => {}
        }
    }
}
