//! What is told of a turn, read from the events that keep it: the same for the first request and
//! for its repeat.

use model::{
    Body, Event, Failure, Finding, GivenReaction, Pace, Position, Retry, Scope, TurnId, Verdict,
    artifact_id, resource_name,
};
use store::EventPage;

use crate::error::FlowError;
use crate::turns::Turns;

/// Events that are kept together with an opening or a completion at the most.
const MAX_BATCH_EVENTS: usize = 8;
/// How many of the latest turns a streak can have.
const MAX_STREAK_TURNS: usize = 20;
const SHORT_STREAK_TURNS: usize = 4;

/// What a message says about an earlier turn.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviousVerdict {
    /// The turn it is about.
    pub turn: TurnId,
    /// What it says.
    pub verdict: Verdict,
    /// How many of the latest answers in a row were rejected.
    pub rejection_streak: u32,
    /// The reaction that was written, if one was.
    pub rn: Option<String>,
}

/// What an answer shows by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerSignals {
    /// Whether it failed.
    pub failure: Failure,
    /// How long it took, if that is known.
    pub pace: Option<Pace>,
}

/// What was heard in the message of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TurnFindings {
    pub(crate) previous: Option<PreviousVerdict>,
    pub(crate) retry: Option<Retry>,
}

impl Turns {
    /// What was heard in a turn's message, from the events that keep it.
    pub(crate) async fn read_findings(
        &self,
        opening: &Event,
        position: Position,
        events: &[Event],
    ) -> Result<TurnFindings, FlowError> {
        let mut told = TurnFindings::default();
        let (scope, Some(turn)) = (&opening.scope, &opening.turn) else { return Ok(told) };
        for event in events {
            match Body::read(event.kind, &event.data) {
                Ok(Body::Finding(Finding::Verdict(found))) if found.detected_in == *turn => {
                    told.previous = event.turn.clone().map(|judged| PreviousVerdict {
                        turn: judged,
                        verdict: found.verdict,
                        rejection_streak: 0,
                        rn: None,
                    });
                }
                Ok(Body::Finding(Finding::Retry(found)))
                    if found.detected_in.as_ref() == Some(turn) =>
                {
                    told.retry = event.turn.clone().map(|original_turn_id| Retry {
                        original_turn_id,
                        similarity: found.similarity,
                        delay_seconds: found.delay_seconds,
                        intent: found.intent,
                    });
                }
                Ok(Body::Reaction(given)) if is_detected_in(&given, turn) => {
                    let rn = reaction_name(scope, event);
                    told.previous =
                        told.previous.map(|previous| PreviousVerdict { rn, ..previous });
                }
                Ok(_) | Err(_) => {}
            }
        }
        if let (Some(previous), Some(conversation)) = (&mut told.previous, &opening.conversation) {
            // As it was for this message, even if it is told again later.
            let until = (opening.ts, position);
            // A streak is rarely long.
            for most in [SHORT_STREAK_TURNS, MAX_STREAK_TURNS] {
                let latest = self.core.store.statuses(scope, conversation, until, most).await?;
                let streak = learn::rejection_streak(latest.into_iter().map(|(_, status)| status));
                previous.rejection_streak = streak;
                if streak < SHORT_STREAK_TURNS as u32 {
                    break;
                }
            }
        }
        Ok(told)
    }

    /// The events that were stored together with the one at a position.
    pub(crate) async fn read_batch(
        &self,
        scope: &Scope,
        position: Position,
    ) -> Result<Vec<Event>, FlowError> {
        let page = EventPage {
            scope: scope.clone(),
            after: position,
            limit: MAX_BATCH_EVENTS,
            any_of: Vec::new(),
        };
        let found = self.core.store.events(page).await?;
        let follow = |(number, stored): &(u64, store::StoredEvent)| stored.position.0 == *number;
        let numbers = position.0 + 1..;
        Ok(numbers.zip(found).take_while(follow).map(|(_, stored)| stored.event).collect())
    }
}

/// What an answer shows, from the events that keep it.
pub(crate) fn read_answer_signals(turn: &TurnId, events: &[Event]) -> Option<AnswerSignals> {
    let of_turn = events.iter().filter(|event| event.turn.as_ref() == Some(turn));
    let mut found = of_turn.filter_map(|event| match Body::read(event.kind, &event.data) {
        Ok(Body::Finding(Finding::Answer(found))) => {
            Some(AnswerSignals { failure: found.error, pace: found.latency })
        }
        Ok(_) | Err(_) => None,
    });
    found.next()
}

fn is_detected_in(given: &GivenReaction, turn: &TurnId) -> bool {
    given.detected_in.as_ref() == Some(turn)
}

fn reaction_name(scope: &Scope, event: &Event) -> Option<String> {
    let artifact = artifact_id(event.ts, &event.id);
    let (user, conversation) = (event.user.as_ref(), event.conversation.as_ref());
    Some(resource_name(scope, user, conversation, event.turn.as_ref()?, &artifact))
}
