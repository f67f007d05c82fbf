//! The latest questions of each user, wherever they are kept: what a new one is compared with to see a
//! retry.
//!
//! By user, else by conversation. In this process they are filled again at start from the log's last
//! minutes, so that a restart forgets nothing that still counts; a place that all nodes share needs none of
//! that. A place that is away says so itself; here it means that nobody asked anything lately.

use std::sync::Arc;
use std::time::Duration;

use model::{Body, Event, Rule, Source, Timestamp, TurnHalf};
use store::{Asked, Asker, InProcessHistory, QueryHistory, Store, StoreError};

use crate::changes::embed_question;

/// Characters of a question that are remembered: more than two questions are compared by.
const MAX_QUESTION_CHARS: usize = 500;
/// How far back in the log a restart looks at the most, in events.
const MAX_REFILL_EVENTS: u64 = 300_000;

/// Everybody's latest questions.
#[derive(Clone)]
pub(crate) struct RecentQuestions {
    backend: Arc<dyn QueryHistory>,
}

/// A question on its way into the history, and whose it is.
pub(crate) struct PendingQuestion {
    asker: Asker,
    asked: Asked,
}

/// Whether an event says that its user's questions count no more.
pub(crate) fn is_history_erasure(event: &Event) -> bool {
    // Most are questions, and those are read elsewhere.
    event.kind.source == Source::Engine
        && matches!(Body::read(event.kind, &event.data), Ok(Body::Rule(Rule::HistoryForgotten)))
}

impl PendingQuestion {
    /// The question that an event opens a turn with, if it says who asks.
    fn from_opening(event: &Event, with_vector: bool) -> Option<Self> {
        let (asker, turn) = (Asker::of(event)?, event.turn.clone()?);
        let Ok(Body::Turn(TurnHalf::Opened(opening))) = Body::read(event.kind, &event.data) else {
            return None;
        };
        let text: Arc<str> =
            opening.text.chars().take(MAX_QUESTION_CHARS).collect::<String>().into();
        let vector = with_vector.then(|| embed_question(&text));
        Some(Self { asker, asked: Asked { turn, text, ts: event.ts, vector } })
    }
}

impl RecentQuestions {
    /// In this process: so many questions of each for so long.
    pub(crate) fn in_process(window: Duration, most: usize) -> Self {
        Self { backend: Arc::new(InProcessHistory::new(window, most)) }
    }

    /// Wherever this is.
    pub(crate) fn from_backend(backend: Arc<dyn QueryHistory>) -> Self {
        Self { backend }
    }

    /// What was asked in the log's last minutes, if that was lost with the process.
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
                && let Some(asker) = Asker::of(event)
            {
                self.backend.forget(&asker).await?;
            } else {
                self.add_question(event).await;
            }
        }
        Ok(())
    }

    /// Somebody was erased by another node, which does not say who, or a tenant was removed: what this one
    /// remembers is read again from the log, where their words are no more.
    pub(crate) async fn reload_from_log(
        &self,
        store: &Store,
        now: Timestamp,
        window: Duration,
    ) -> Result<(), StoreError> {
        self.backend.clear();
        self.refill_from_log(store, now, window).await
    }

    /// Somebody's questions were forgotten by another node: those of before, and theirs alone. Anybody who writes
    /// can ask for that, and must not have what everybody asked read again each time.
    pub(crate) async fn forget_questions_before(
        &self,
        forgetting: &Event,
    ) -> Result<(), StoreError> {
        let Some(asker) = Asker::of(forgetting) else { return Ok(()) };
        if self.is_shared() {
            return Ok(());
        }
        for (asked, _) in self.backend.recent(&asker, forgetting.ts).await? {
            self.backend.take_back(&asker, &asked).await?;
        }
        Ok(())
    }

    /// Where the questions are, for whoever must know when that is away.
    pub(crate) fn backend(&self) -> &dyn QueryHistory {
        &*self.backend
    }

    /// Whether other nodes add to it.
    pub(crate) fn is_shared(&self) -> bool {
        self.backend.is_shared()
    }

    /// The latest questions before a moment, the newest first.
    pub(crate) async fn recent_questions(
        &self,
        asker: &Asker,
        at: Timestamp,
    ) -> Vec<(Asked, Duration)> {
        self.backend.recent(asker, at).await.unwrap_or_default()
    }

    /// Remembers the question that an event opens a turn with.
    pub(crate) async fn add_question(&self, event: &Event) -> Option<PendingQuestion> {
        let asking = PendingQuestion::from_opening(event, self.is_shared())?;
        // Without an answer it may be there all the same.
        let _ = self.backend.add(&asking.asker, &asking.asked).await;
        Some(asking)
    }

    /// Forgets one question: it was not stored after all, or had been before.
    pub(crate) async fn remove_question(&self, asking: Option<PendingQuestion>) {
        if let Some(PendingQuestion { asker, asked }) = asking {
            // Away since: it is of no turn that is stored, so nobody will take it for one.
            let _ = self.backend.take_back(&asker, &asked).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Kind, Opening, Scope, Source, TurnId, Type, UserId};

    use super::*;

    const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn question(turn: &str, user: &str, secs: i64) -> Event {
        let half = TurnHalf::Opened(Opening { text: turn.into(), ..Opening::default() });
        Event {
            user: UserId::new(user).ok(),
            turn: TurnId::new(turn).ok(),
            ts: START.plus_secs(secs),
            kind: Kind { event_type: Type::Query, source: Source::Turn },
            data: Event::data_of(&half),
            ..testkit::event(&Scope::default(), turn)
        }
    }

    async fn turns(history: &RecentQuestions, user: &str, secs: i64) -> Vec<String> {
        let asker = Asker::of(&question("x", user, 0)).unwrap();
        let recent = history.recent_questions(&asker, START.plus_secs(secs)).await;
        recent.into_iter().map(|(asked, _)| asked.turn.to_string()).collect()
    }

    #[tokio::test]
    async fn question_that_was_not_stored_is_removed() {
        let history = RecentQuestions::in_process(Duration::from_secs(300), 10);
        history.add_question(&question("t1", "ann", 0)).await;
        let second = history.add_question(&question("t2", "ann", 1)).await;
        assert_eq!(turns(&history, "ann", 2).await, ["t2", "t1"]);
        history.remove_question(second).await;
        assert_eq!(turns(&history, "ann", 2).await, ["t1"]);
        assert_eq!(turns(&history, "bob", 2).await, Vec::<String>::new());
    }

    #[tokio::test]
    async fn long_question_is_truncated() {
        let history = RecentQuestions::in_process(Duration::from_secs(300), 10);
        let mut long = question("t1", "ann", 0);
        long.data.insert("text".into(), "ö".repeat(9_000).into());
        let kept = history.add_question(&long).await.unwrap();
        assert_eq!(kept.asked.text.chars().count(), MAX_QUESTION_CHARS);
    }
}
