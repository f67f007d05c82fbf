//! Retry detection: finds a recent question that a message repeats.

use std::time::Duration;

use connectors::{HistoryKey, RecentQuestion};

use detect::{PastQuestion, Utterance, may_be_retry};
use model::{Event, Retry, TurnId};

use crate::error::EngineError;
use crate::turns::Turns;
use crate::turns::recent_questions::RecentQuestions;

impl Turns {
    pub(super) async fn detect_retry(
        &self,
        event: &Event,
        message: &Utterance,
        history: &RecentQuestions,
    ) -> Result<Option<Retry>, EngineError> {
        let Some(asker) = HistoryKey::from_event(event) else { return Ok(None) };
        let mut recent = history.recent_questions(&asker, event.ts).await;
        recent.retain(|(asked, _)| Some(&asked.turn) != event.turn.as_ref());
        loop {
            let Some(retry) = self.find_retry(message, &recent) else { return Ok(None) };
            if !history.is_shared() || self.is_turn_stored(event, &retry.original_turn_id).await? {
                return Ok(Some(retry));
            }
            recent.retain(|(asked, _)| asked.turn != retry.original_turn_id);
        }
    }

    fn find_retry(
        &self,
        message: &Utterance,
        recent: &[(RecentQuestion, Duration)],
    ) -> Option<Retry> {
        let rule = &self.core.detectors.retry;
        let near: Vec<(&RecentQuestion, Duration, Utterance)> = recent
            .iter()
            .filter(|(asked, _)| {
                let vector = asked.vector.as_ref();
                vector.is_none_or(|vector| may_be_retry(rule, message, &asked.text, vector))
            })
            .map(|(asked, age)| (asked, *age, Utterance::read(&asked.text)))
            .collect();
        let past: Vec<PastQuestion<'_>> = near
            .iter()
            .map(|(asked, age, question)| PastQuestion {
                turn: &asked.turn,
                question,
                age: Some(*age),
            })
            .collect();
        self.core.detectors.detect_retry(message, &past)
    }

    /// True when a turn from a shared history is stored and not erased. A node may have crashed
    /// between the history and the commit.
    async fn is_turn_stored(&self, event: &Event, turn: &TurnId) -> Result<bool, EngineError> {
        let head = self.core.store.turn_head(&event.scope, turn).await?;
        Ok(head.is_some_and(|head| !head.erased))
    }
}
