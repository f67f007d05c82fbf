//! What a message says about what came before it: a verdict on an earlier answer, or the same
//! question again.
//!
//! ```text
//! message --> the answer before it --> verdict --calibrated--> about which turn? --> finding, reaction
//!         \-> the latest questions  --> retry                                     --> finding
//! ```
//!
//! Looks at the last answered turn and at the latest questions, never at the whole conversation;
//! only a remark about something further back brings older turns in.

use std::time::Duration;

use detect::{Answer, Exchange, Utterance};
use ingest::{MIN_MACHINE_CONFIDENCE, TurnPlace};
use model::{
    Body, Event, Opening, Position, Reaction, Retry, Timestamp, TurnHalf, UnitInterval, Verdict,
    VerdictStatus,
};
use store::{ExchangeQuery, StoredExchange};

use crate::error::FlowError;
use crate::turns::Turns;
use crate::turns::calibration_curves::calibrate_verdict;
use crate::turns::recent_questions::RecentQuestions;

/// Turns that are read to find the last one that can be judged: nearly always the first will do.
const EXCHANGE_LIMITS: [usize; 2] = [2, 20];
/// Clocks of an application's parts may differ by so much.
const MAX_CLOCK_SKEW_SECS: i64 = 5;

/// What a message is heard against.
#[derive(Clone, Copy)]
pub(crate) struct MessageContext<'a> {
    /// The latest questions.
    pub(crate) history: &'a RecentQuestions,
    /// Where the message stands in the log; `None` when it is just coming in.
    pub(crate) position: Option<Position>,
    /// Its conversation was only just given a name: nothing is before it.
    pub(crate) is_first: bool,
}

/// What a message says.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageSignals {
    pub(crate) verdict: Option<DetectedVerdict>,
    pub(crate) retry: Option<Retry>,
}

/// A verdict and whom it is about.
#[derive(Clone, Debug)]
pub(crate) struct DetectedVerdict {
    pub(crate) verdict: Verdict,
    pub(crate) raw_confidence: UnitInterval,
    /// Nobody when that is in doubt.
    pub(crate) target: Option<TurnPlace>,
    /// A person has reviewed it: the machine has nothing to add.
    pub(crate) reviewed: bool,
    pub(crate) target_score: Option<f64>,
}

impl DetectedVerdict {
    /// A weak sign of acceptance: the user went on without a word about the answer.
    pub(super) fn is_moved_on(&self) -> bool {
        self.verdict.status == VerdictStatus::Accepted
            && self.raw_confidence.get() < MIN_MACHINE_CONFIDENCE
    }

    /// What the machine thinks the user thinks, if it is sure enough to say so.
    pub(super) fn machine_reaction(&self) -> Option<Reaction> {
        let sure = self.verdict.confidence.get() >= MIN_MACHINE_CONFIDENCE;
        let speaks = self.verdict.status != VerdictStatus::Neutral && !self.reviewed;
        (sure && speaks).then(|| Reaction::from(self.verdict.status))
    }
}

impl Turns {
    /// Hears what the message that opens a turn says. The event is redacted already.
    pub(crate) async fn detect_message_signals(
        &self,
        event: &Event,
        background: MessageContext<'_>,
    ) -> Result<MessageSignals, FlowError> {
        let Ok(Body::Turn(TurnHalf::Opened(opening))) = Body::read(event.kind, &event.data) else {
            return Ok(MessageSignals::default());
        };
        let message = Utterance::read(&opening.text);
        let before = background.position;
        // Neither waits for the other.
        let (retry, previous) = tokio::try_join!(
            self.detect_retry(event, &message, background.history),
            self.load_last_answered(event, background),
        )?;
        let verdict = match previous {
            None => None,
            Some(previous) => {
                Some(self.detect_verdict(event, before, &message, &opening, &previous).await?)
            }
        };
        Ok(MessageSignals { verdict, retry })
    }

    /// The last answered turn of the conversation before this one that can be judged.
    async fn load_last_answered(
        &self,
        event: &Event,
        background: MessageContext<'_>,
    ) -> Result<Option<StoredExchange>, FlowError> {
        if background.is_first || event.conversation.is_none() {
            return Ok(None);
        }
        for few in EXCHANGE_LIMITS {
            let (found, is_all) = self.load_answered(event, background.position, few).await?;
            let found = found.into_iter().next();
            if found.is_some() || is_all {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The last answered turns of the conversation before this one, the newest first, and whether there
    /// are no more.
    pub(super) async fn load_answered(
        &self,
        event: &Event,
        before: Option<Position>,
        limit: usize,
    ) -> Result<(Vec<StoredExchange>, bool), FlowError> {
        let query = ExchangeQuery {
            scope: event.scope.clone(),
            conversation: event.conversation.clone(),
            user: None,
            until: event.ts,
            before,
            older_than: None,
            only_answered: true,
            limit,
        };
        let mut found = self.core.store.exchanges(query).await?;
        let is_all = found.len() < limit;
        // A repeat of the same request finds the turn itself; what was erased or dropped cannot be
        // judged; and an answer that came after the message was not seen by whoever wrote it.
        found.retain(|exchange| {
            let unseen = |at: Timestamp| at > event.ts.plus_secs(MAX_CLOCK_SKEW_SECS);
            Some(&exchange.turn) != event.turn.as_ref()
                && !exchange.opening.text.is_empty()
                && !exchange.answered_at.is_some_and(unseen)
        });
        Ok((found, is_all))
    }

    async fn detect_verdict(
        &self,
        event: &Event,
        before: Option<Position>,
        message: &Utterance,
        opening: &Opening,
        previous: &StoredExchange,
    ) -> Result<DetectedVerdict, FlowError> {
        let question = Utterance::read(&previous.opening.text);
        let answer = Answer::read(Some(&question), answer_text(previous));
        let found = self.core.detectors.detect_verdict(&Exchange {
            message,
            question: Some(&question),
            answer: Some(&answer),
            intent: opening.intent.as_deref(),
            previous_intent: previous.opening.intent.as_deref(),
            gap: previous.answered_at.map(|at| elapsed_between(at, event.ts)),
        });
        let raw_confidence = found.confidence;
        let verdict =
            calibrate_verdict(&self.core.detectors, self.curves.curve_for(&event.scope), found);
        let (target, target_score) =
            self.resolve_target(event, before, message, &verdict, previous).await?;
        let reviewed = match &target {
            None => false,
            Some(place) if place.turn == previous.turn => previous.standing.review.is_some(),
            Some(place) => self.is_reviewed(place).await?,
        };
        Ok(DetectedVerdict { verdict, raw_confidence, target, reviewed, target_score })
    }

    async fn is_reviewed(&self, place: &TurnPlace) -> Result<bool, FlowError> {
        let ids = vec![place.turn.clone()];
        let found = self.core.store.exchanges_by_id(&place.scope, ids).await?.pop();
        Ok(found.is_some_and(|found| found.standing.review.is_some()))
    }
}

pub(super) fn answer_text(turn: &StoredExchange) -> &str {
    turn.completion.as_ref().and_then(|done| done.response.as_deref()).unwrap_or_default()
}

/// Time between two moments; clocks that run backwards make it none.
pub(super) fn elapsed_between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::from_micros(u64::try_from(to.as_micros() - from.as_micros()).unwrap_or(0))
}
