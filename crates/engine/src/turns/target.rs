//! Which turn a message is about: nearly always the one before it.

use detect::{
    PastTurn, Target, TargetCandidate, Utterance, answer_head, find_target,
    may_target_earlier_turn, rank_candidates,
};
use ingest::TurnPlace;
use model::{Event, Position, TurnId, Vector, Verdict, VerdictStatus};
use store::{ExchangeQuery, StoredExchange};

use super::message_signals::{answer_of, since};
use crate::changes::{opening_of, question_vector};
use crate::error::EngineError;
use crate::turns::Turns;

/// Answered turns that a remark about something earlier is compared with.
const MOST_LOOKED_AT: usize = 300;

impl Turns {
    /// Whom a verdict is about. Older turns are only looked at when the message points at them.
    pub(super) async fn target_of(
        &self,
        event: &Event,
        before: Option<Position>,
        message: &Utterance,
        verdict: &Verdict,
        previous: &StoredExchange,
    ) -> Result<(Option<TurnPlace>, Option<f64>), EngineError> {
        if !may_target_earlier_turn(verdict, message) {
            return Ok((Some(place_of(event, previous)), None));
        }
        let (past, _) = self.answered_before(event, before, MOST_LOOKED_AT + 1).await?;
        // Heard again: what it said itself the last time does not make it say something else now.
        let own = match (&event.turn, before) {
            (Some(message), Some(_)) => self.core.store.heard_in(&event.scope, message).await?,
            _ => None,
        };
        let own = own.and_then(|said| said.turn);
        let turns: Vec<PastTurn<'_>> =
            past.iter().map(|turn| past_turn(event, turn, own.as_ref())).collect();
        match find_target(&self.core.detectors.target, verdict, message, &turns) {
            Target::Previous => Ok((Some(place_of(event, previous)), None)),
            Target::Earlier(found) => {
                let turn = past.iter().find(|turn| turn.turn == found.turn);
                // Nothing is accepted across a silence.
                let accepts = verdict.status == VerdictStatus::Accepted;
                let turn = turn.filter(|turn| !accepts || !self.silence_since(event, turn, &past));
                Ok((turn.map(|turn| place_of(event, turn)), Some(found.score)))
            }
            Target::NoTurn if self.core.detectors.elsewhere => {
                self.elsewhere(event, before, message).await
            }
            Target::NoTurn => Ok((None, None)),
        }
    }

    /// Whether the conversation went silent between a turn and a message. `past`: the newest first.
    fn silence_since(&self, event: &Event, turn: &StoredExchange, past: &[StoredExchange]) -> bool {
        let mut next = event.ts;
        for exchange in past {
            let answered = exchange.answered_at.unwrap_or(exchange.ts);
            if since(answered, next) > self.core.detectors.verdict.session {
                return true;
            }
            if exchange.turn == turn.turn {
                return false;
            }
            next = exchange.ts;
        }
        false
    }

    /// The turn of another conversation of the user's that a message is about, if one is alike.
    async fn elsewhere(
        &self,
        event: &Event,
        before: Option<Position>,
        message: &Utterance,
    ) -> Result<(Option<TurnPlace>, Option<f64>), EngineError> {
        let Some(user) = event.user.clone() else { return Ok((None, None)) };
        let query = ExchangeQuery {
            scope: event.scope.clone(),
            conversation: None,
            user: Some(user),
            until: event.ts,
            before,
            older_than: None,
            only_answered: true,
            limit: MOST_LOOKED_AT,
        };
        let mut past = self.core.store.exchanges(query).await?;
        past.retain(|turn| turn.conversation != event.conversation);
        let remark = question_vector(message.original());
        let vectors: Vec<(Vector, Vector)> = past
            .iter()
            .map(|turn| (question_vector(&turn.opening.text), answer_vector(turn)))
            .collect();
        let candidates: Vec<TargetCandidate<'_>> = past
            .iter()
            .zip(&vectors)
            .map(|(turn, (question, answer))| TargetCandidate {
                turn: &turn.turn,
                question,
                answer: Some(answer),
                age: since(turn.ts, event.ts),
            })
            .collect();
        let found =
            rank_candidates(&self.core.detectors.target, &remark, &candidates).into_iter().next();
        let turn = found.as_ref().and_then(|at| past.iter().find(|turn| turn.turn == at.turn));
        Ok((turn.map(|turn| place_of(event, turn)), found.map(|found| found.score)))
    }
}

fn past_turn<'a>(event: &Event, turn: &'a StoredExchange, own: Option<&TurnId>) -> PastTurn<'a> {
    let is_own = own == Some(&turn.turn);
    PastTurn {
        turn: &turn.turn,
        question: opening_of(&turn.opening.text),
        answer: answer_of(turn),
        age: since(turn.ts, event.ts),
        status: if is_own { VerdictStatus::Neutral } else { turn.standing.status },
    }
}

fn answer_vector(turn: &StoredExchange) -> Vector {
    embed::built_in().embed(answer_head(answer_of(turn)))
}

/// Where a reaction on an earlier turn goes. Whoever speaks reacts.
fn place_of(event: &Event, target: &StoredExchange) -> TurnPlace {
    TurnPlace {
        scope: event.scope.clone(),
        turn: target.turn.clone(),
        conversation: target.conversation.clone(),
        user: event.user.clone().or_else(|| target.user.clone()),
    }
}
