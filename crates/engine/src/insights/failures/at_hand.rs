//! What goes wrong, as far as it is known, for somebody who does not want to wait.

use std::sync::Arc;

use store::QualityQuery;

use crate::error::FlowError;
use crate::insights::Insights;
use crate::insights::failures::with_before;
use crate::insights::patterns::FailureReport;
use crate::retriable::log_retriable;

/// Turns that are looked at while somebody waits: as many as take some twentieth of a second.
const FEW: usize = 350;

/// What is known of what goes wrong.
#[derive(Clone, Debug)]
pub enum FailuresAtHand {
    /// Found now, or a moment ago.
    Found(Arc<FailureReport>),
    /// Found a while ago; it is being looked for again.
    Earlier(Arc<FailureReport>),
    /// It is being looked for.
    Sought,
}

impl Insights {
    /// What goes wrong in a window that ends now. Few turns are looked at on the spot. Many take seconds: they
    /// are looked at beside requests, of one window at a time, and meanwhile what was found last is given.
    pub async fn failures_at_hand(
        self: &Arc<Self>,
        query: QualityQuery,
    ) -> Result<FailuresAtHand, FlowError> {
        self.at_hand(query, FEW).await
    }

    async fn at_hand(
        self: &Arc<Self>,
        query: QualityQuery,
        few: usize,
    ) -> Result<FailuresAtHand, FlowError> {
        let now = self.core.clock.now();
        if let Some(known) = self.patterns.fitting(&query, self.core.head(), now) {
            return Ok(FailuresAtHand::Found(known));
        }
        if self.core.store.negative_turns(with_before(&query), few + 1).await?.len() <= few {
            return Ok(FailuresAtHand::Found(self.failures(query).await?));
        }
        self.look_beside(query.clone());
        let earlier = self.patterns.earlier(&query, now);
        Ok(earlier.map_or(FailuresAtHand::Sought, FailuresAtHand::Earlier))
    }

    /// Begins to look, unless somebody looks already: whoever asks again begins then.
    fn look_beside(self: &Arc<Self>, query: QualityQuery) {
        let Some(place) = self.patterns.take_place() else { return };
        let engine = Arc::clone(self);
        self.core.tasks.spawn_task(|mut stop| async move {
            tokio::select! {
                _ = stop.wait_for(|is_over| *is_over) => {}
                found = engine.failures(query) => {
                    if let Err(error) = found {
                        log_retriable(error, "patterns of failures were not found");
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

    use super::*;
    use crate::CopySettings;
    use crate::test_engine::{NOW, open_test_engine};

    const SOME: usize = 6;

    async fn engine(folder: &tempfile::TempDir) -> Arc<Engine> {
        Arc::new(open_test_engine(folder.path()).await.engine)
    }

    /// Turns that somebody corrected.
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
                writes.extend(engine.feedback.prepare_line(line, 1).unwrap());
            }
        }
        for receipt in engine.feedback.record_all(writes).await.unwrap() {
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
            bucket_hours: 24,
            bucket_shift: 0,
        }
    }

    /// Asks until it is found.
    async fn found(engine: &Arc<Engine>) -> Arc<FailureReport> {
        loop {
            match engine.insights.at_hand(query(), SOME).await.unwrap() {
                FailuresAtHand::Found(report) => return report,
                FailuresAtHand::Earlier(_) | FailuresAtHand::Sought => {
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    #[tokio::test]
    async fn few_are_found_on_the_spot_and_many_beside_requests() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(&folder).await;
        corrected(&engine, 0, SOME).await;
        let at_hand = engine.insights.at_hand(query(), SOME).await.unwrap();
        assert!(matches!(at_hand, FailuresAtHand::Found(report) if report.negatives == SOME));
        corrected(&engine, SOME, SOME + 1).await;
        engine.insights.patterns.clear();
        let at_hand = engine.insights.at_hand(query(), SOME).await.unwrap();
        assert!(matches!(at_hand, FailuresAtHand::Sought), "{at_hand:?}");
        assert_eq!(found(&engine).await.negatives, SOME + 1);
        // Nobody who was erased is in it, whatever was found before.
        let copies = CopySettings { place: None, previous_places: Vec::new() };
        let user = model::UserId::new("u0").unwrap();
        engine.privacy.erase_user(&Scope::default(), &user, &copies).await.unwrap();
        let report = found(&engine).await;
        assert_eq!(report.negatives, SOME);
        engine.close().await.unwrap();
    }
}
