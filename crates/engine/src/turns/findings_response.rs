//! What is told of a turn, read from the events that keep it: the same for the first request and
//! for its repeat.

use model::{
    Body, Event, Finding, GivenReaction, Position, Retry, Scope, TurnId, Verdict, artifact_id,
    resource_name,
};
use store::EventPage;

use crate::answer_signals::Signals;
use crate::error::EngineError;
use crate::turns::Turns;

/// Events that are kept together with an opening or a completion at the most.
const MOST_TOGETHER: usize = 8;
/// How many of the latest turns a streak can have.
const MOST_STREAK: usize = 20;
const SHORT_STREAK: usize = 4;

/// What a message says about an earlier turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Previous {
    /// The turn it is about.
    pub turn: TurnId,
    /// What it says.
    pub verdict: Verdict,
    /// How many of the latest answers in a row were rejected.
    pub rejection_streak: u32,
    /// The reaction that was written, if one was.
    pub rn: Option<String>,
}

/// What was heard in the message of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Told {
    pub(crate) previous: Option<Previous>,
    pub(crate) retry: Option<Retry>,
}

impl Turns {
    /// What was heard in a turn's message, from the events that keep it.
    pub(crate) async fn told(
        &self,
        opening: &Event,
        position: Position,
        events: &[Event],
    ) -> Result<Told, EngineError> {
        let mut told = Told::default();
        let (scope, Some(turn)) = (&opening.scope, &opening.turn) else { return Ok(told) };
        for event in events {
            match Body::read(event.kind, &event.data) {
                Ok(Body::Finding(Finding::Verdict(found))) if found.detected_in == *turn => {
                    told.previous = event.turn.clone().map(|judged| Previous {
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
                Ok(Body::Reaction(given)) if is_of(&given, turn) => {
                    let rn = name_of(scope, event);
                    told.previous = told.previous.map(|previous| Previous { rn, ..previous });
                }
                Ok(_) | Err(_) => {}
            }
        }
        if let (Some(previous), Some(conversation)) = (&mut told.previous, &opening.conversation) {
            // As it was for this message, even if it is told again later.
            let until = (opening.ts, position);
            // A streak is rarely long.
            for most in [SHORT_STREAK, MOST_STREAK] {
                let latest = self.core.store.statuses(scope, conversation, until, most).await?;
                let streak =
                    learn::count_rejection_streak(latest.into_iter().map(|(_, status)| status));
                previous.rejection_streak = streak;
                if streak < SHORT_STREAK as u32 {
                    break;
                }
            }
        }
        Ok(told)
    }

    /// The events that were stored together with the one at a position.
    pub(crate) async fn stored_with(
        &self,
        scope: &Scope,
        position: Position,
    ) -> Result<Vec<Event>, EngineError> {
        let page = EventPage {
            scope: scope.clone(),
            after: position,
            limit: MOST_TOGETHER,
            any_of: Vec::new(),
        };
        let found = self.core.store.events(page).await?;
        let follow = |(number, stored): &(u64, store::StoredEvent)| stored.position.0 == *number;
        let numbers = position.0 + 1..;
        Ok(numbers.zip(found).take_while(follow).map(|(_, stored)| stored.event).collect())
    }
}

/// What an answer shows, from the events that keep it.
pub(crate) fn signals_of(turn: &TurnId, events: &[Event]) -> Option<Signals> {
    let of_turn = events.iter().filter(|event| event.turn.as_ref() == Some(turn));
    let mut found = of_turn.filter_map(|event| match Body::read(event.kind, &event.data) {
        Ok(Body::Finding(Finding::Answer(found))) => {
            Some(Signals { failure: found.error, pace: found.latency })
        }
        Ok(_) | Err(_) => None,
    });
    found.next()
}

fn is_of(given: &GivenReaction, turn: &TurnId) -> bool {
    given.detected_in.as_ref() == Some(turn)
}

fn name_of(scope: &Scope, event: &Event) -> Option<String> {
    let artifact = artifact_id(event.ts, &event.id);
    let (user, conversation) = (event.user.as_ref(), event.conversation.as_ref());
    Some(resource_name(scope, user, conversation, event.turn.as_ref()?, &artifact))
}
