//! Whether a message asks again what was asked before.

use std::time::Duration;

use connectors::{HistoryKey, RecentQuestion};
use detect::{PastQuestion, Utterance, may_be_retry};
use model::{Event, Retry, TurnId};

use crate::error::EngineError;
use crate::turns::Turns;
use crate::turns::query_history::History;

impl Turns {
    pub(super) async fn hear_retry(
        &self,
        event: &Event,
        message: &Utterance,
        history: &History,
    ) -> Result<Option<Retry>, EngineError> {
        let Some(asker) = HistoryKey::from_event(event) else { return Ok(None) };
        let mut recent = history.recent(&asker, event.ts).await;
        recent.retain(|(asked, _)| Some(&asked.turn) != event.turn.as_ref());
        loop {
            let Some(retry) = self.retry_among(message, &recent) else { return Ok(None) };
            if !history.is_shared() || self.is_there(event, &retry.original_turn_id).await? {
                return Ok(Some(retry));
            }
            recent.retain(|(asked, _)| asked.turn != retry.original_turn_id);
        }
    }

    fn retry_among(
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
        self.core.detectors.retry(message, &past)
    }

    /// Whether a turn that a shared history knows was stored and not erased since: a node may have ended
    /// between the two.
    async fn is_there(&self, event: &Event, turn: &TurnId) -> Result<bool, EngineError> {
        let head = self.core.store.turn_head(&event.scope, turn).await?;
        Ok(head.is_some_and(|head| !head.erased))
    }
}
