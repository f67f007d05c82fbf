//! Periodic sweep: ends silent sessions and recalibrates verdicts.
//!
//! The leader sweeps. The transaction checks that a session is unchanged, so two concurrent
//! sweeps end it once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use model::{Scope, Timestamp};
use store::{OpenSession, Stopwatch};

use crate::error::EngineError;
use crate::retriable::log_retriable;
use crate::tasks::StopSignal;
use crate::turns::Turns;

/// Sessions per commit.
const COMMIT_SESSIONS: usize = 100;
/// The pause after a commit, as a multiple of the commit's duration.
const REST_FACTOR: u32 = 4;

impl Turns {
    /// Spawns the sweep. Call it once, before serving.
    pub fn spawn_sweep(self: &Arc<Self>, every: Duration) {
        let turns = Arc::clone(self);
        self.core.tasks.spawn_task(|stop| run_sweep(turns, every, stop));
    }

    /// Ends silent sessions and recalibrates projects with new labels. Returns the number of ended
    /// sessions.
    pub async fn sweep_sessions(&self) -> Result<usize, EngineError> {
        let ended = self.end_silent_sessions().await?;
        self.recalibrate_projects().await?;
        Ok(ended)
    }

    async fn end_silent_sessions(&self) -> Result<usize, EngineError> {
        let now = self.core.clock.now().as_micros();
        let since = Timestamp::from_micros(now.saturating_sub(self.silence_micros()));
        let stop = self.core.tasks.stop_signal();
        let mut ended = 0;
        loop {
            let silent = self.core.store.silent_sessions(since, COMMIT_SESSIONS).await?;
            let found = silent.len();
            let watch = Stopwatch::start();
            let newly_ended = self.end_sessions(silent).await?;
            ended += newly_ended;
            // No progress means that the sessions cannot be ended now. The next sweep retries.
            if found < COMMIT_SESSIONS || newly_ended == 0 || *stop.borrow() {
                return Ok(ended);
            }
            // An import can leave very many sessions. The pause gives requests priority.
            tokio::time::sleep(watch.elapsed() * REST_FACTOR).await;
        }
    }

    async fn end_sessions(&self, silent: Vec<OpenSession>) -> Result<usize, EngineError> {
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
                // Both lists are in the same order.
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
            Err(error) => log_retriable(error, "session sweep failed; retrying in the next period"),
        }
        tokio::select! {
            _ = stop.changed() => {}
            () = tokio::time::sleep(every) => {}
        }
    }
}
