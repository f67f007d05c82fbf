//! Builds the response of a turn from its stored findings, the same for the first request and
//! for a repeat.

use model::{
    Body, Event, Finding, Position, Redacted, Retry, Scope, TurnId, Verdict, artifact_id,
    resource_name,
};
use store::{EventPage, UserTurns};

use crate::answer_signals::AnswerSignals;

use crate::error::EngineError;
use crate::turns::Turns;

/// Maximum events in the commit of an opening or a completion.
const MAX_BATCH_EVENTS: usize = 8;
/// Maximum length of a rejection streak.
const MAX_STREAK_TURNS: usize = 20;
const SHORT_STREAK_TURNS: usize = 4;

/// A message's verdict on an earlier turn.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviousVerdict {
    /// The turn that was judged.
    pub turn: TurnId,
    pub verdict: Verdict,
    /// Number of the user's latest answers rejected in a row.
    pub rejection_streak: u32,
    /// Resource name of the machine reaction, if one was stored.
    pub rn: Option<String>,
}

/// Findings of a turn's message.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TurnFindings {
    pub(crate) previous: Option<PreviousVerdict>,
    pub(crate) retry: Option<Retry>,
}

impl Turns {
    /// Reads the findings of a turn's message from stored events.
    pub(crate) async fn read_findings(
        &self,
        opening: &Event,
        position: Position,
        events: &[Redacted<Event>],
    ) -> Result<TurnFindings, EngineError> {
        let mut findings = TurnFindings::default();
        let (scope, Some(turn)) = (&opening.scope, &opening.turn) else { return Ok(findings) };
        for event in events {
            if let Body::Finding(Finding::Verdict(found)) = &event.body
                && found.detected_in == *turn
            {
                findings.previous = event.turn.clone().map(|judged| PreviousVerdict {
                    turn: judged,
                    verdict: found.verdict.clone(),
                    rejection_streak: 0,
                    rn: None,
                });
            }
            if let Body::Finding(Finding::Retry(found)) = &event.body
                && found.detected_in.as_ref() == Some(turn)
            {
                findings.retry = event.turn.clone().map(|original_turn_id| Retry {
                    original_turn_id,
                    similarity: found.similarity,
                    delay_seconds: found.delay_seconds,
                    intent: found.intent,
                });
            }
            if let Body::Reaction(given) = &event.body
                && given.detected_in.as_ref() == Some(turn)
            {
                let rn = reaction_name(scope, event);
                findings.previous =
                    findings.previous.map(|previous| PreviousVerdict { rn, ..previous });
            }
        }
        if let (Some(previous), Some(conversation)) =
            (&mut findings.previous, &opening.conversation)
        {
            // The streak as of this message, also for a later repeat of the request.
            let until = (opening.ts, position);
            // Most streaks are short, so a small read comes first.
            for most in [SHORT_STREAK_TURNS, MAX_STREAK_TURNS] {
                let turns = UserTurns {
                    scope: scope.clone(),
                    conversation: conversation.clone(),
                    user: opening.user.clone(),
                };
                let latest = self.core.store.statuses(turns, until, most).await?;
                let streak =
                    learn::count_rejection_streak(latest.into_iter().map(|(_, status)| status));
                previous.rejection_streak = streak;
                if streak < SHORT_STREAK_TURNS as u32 {
                    break;
                }
            }
        }
        Ok(findings)
    }

    /// Reads the events that were committed together with the one at `position`.
    pub(crate) async fn read_batch(
        &self,
        scope: &Scope,
        position: Position,
    ) -> Result<Vec<Redacted<Event>>, EngineError> {
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

/// Reads the signals of a turn's answer from stored events.
pub(crate) fn read_answer_signals(
    turn: &TurnId,
    events: &[Redacted<Event>],
) -> Option<AnswerSignals> {
    let mut of_turn = events.iter().filter(|event| event.turn.as_ref() == Some(turn));
    of_turn.find_map(|event| {
        let Body::Finding(Finding::Answer(found)) = &event.body else { return None };
        Some(AnswerSignals { failure: found.error.clone(), pace: found.latency })
    })
}

fn reaction_name(scope: &Scope, event: &Event) -> Option<String> {
    let artifact = artifact_id(event.ts, &event.id);
    let (user, conversation) = (event.user.as_ref(), event.conversation.as_ref());
    Some(resource_name(scope, user, conversation, event.turn.as_ref()?, &artifact))
}
