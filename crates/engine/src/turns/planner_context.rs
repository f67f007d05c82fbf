//! Builds the planner context of a turn.

use detect::{Unclear, Utterance, detect_unclear};
use learn::{
    ClarifyReason, ComparedStrategies, ContextFormat, JudgedPreviousTurn, JudgedStrategy,
    PastExchange, PlannerContext, PlannerInput, RepeatedCorrection, UserPreferences,
};
use model::{Contrast, Event, Position, Verdict, VerdictStatus};
use store::{ExchangeQuery, Habit, Standing, StoredExchange};

use crate::error::EngineError;
use crate::turns::Turns;
use crate::turns::findings_response::PreviousVerdict;

/// Turns of the conversation in the context.
const MAX_CONVERSATION_TURNS: usize = 5;
/// Turns of the user from which preferences are derived.
const MAX_USER_TURNS: usize = 20;
const MAX_SHOWN_PREFERENCES: usize = 5;

impl Turns {
    pub(crate) async fn build_context(
        &self,
        opening: &Event,
        position: Position,
        previous: Option<&PreviousVerdict>,
        format: ContextFormat,
    ) -> Result<PlannerContext, EngineError> {
        let query = |user, conversation, limit| ExchangeQuery {
            scope: opening.scope.clone(),
            conversation,
            user,
            until: opening.ts,
            // A repeated request must not see later turns.
            before: Some(position),
            older_than: None,
            only_answered: true,
            limit,
        };
        let conversation = opening.conversation.clone();
        let mut past = self
            .core
            .store
            .exchanges(query(None, conversation, MAX_CONVERSATION_TURNS + 2))
            .await?;
        // Erased and dropped turns have no text.
        past.retain(|exchange| !exchange.opening.text.is_empty());
        past.truncate(MAX_CONVERSATION_TURNS);
        past.reverse();
        let judged = match previous {
            None => None,
            Some(previous) => self.load_judged_turn(opening, previous, &past).await?,
        };
        // Preferences come from all turns of a known user, otherwise from the conversation.
        let habits = match &opening.user {
            Some(user) => query(Some(user.clone()), None, MAX_USER_TURNS),
            None => query(None, opening.conversation.clone(), MAX_USER_TURNS),
        };
        let preferences = derive_preferences(self.core.store.habits(habits).await?);
        let shown: Vec<PastExchange<'_>> = past.iter().map(to_past_exchange).collect();
        let message = opening.body.opening().map_or("", |opening| opening.text.as_str());
        let verdict = previous
            .zip(judged.as_ref())
            .map(|(previous, judged)| effective_verdict(&previous.verdict, &judged.standing));
        let Some(turn) = &opening.turn else { return Err(EngineError::NotFound("turn")) };
        Ok(learn::build_planner_context(&PlannerInput {
            format,
            turn,
            message,
            unclear: detect_unclear(&Utterance::read(message), past.is_empty()).map(clarify_reason),
            judged: judged.as_ref().zip(verdict.as_ref()).map(|(judged, verdict)| {
                JudgedPreviousTurn {
                    turn: &judged.turn,
                    question: &judged.opening.text,
                    strategy: judged.completion.as_ref().and_then(|done| done.strategy.as_ref()),
                    verdict,
                }
            }),
            rejection_streak: previous.map_or(0, |previous| previous.rejection_streak),
            conversation: &shown,
            preferences: &preferences,
        }))
    }

    /// Loads the judged turn, which is usually one of `past`.
    async fn load_judged_turn(
        &self,
        opening: &Event,
        previous: &PreviousVerdict,
        past: &[StoredExchange],
    ) -> Result<Option<StoredExchange>, EngineError> {
        if let Some(found) = past.iter().find(|exchange| exchange.turn == previous.turn) {
            return Ok(Some(found.clone()));
        }
        let ids = vec![previous.turn.clone()];
        Ok(self.core.store.exchanges_by_id(&opening.scope, ids).await?.pop())
    }
}

fn clarify_reason(unclear: Unclear) -> ClarifyReason {
    match unclear {
        Unclear::Empty => ClarifyReason::EmptyMessage,
        Unclear::SingleWord => ClarifyReason::AmbiguousWord,
        Unclear::Reference => ClarifyReason::UnresolvedReference,
    }
}

