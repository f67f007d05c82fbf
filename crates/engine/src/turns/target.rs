//! Resolves the turn that a message refers to: nearly always the previous one.

use detect::{
    MAX_NAMED_TURNS, PastTurn, RankedTurn, Target, TargetCandidate, Utterance, answer_head,
    find_named_turn, find_target, is_clear_judgement, may_count_turns, may_name_earlier_turn,
    may_target_earlier_turn, rank_candidates,
};
use ingest::TurnPlace;
use learn::is_sure_acceptance;
use model::{Event, Position, TurnId, Vector, Verdict, VerdictStatus};
use store::{ExchangeQuery, Standing, StoredExchange};

use super::message_signals::{MessageContext, ScoredTarget, answer_text, elapsed_between};
use crate::changes::{embed_question, truncate_for_embedding};
use crate::error::EngineError;
use crate::turns::Turns;

/// Answered turns that a remark about an earlier turn is compared with, when it counts turns.
const MAX_TARGET_CANDIDATES: usize = 300;

/// The answered turns before a message, newest first.
pub(super) struct PastTurns {
    turns: Vec<StoredExchange>,
    /// Target of the verdict that is stored for the same message. Must not influence the result.
    own: Option<TurnId>,
}

impl PastTurns {
    fn view(&self, event: &Event) -> Vec<PastTurn<'_>> {
        self.turns.iter().map(|turn| to_past_turn(event, turn, self.own.as_ref())).collect()
    }

    fn find(&self, id: &TurnId) -> Option<&StoredExchange> {
        self.turns.iter().find(|turn| turn.turn == *id)
    }
}

impl Turns {
    /// The earlier turn that the message names, with the turns that were read to find it. Older
    /// turns are read only when the message may name one.
    pub(super) async fn find_named_turn(
        &self,
        event: &Event,
        background: MessageContext<'_>,
        message: &Utterance,
        previous: &StoredExchange,
    ) -> Result<Option<(StoredExchange, PastTurns)>, EngineError> {
        if !may_name_earlier_turn(message, &to_past_turn(event, previous, None)) {
            return Ok(None);
        }
        let past = self.load_past_turns(event, background, message).await?;
        let named = find_named_turn(&self.core.detectors.target, message, &past.view(event));
        let turn = named.and_then(|named| past.find(&named.turn)).cloned();
        Ok(turn.map(|turn| (turn, past)))
    }

    /// The target of a clear verdict on the named turn, if that turn is the target.
    pub(super) fn confirm_named_turn(
        &self,
        event: &Event,
        message: &Utterance,
        verdict: &Verdict,
        (named, past): &(StoredExchange, PastTurns),
    ) -> Option<ScoredTarget> {
        let turns = past.view(event);
        match find_target(&self.core.detectors.target, verdict, message, &turns) {
            Target::Earlier(found) if found.turn == named.turn && is_clear_judgement(verdict) => {
                Some(self.place_earlier_turn(event, verdict, past, &found))
            }
            Target::Earlier(_) | Target::Previous | Target::NoTurn => None,
        }
    }

    /// The target of a verdict and its score. Older turns are read only when the message refers to
    /// them.
    pub(super) async fn resolve_target(
        &self,
        event: &Event,
        background: MessageContext<'_>,
        message: &Utterance,
        verdict: &Verdict,
        previous: &StoredExchange,
    ) -> Result<ScoredTarget, EngineError> {
        let last = to_past_turn(event, previous, None);
        if !is_clear_judgement(verdict) || !may_target_earlier_turn(verdict, message, &last) {
            return Ok((Some(reaction_place(event, previous)), None));
        }
        let past = self.load_past_turns(event, background, message).await?;
        match find_target(&self.core.detectors.target, verdict, message, &past.view(event)) {
            Target::Previous => Ok((Some(reaction_place(event, previous)), None)),
            Target::Earlier(found) => Ok(self.place_earlier_turn(event, verdict, &past, &found)),
            Target::NoTurn if self.core.detectors.search_other_conversations => {
                self.find_in_other_conversations(event, background.position, message).await
            }
            Target::NoTurn => Ok((None, None)),
        }
    }

