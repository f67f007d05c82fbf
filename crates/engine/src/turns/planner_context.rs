//! What a planner should know before it plans a turn.

use learn::{
    JudgedPreviousTurn, PastExchange, PlannerContext, PlannerInput, RepeatedCorrection,
    UserPreferences,
};
use model::{Contrast, Event, Position, Verdict, VerdictStatus};
use store::{ExchangeQuery, Habit, Standing, StoredExchange};

use crate::error::FlowError;
use crate::turns::Turns;
use crate::turns::findings_response::PreviousVerdict;

/// Turns of the conversation that the planner is shown.
const MAX_CONVERSATION_TURNS: usize = 5;
/// Turns of the user that preferences are read from, and how many of each sort are shown.
const MAX_USER_TURNS: usize = 20;
const MAX_SHOWN_PREFERENCES: usize = 5;

impl Turns {
    /// The context of a turn that was just opened.
    pub(crate) async fn build_context(
        &self,
        opening: &Event,
        position: Position,
        previous: Option<&PreviousVerdict>,
    ) -> Result<PlannerContext, FlowError> {
        let query = |user, conversation, limit| ExchangeQuery {
            scope: opening.scope.clone(),
            conversation,
            user,
            until: opening.ts,
            // What came later is not the past, should this be asked again.
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
        // What was erased or dropped has nothing to say.
        past.retain(|exchange| !exchange.opening.text.is_empty());
        past.truncate(MAX_CONVERSATION_TURNS);
        past.reverse();
        let judged = match previous {
            None => None,
            Some(previous) => self.load_judged_turn(opening, previous, &past).await?,
        };
        // A user's own turns wherever they are; of somebody unknown those of the conversation.
        let of = match &opening.user {
            Some(user) => query(Some(user.clone()), None, MAX_USER_TURNS),
            None => query(None, opening.conversation.clone(), MAX_USER_TURNS),
        };
        let preferences = derive_preferences(self.core.store.habits(of).await?);
        let shown: Vec<PastExchange<'_>> = past.iter().map(to_past_exchange).collect();
        let message = opening.data.get("text").and_then(|text| text.as_str());
        let verdict = previous
            .zip(judged.as_ref())
            .map(|(previous, judged)| effective_verdict(&previous.verdict, &judged.standing));
        let Some(turn) = &opening.turn else { return Err(FlowError::Unknown("turn")) };
        Ok(learn::build_planner_context(&PlannerInput {
            turn,
            message: message.unwrap_or_default(),
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

    /// The turn that was judged, which is usually among those that are shown.
    async fn load_judged_turn(
        &self,
        opening: &Event,
        previous: &PreviousVerdict,
        past: &[StoredExchange],
    ) -> Result<Option<StoredExchange>, FlowError> {
        if let Some(found) = past.iter().find(|exchange| exchange.turn == previous.turn) {
            return Ok(Some(found.clone()));
        }
        let ids = vec![previous.turn.clone()];
        Ok(self.core.store.exchanges_by_id(&opening.scope, ids).await?.pop())
    }
}

/// What counts for the planner is how the answer stands, not what this message alone says of it: who
/// moves on after a thumb down has not accepted.
fn effective_verdict(said: &Verdict, standing: &Standing) -> Verdict {
    if said.status == standing.status {
        return said.clone();
    }
    Verdict {
        status: standing.status,
        confidence: standing.confidence,
        correction_type: None,
        user_said: standing.user_said.clone(),
        contrast: None,
        ..said.clone()
    }
}

fn to_past_exchange(exchange: &StoredExchange) -> PastExchange<'_> {
    let done = exchange.completion.as_ref();
    PastExchange {
        turn: &exchange.turn,
        question: &exchange.opening.text,
        answer: done.and_then(|done| done.response.as_deref()),
        status: exchange.standing.status,
        strategy: done.and_then(|done| Some(done.strategy.as_ref()?.name.as_str())),
    }
}

/// What somebody likes, from how they took their latest answers: the most frequent first.
fn derive_preferences(habits: Vec<Habit>) -> UserPreferences {
    let mut accepted = FrequencyCount::default();
    let mut rejected = FrequencyCount::default();
    let mut corrections: FrequencyCount<Contrast> = FrequencyCount::default();
    for habit in habits {
        match habit.status {
            VerdictStatus::Accepted => accepted.add(habit.strategy),
            VerdictStatus::Rejected => {
                rejected.add(habit.strategy);
                corrections.add(habit.contrast);
            }
            VerdictStatus::Neutral => {}
        }
    }
    // Said once, it was about one answer.
    let repeated = corrections.most_frequent().into_iter().filter(|(_, count)| *count > 1);
    let corrections = repeated.map(|(contrast, count)| RepeatedCorrection {
        wants: contrast.wants,
        instead_of: contrast.instead_of,
        count,
    });
    UserPreferences {
        accepted_strategies: accepted.most_frequent(),
        rejected_strategies: rejected.most_frequent(),
        corrections: corrections.collect(),
    }
}

/// How often each was seen; of equals the one seen first comes first.
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
    use super::*;

    #[test]
    fn preferences_are_ordered_by_frequency() {
        let habit = |strategy: &str, status, wants: Option<&str>| Habit {
            strategy: Some(strategy.to_owned()),
            status,
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