/// The verdict on the answer by all signals instead of this message alone. A user who moves
/// on after a thumbs down has not accepted.
fn effective_verdict(verdict: &Verdict, standing: &Standing) -> Verdict {
    if verdict.status == standing.status {
        // A thumbs up counts more than moving on after it.
        let is_surer = standing.confidence.get() > verdict.confidence.get();
        let confidence = if is_surer { standing.confidence } else { verdict.confidence };
        return Verdict { confidence, ..verdict.clone() };
    }
    Verdict {
        status: standing.status,
        confidence: standing.confidence,
        correction_type: None,
        user_said: standing.user_said.clone(),
        contrast: None,
        ..verdict.clone()
    }
}

fn to_past_exchange(exchange: &StoredExchange) -> PastExchange<'_> {
    let done = exchange.completion.as_ref();
    PastExchange {
        turn: &exchange.turn,
        question: &exchange.opening.text,
        answer: done.and_then(|done| done.response.as_deref()),
        status: exchange.standing.status,
        confidence: exchange.standing.confidence,
        strategy: done.and_then(|done| Some(done.strategy.as_ref()?.name.as_str())),
    }
}

/// Derives a user's preferences from the verdicts on recent answers, most frequent first. Moving on
/// shows no preference.
fn derive_preferences(habits: Vec<Habit>) -> UserPreferences {
    let mut judged = Vec::new();
    let mut corrections: FrequencyCount<Contrast> = FrequencyCount::default();
    for habit in habits {
        let accepted = learn::is_sure_acceptance(habit.status, habit.confidence);
        let rejected = habit.status == VerdictStatus::Rejected;
        if let Some(strategy) = habit.strategy.filter(|_| accepted || rejected) {
            judged.push(JudgedStrategy { strategy, accepted });
        }
        corrections.add(habit.contrast.filter(|_| rejected));
    }
    let ComparedStrategies { mut accepted, mut rejected } = learn::compare_strategies(&judged);
    accepted.truncate(MAX_SHOWN_PREFERENCES);
    rejected.truncate(MAX_SHOWN_PREFERENCES);
    // A single correction concerns one answer and is no preference.
    let repeated = corrections.most_frequent().into_iter().filter(|(_, count)| *count > 1);
    let corrections = repeated.map(|(contrast, count)| RepeatedCorrection {
        wants: contrast.wants,
        instead_of: contrast.instead_of,
        count,
    });
    UserPreferences {
        accepted_strategies: accepted,
        rejected_strategies: rejected,
        corrections: corrections.collect(),
    }
}

/// Frequencies of values. Ties keep the order of first occurrence.
struct FrequencyCount<T>(Vec<(T, u32)>);

impl<T> Default for FrequencyCount<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: PartialEq> FrequencyCount<T> {
    fn add(&mut self, seen: Option<T>) {
        let Some(seen) = seen else { return };
        match self.0.iter_mut().find(|(known, _)| *known == seen) {
            Some((_, count)) => *count += 1,
            None => self.0.push((seen, 1)),
        }
    }

    fn most_frequent(mut self) -> Vec<(T, u32)> {
        self.0.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        self.0.truncate(MAX_SHOWN_PREFERENCES);
        self.0
    }
}

#[cfg(test)]
mod tests {
    use model::{Strategy, UnitInterval};
    use serde_json::Map;

    use super::*;

    #[test]
    fn preferences_are_ordered_by_frequency() {
        let habit = |strategy: &str, status, wants: Option<&str>| Habit {
            strategy: Some(Strategy { name: strategy.to_owned(), params: Map::new() }),
            status,
            confidence: UnitInterval::ONE,
            contrast: wants
                .map(|wants| Contrast { wants: Some(wants.to_owned()), instead_of: None }),
        };
        use VerdictStatus::{Accepted, Neutral, Rejected};
        let found = derive_preferences(vec![
            habit("web", Accepted, None),
            habit("sql", Accepted, None),
            habit("sql", Accepted, None),
            habit("guess", Rejected, Some("gaming laptops")),
            habit("guess", Rejected, Some("gaming laptops")),
            habit("other", Neutral, Some("nothing")),
        ]);
        assert_eq!(found.accepted_strategies, [("sql".to_owned(), 2), ("web".to_owned(), 1)]);
        assert_eq!(found.rejected_strategies, [("guess".to_owned(), 2)]);
        assert_eq!(found.corrections.len(), 1);
        assert_eq!(found.corrections[0].count, 2);
    }
}
