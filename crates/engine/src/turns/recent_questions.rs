//! The latest questions of each user, for retry detection.
//!
//! Keyed by user, else by conversation. The in-process backend is refilled from the log at
//! start; a shared backend (Redis) needs no refill. An unavailable backend logs its own errors
//! and counts as an empty history here.

use std::sync::Arc;
use std::time::Duration;

use connectors::{HistoryKey, InProcessHistory, QueryHistory, RecentQuestion};

use model::{Body, Event, Rule, Timestamp};
use store::{Store, StoreError};

use crate::error::connector_error;

use crate::changes::embed_question;

/// Characters of a question that are stored; the comparison uses fewer.
const MAX_QUESTION_CHARS: usize = 500;
/// Maximum number of log events that a refill reads.
const MAX_REFILL_EVENTS: u64 = 300_000;

#[derive(Clone)]
pub(crate) struct RecentQuestions {
    backend: Arc<dyn QueryHistory>,
}

/// A question that was added before its commit.
pub(crate) struct PendingQuestion {
    asker: HistoryKey,
    asked: RecentQuestion,
}

/// True for an event that clears its user's question history.
pub(crate) fn is_history_erasure(event: &Event) -> bool {
    matches!(event.body, Body::Rule(Rule::HistoryForgotten))
}

impl PendingQuestion {
    /// `None` unless the event opens a turn and names a user or a conversation. Feedback quotes a
    /// question; it does not ask it.
    fn from_opening(event: &Event, with_vector: bool) -> Option<Self> {
        let (asker, turn) = (HistoryKey::from_event(event)?, event.turn.clone()?);
        let opening = event.body.opening().filter(|opening| !opening.derived)?;
        let text: Arc<str> =
            opening.text.chars().take(MAX_QUESTION_CHARS).collect::<String>().into();
        let vector = with_vector.then(|| embed_question(&text));
        Some(Self { asker, asked: RecentQuestion { turn, text, ts: event.ts, vector } })
    }
}

impl RecentQuestions {
    /// Keeps at most `most` questions per user in memory, each for `window`.
    pub(crate) fn in_process(window: Duration, most: usize) -> Self {
        Self { backend: Arc::new(InProcessHistory::new(window, most)) }
    }

    pub(crate) fn from_backend(backend: Arc<dyn QueryHistory>) -> Self {
        Self { backend }
    }

    /// Reads the questions of the last `window` from the log. A shared backend needs no refill.
    pub(crate) async fn refill_from_log(
        &self,
        store: &Store,
        now: Timestamp,
        window: Duration,
    ) -> Result<(), StoreError> {
        if self.is_shared() {
            return Ok(());
        }
        let window = i64::try_from(window.as_secs()).unwrap_or(i64::MAX);
        for stored in store.recent_questions(now.plus_secs(-window), MAX_REFILL_EVENTS).await? {
            let event = &stored.event;
            if is_history_erasure(event)
                && let Some(asker) = HistoryKey::from_event(event)
            {
                self.backend.forget(&asker).await.map_err(connector_error)?;
            } else {
                self.add_question(event).await;
            }
        }
        Ok(())
    }

    /// Clears the history and refills it from the log. Needed after an erasure on another node,
    /// which does not name the user, and after the removal of a tenant.
    pub(crate) async fn reload_from_log(
        &self,
        store: &Store,
        now: Timestamp,
        window: Duration,
    ) -> Result<(), StoreError> {
        self.backend.clear();
        self.refill_from_log(store, now, window).await
    }

    /// Removes a user's earlier questions after another node cleared the user's history. Any client
    /// can cause this event, so it must not trigger a full reload.
    pub(crate) async fn forget_questions_before(
        &self,
        forgetting: &Event,
    ) -> Result<(), StoreError> {
        let Some(asker) = HistoryKey::from_event(forgetting) else { return Ok(()) };
        if self.is_shared() {
            return Ok(());
        }
        for (asked, _) in
            self.backend.recent(&asker, forgetting.ts).await.map_err(connector_error)?
        {
            self.backend.take_back(&asker, &asked).await.map_err(connector_error)?;
        }
        Ok(())
    }

    /// The backend, for callers that must see its errors.
    pub(crate) fn backend(&self) -> &dyn QueryHistory {
        &*self.backend
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.backend.is_shared()
    }

    /// Questions before `at`, newest first.
    pub(crate) async fn recent_questions(
        &self,
        asker: &HistoryKey,
        at: Timestamp,
    ) -> Vec<(RecentQuestion, Duration)> {
        self.backend.recent(asker, at).await.unwrap_or_default()
    }

    /// Adds the question of an opening.
    pub(crate) async fn add_question(&self, event: &Event) -> Option<PendingQuestion> {
        let asking = PendingQuestion::from_opening(event, self.is_shared())?;
        // On an error the question may still have been added, so it is returned for removal.
        let _ = self.backend.add(&asking.asker, &asking.asked).await;
        Some(asking)
    }

    /// Removes a question whose commit failed or was a repeat.
    pub(crate) async fn remove_question(&self, asking: Option<PendingQuestion>) {
        if let Some(PendingQuestion { asker, asked }) = asking {
            // An entry that stays behind is harmless: retry detection checks that its turn is stored.
            let _ = self.backend.take_back(&asker, &asked).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Opening, TurnHalf};

    use super::*;
    use crate::test_engine::{NOW, question_event};

    async fn turns(history: &RecentQuestions, user: &str, secs: i64) -> Vec<String> {
        let asker = HistoryKey::from_event(&question_event("x", user, 0)).unwrap();
        let recent = history.recent_questions(&asker, NOW.plus_secs(secs)).await;
        recent.into_iter().map(|(asked, _)| asked.turn.to_string()).collect()
    }

    #[tokio::test]
    async fn question_that_was_not_stored_is_removed() {
        let history = RecentQuestions::in_process(Duration::from_secs(300), 10);
        history.add_question(&question_event("t1", "ann", 0)).await;
        let second = history.add_question(&question_event("t2", "ann", 1)).await;
        assert_eq!(turns(&history, "ann", 2).await, ["t2", "t1"]);
        history.remove_question(second).await;
        assert_eq!(turns(&history, "ann", 2).await, ["t1"]);
        assert_eq!(turns(&history, "bob", 2).await, Vec::<String>::new());
    }

    #[tokio::test]
    async fn long_question_is_truncated() {
        let history = RecentQuestions::in_process(Duration::from_secs(300), 10);
        let mut long = question_event("t1", "ann", 0);
        let opening = Opening { text: "ö".repeat(9_000), ..Opening::default() };
        long.body = Body::Turn(TurnHalf::Opened(opening));
        let kept = history.add_question(&long).await.unwrap();
        assert_eq!(kept.asked.text.chars().count(), MAX_QUESTION_CHARS);
    }
}
