//! Judges stored messages by an answer that arrives after them.
//!
//! Applications log answers late and send turns out of order. A message that was stored before the
//! answer it is about gets its verdict with that answer, in the same commit. A verdict on an older
//! answer moves to the late one, so that the order of arrival does not change the result.

use ingest::TurnPlace;
use model::{Body, Completion, Entry, Event, Finding, Position, Scope, Timestamp, TurnId, UserId};
use store::{Standing, StoredExchange};

use super::agreement::reconcile_with_intent;
use super::message_signals::{DetectedVerdict, MessageContext, was_seen};
use super::open::PreparedOpening;
use super::reader::Reading;
use crate::error::EngineError;
use crate::turns::Turns;

impl Turns {
    /// The changed verdicts of stored messages about an answer that is about to be stored. `done`
    /// is already redacted. `opening` is the answer's question, if it is not stored yet.
    pub(super) async fn late_verdict_entries(
        &self,
        place: &TurnPlace,
        opening: Option<&PreparedOpening>,
        asked: Timestamp,
        answered: (Timestamp, &Completion),
    ) -> Result<Vec<Entry>, EngineError> {
        let Some(conversation) = place.conversation.clone() else { return Ok(Vec::new()) };
        let scope = &place.scope;
        let mut later = match opening {
            Some(opening) => opening.tail.later.clone(),
            None => self.load_later_turns(scope.clone(), conversation, asked).await?,
        };
        later.retain(|turn| turn.turn != place.turn);
        if later.is_empty() {
            return Ok(Vec::new());
        }
        let exchange = match opening {
            Some(opening) => new_exchange(place, &opening.write.entry.event),
            None => {
                let ids = vec![place.turn.clone()];
                self.core.store.exchanges_by_id(scope, ids).await?.pop()
            }
        };
        let Some(exchange) = exchange else { return Ok(Vec::new()) };
        let answer = StoredExchange {
            answered_at: Some(answered.0),
            completion: Some(answered.1.clone()),
            ..exchange
        };
        later.retain(|turn| (turn.ts, turn.opened) > (answer.ts, answer.opened));
        let mut entries = Vec::new();
        for message in find_messages_about(&answer, &later) {
            entries.extend(self.judge_late_answer(scope, &answer, message).await?);
        }
        Ok(entries)
    }

    async fn judge_late_answer(
        &self,
        scope: &Scope,
        answer: &StoredExchange,
        message: &StoredExchange,
    ) -> Result<Vec<Entry>, EngineError> {
        let Some(opening) = self.core.store.opening_at(scope, message.opened).await? else {
            return Ok(Vec::new());
        };
        let context = MessageContext {
            history: &self.history,
            position: Some(message.opened),
            is_first: false,
            late_answer: Some(answer),
            tail: None,
            reading: Reading::Later,
        };
        match self.detect_message_verdict(&opening.event, context).await? {
            None => Ok(Vec::new()),
            Some(verdict) => self.changed_verdict_entries(&opening.event, verdict).await,
        }
    }

    /// Makes the verdict of a stored message agree with the stored retry of the same message.
    pub(super) async fn reconcile_with_stored_retry(
        &self,
        scope: &Scope,
        message: &TurnId,
        detected: &mut DetectedVerdict,
    ) -> Result<(), EngineError> {
        let Some(target) = &detected.target else { return Ok(()) };
        let Some(turn) = self.core.load_turn(scope, target.turn.clone()).await? else {
            return Ok(());
        };
        let intent = turn.events.iter().find_map(|stored| {
            let Body::Finding(Finding::Retry(found)) = &stored.event.body else { return None };
            (found.detected_in.as_ref() == Some(message)).then_some(found.intent)
        });
        if let Some(intent) = intent {
            reconcile_with_intent(&mut detected.verdict, intent);
        }
        Ok(())
    }
}

/// The turn of an opening that is not stored yet. It has no position: it follows all stored turns.
fn new_exchange(place: &TurnPlace, event: &Event) -> Option<StoredExchange> {
    Some(StoredExchange {
        turn: place.turn.clone(),
        conversation: place.conversation.clone(),
        user: place.user.clone(),
        ts: event.ts,
        opening: event.body.opening()?.clone(),
        answered_at: None,
        completion: None,
        opened: Position(i64::MAX.unsigned_abs()),
        standing: Standing::default(),
        language: None,
    })
}

/// The messages whose latest seen answer is `answer`. `later` holds the turns after it, oldest
/// first. The rules are those of `Turns::load_answered`.
fn find_messages_about<'a>(
    answer: &StoredExchange,
    later: &'a [StoredExchange],
) -> Vec<&'a StoredExchange> {
    // Erased and textless turns are not judged. A quoted turn may be a copy of the answer's own.
    let replaces_answer = |turn: &StoredExchange| {
        turn.answered_at.is_some()
            && !turn.opening.text.is_empty()
            && (!turn.opening.derived || answer.opening.derived)
    };
    let is_about = |(at, message): &(usize, &StoredExchange)| {
        let sees = |turn: &StoredExchange| {
            is_same_user(turn.user.as_ref(), message.user.as_ref()) && was_seen(turn, message.ts)
        };
        let has_newer = later[..*at].iter().any(|turn| replaces_answer(turn) && sees(turn));
        // A quotation in feedback is no message.
        let is_message = !message.opening.text.is_empty() && !message.opening.derived;
        is_message && sees(answer) && !has_newer
    };
    later.iter().enumerate().filter(is_about).map(|(_, message)| message).collect()
}

/// True unless both users are known and differ.
fn is_same_user(one: Option<&UserId>, other: Option<&UserId>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}