    /// Acceptance does not reach across a session boundary.
    fn place_earlier_turn(
        &self,
        event: &Event,
        verdict: &Verdict,
        past: &PastTurns,
        found: &RankedTurn,
    ) -> ScoredTarget {
        let accepts = verdict.status == VerdictStatus::Accepted;
        let turn = past
            .find(&found.turn)
            .filter(|turn| !accepts || !self.was_silent_since(event, turn, &past.turns));
        (turn.map(|turn| reaction_place(event, turn)), Some(found.score))
    }

    async fn load_past_turns(
        &self,
        event: &Event,
        background: MessageContext<'_>,
        message: &Utterance,
    ) -> Result<PastTurns, EngineError> {
        let limit = if may_count_turns(message) { MAX_TARGET_CANDIDATES } else { MAX_NAMED_TURNS };
        let (turns, _) = self.load_answered(event, background, limit + 1).await?;
        let stored = match (&event.turn, background.position) {
            (Some(message), Some(_)) => {
                self.core.store.message_verdict(&event.scope, message).await?
            }
            _ => None,
        };
        Ok(PastTurns { turns, own: stored.and_then(|stored| stored.event.turn.clone()) })
    }

    /// True when a session timeout lies between a turn and the message. `past` is newest first.
    fn was_silent_since(
        &self,
        event: &Event,
        turn: &StoredExchange,
        past: &[StoredExchange],
    ) -> bool {
        let mut next = event.ts;
        for exchange in past {
            let answered = exchange.answered_at.unwrap_or(exchange.ts);
            if elapsed_between(answered, next) > self.core.detectors.verdict.session {
                return true;
            }
            if exchange.turn == turn.turn {
                return false;
            }
            next = exchange.ts;
        }
        false
    }

    /// Finds a similar turn in other conversations of the user.
    async fn find_in_other_conversations(
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
            limit: MAX_TARGET_CANDIDATES,
        };
        let mut past = self.core.store.exchanges(query).await?;
        past.retain(|turn| turn.conversation != event.conversation);
        let remark = embed_question(message.original());
        let vectors: Vec<(Vector, Vector)> = past
            .iter()
            .map(|turn| (embed_question(&turn.opening.text), embed_answer(turn)))
            .collect();
        let candidates: Vec<TargetCandidate<'_>> = past
            .iter()
            .zip(&vectors)
            .map(|(turn, (question, answer))| TargetCandidate {
                turn: &turn.turn,
                question,
                answer: Some(answer),
                age: elapsed_between(turn.ts, event.ts),
            })
            .collect();
        let found =
            rank_candidates(&self.core.detectors.target, &remark, &candidates).into_iter().next();
        let turn = found.as_ref().and_then(|at| past.iter().find(|turn| turn.turn == at.turn));
        Ok((turn.map(|turn| reaction_place(event, turn)), found.map(|found| found.score)))
    }
}

fn to_past_turn<'a>(event: &Event, turn: &'a StoredExchange, own: Option<&TurnId>) -> PastTurn<'a> {
    let is_own = own == Some(&turn.turn);
    let Standing { status, confidence, .. } = turn.standing;
    // A user who moved on has not praised the answer yet.
    let moved_on = status == VerdictStatus::Accepted && !is_sure_acceptance(status, confidence);
    PastTurn {
        turn: &turn.turn,
        question: truncate_for_embedding(&turn.opening.text),
        answer: answer_text(turn),
        age: elapsed_between(turn.ts, event.ts),
        status: if is_own || moved_on { VerdictStatus::Neutral } else { status },
    }
}

fn embed_answer(turn: &StoredExchange) -> Vector {
    embed::built_in().embed(answer_head(answer_text(turn)))
}

/// The place of a machine reaction. The message's author is the one who reacts.
fn reaction_place(event: &Event, target: &StoredExchange) -> TurnPlace {
    TurnPlace {
        scope: event.scope.clone(),
        turn: target.turn.clone(),
        conversation: target.conversation.clone(),
        user: event.user.clone().or_else(|| target.user.clone()),
    }
}
