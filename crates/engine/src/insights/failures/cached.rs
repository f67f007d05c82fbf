//! Stale-while-revalidate access to failure reports.

use std::sync::Arc;

use store::QualityQuery;

use crate::error::EngineError;
use crate::insights::Insights;
use crate::insights::failures::FailureReport;
use crate::insights::failures::with_previous_window;
use crate::retriable::log_retriable;

/// Turns analysed within the request: about 50 ms of work.
const MAX_INLINE_TURNS: usize = 350;

/// A failure report and its freshness.
#[derive(Clone, Debug)]
pub enum CachedReport {
    Fresh(Arc<FailureReport>),
    /// An earlier report; a refresh is running.
    Stale(Arc<FailureReport>),
    /// No report yet; the computation is running.
    Pending,
}

impl Insights {
    /// The failure report of a window that ends now. Few turns are analysed within the request.
    /// Many take seconds: a background task analyses them, one window at a time, and the last
    /// report is returned.
    pub async fn cached_failures(
        self: &Arc<Self>,
        query: QualityQuery,
    ) -> Result<CachedReport, EngineError> {
        self.load_cached_report(query, MAX_INLINE_TURNS).await
    }

    async fn load_cached_report(
        self: &Arc<Self>,
        query: QualityQuery,
        max_inline: usize,
    ) -> Result<CachedReport, EngineError> {
        let now = self.core.clock.now();
        if let Some(known) = self.patterns.find_fresh(&query, self.core.head(), now) {
            return Ok(CachedReport::Fresh(known));
        }
        if self.core.store.negative_turns(with_previous_window(&query), max_inline + 1).await?.len()
            <= max_inline
        {
            return Ok(CachedReport::Fresh(self.failure_report(query).await?));
        }
        self.spawn_refresh(query.clone());
        let earlier = self.patterns.find_stale(&query, now);
        Ok(earlier.map_or(CachedReport::Pending, CachedReport::Stale))
    }

    /// Starts a refresh, unless one is running. A later request then starts it.
    fn spawn_refresh(self: &Arc<Self>, query: QualityQuery) {
        let Some(place) = self.patterns.try_acquire_refresh() else { return };
        let insights = Arc::clone(self);
        self.core.tasks.spawn_task(|mut stop| async move {
            tokio::select! {
                _ = stop.wait_for(|is_over| *is_over) => {}
                found = insights.failure_report(query) => {
                    if let Err(error) = found {
                        log_retriable(error, "failure report refresh failed");
                    }
                }
            }
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::Engine;
    use model::{Scope, Window};
    use serde_json::json;
    use store::ReactionTime;

    use super::*;
    use crate::CopySettings;
    use crate::test_engine::{NOW, open_test_engine};

    const INLINE_TURNS: usize = 6;

    async fn engine(folder: &tempfile::TempDir) -> Arc<Engine> {
        Arc::new(open_test_engine(folder.path()).await.engine)
    }

    /// Adds turns with a user's correction.
    async fn corrected(engine: &Engine, from: usize, to: usize) {
        let mut writes = Vec::new();
        for n in from..to {
            let line = |kind: [&str; 2], data: serde_json::Value| {
                json!({"type": kind[0], "source": kind[1], "category": "quality", "data": data,
                    "message_id": format!("t{n}"), "session_id": format!("c{n}"),
                    "user_id": format!("u{n}"), "timestamp": NOW.plus_secs(-60).to_string()})
            };
            for line in [
                line(
                    ["query", "turn"],
                    json!({"phase": "opened", "text": "What came in in March?"}),
                ),
                line(
                    ["query", "turn"],
                    json!({"phase": "completed", "response": "1.2 M, booked.",
                    "status": "success"}),
                ),
                line(
                    ["explicit", "user_correction"],
                    json!({"corrected": "1.1 M, by order date."}),
                ),
            ] {
                let scope = Scope::default();
                writes.extend(engine.feedback.prepare_line(line, 1, &scope).unwrap().writes);
            }
        }
        for receipt in engine.feedback.record_batch(writes).await.unwrap() {
            receipt.unwrap();
        }
    }

    fn query() -> QualityQuery {
        QualityQuery {
            tenant: Scope::default().tenant,
            project: Some(Scope::default().project),
            window: Window { start: NOW.plus_secs(-86_400), end: NOW },
            model: None,
            prompt: None,
            users: None,
            by: ReactionTime::default(),
            bucket_hours: 24,
            bucket_shift: 0,
        }
    }

    /// Polls until the report is fresh.
    async fn found(engine: &Arc<Engine>) -> Arc<FailureReport> {
        loop {
            match engine.insights.load_cached_report(query(), INLINE_TURNS).await.unwrap() {
                CachedReport::Fresh(report) => return report,
                CachedReport::Stale(_) | CachedReport::Pending => {
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    #[tokio::test]
    async fn few_turns_are_computed_inline_and_many_in_the_background() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(&folder).await;
        corrected(&engine, 0, INLINE_TURNS).await;
        let cached = engine.insights.load_cached_report(query(), INLINE_TURNS).await.unwrap();
        assert!(matches!(cached, CachedReport::Fresh(report) if report.negatives == INLINE_TURNS));
        corrected(&engine, INLINE_TURNS, INLINE_TURNS + 1).await;
        engine.insights.patterns.clear();
        let cached = engine.insights.load_cached_report(query(), INLINE_TURNS).await.unwrap();
        assert!(matches!(cached, CachedReport::Pending), "{cached:?}");
        assert_eq!(found(&engine).await.negatives, INLINE_TURNS + 1);
        // An erasure removes the user's turns from the report.
        let copies = CopySettings { place: None, previous_places: Vec::new() };
        let user = model::UserId::new("u0").unwrap();
        engine.privacy.erase_user(&Scope::default(), &user, &copies).await.unwrap();
        let report = found(&engine).await;
        assert_eq!(report.negatives, INLINE_TURNS);
        engine.close().await.unwrap();
    }
}
