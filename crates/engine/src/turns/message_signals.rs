//! Detects a message's signals about earlier turns: a verdict on an answer, or a retry.
//!
//! ```text
//! message --> the named answer, else the last --> verdict --calibrate--> target --> finding, reaction
//!         \-> the latest questions            --> retry                        --> finding
//! ```
//!
//! Reads the last answered turn and the latest questions. Older turns are read only for a remark
//! that may name one. In a conversation with several users, a message judges the answers that its
//! user saw: those to turns of the same user and to turns without a user. A message without a user
//! may judge any answer.

use std::sync::Arc;
use std::time::Duration;

use detect::{Answer, Exchange, Utterance, is_uncertain};
use ingest::{MIN_MACHINE_CONFIDENCE, TurnPlace};
use model::{
    ConversationId, Event, Opening, Position, Reaction, Retry, Scope, Timestamp, UnitInterval,
    Verdict, VerdictStatus,
};
use store::{ConversationTail, MessagePosition, StoredExchange, TailLimits, UserTurns};

use crate::error::EngineError;
use crate::turns::Turns;
use crate::turns::agreement::reconcile_signals;
use crate::turns::calibration::calibrate_verdict;
use crate::turns::reader::{ReaderTexts, Reading};
use crate::turns::recent_questions::RecentQuestions;

/// Turns read to find the last one that can be judged. The first attempt nearly always suffices.
const EXCHANGE_LIMITS: [usize; 2] = [2, 20];
/// Turns after a question that are searched for messages about its late answer.
const MAX_LATER_TURNS: usize = 20;
/// Tolerated clock skew between parts of an application.
const MAX_CLOCK_SKEW_SECS: i64 = 5;
/// Time after a question in which a stored message may be about its late answer.
const LATE_ANSWER_SECS: i64 = 60 * 60;

/// Context for the detectors of a message.
#[derive(Clone, Copy)]
pub(crate) struct MessageContext<'a> {
    pub(crate) history: &'a RecentQuestions,
    /// The message's position in the log; `None` for an incoming one.
    pub(crate) position: Option<Position>,
    /// True when the message starts a new conversation.
    pub(crate) is_first: bool,
    /// An answer that is about to be stored, after the message.
    pub(crate) late_answer: Option<&'a StoredExchange>,
    /// The end of an incoming message's conversation, if it is loaded already.
    pub(crate) tail: Option<&'a ConversationTail>,
    pub(crate) reading: Reading,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct MessageSignals {
    pub(crate) verdict: Option<DetectedVerdict>,
    pub(crate) retry: Option<Retry>,
}

impl MessageSignals {
    /// Removes a contradiction between a verdict and a retry about the same turn.
    pub(super) fn reconcile(&mut self) {
        if let (Some(found), Some(retry)) = (&mut self.verdict, &mut self.retry)
            && found.target.as_ref().is_some_and(|target| target.turn == retry.original_turn_id)
        {
            reconcile_signals(&mut found.verdict, retry);
        }
    }
}

/// A verdict with the turn that it refers to.
#[derive(Clone, Debug)]
pub(crate) struct DetectedVerdict {
    pub(crate) verdict: Verdict,
    pub(crate) raw_confidence: UnitInterval,
    /// `None` when the target is uncertain.
    pub(crate) target: Option<TurnPlace>,
    pub(crate) reader: ReaderShare,
    /// A person has reviewed the target, so no machine reaction is stored.
    pub(crate) reviewed: bool,
    pub(crate) target_score: Option<f64>,
}

/// The reader's share in a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReaderShare {
    /// The instant models were sure, or there is no reader.
    None,
    /// The reader has not judged the message yet.
    Pending,
    Judged,
    /// A chat model judged it, because the reader was uncertain.
    JudgedByLlm,
}

impl DetectedVerdict {
    /// True for weak acceptance: the user continued without a comment on the answer.
    pub(super) fn is_moved_on(&self) -> bool {
        self.verdict.status == VerdictStatus::Accepted
            && self.raw_confidence.get() < MIN_MACHINE_CONFIDENCE
    }

    /// The machine reaction to store, if the confidence suffices.
    pub(super) fn machine_reaction(&self) -> Option<Reaction> {
        let sure = self.verdict.confidence.get() >= MIN_MACHINE_CONFIDENCE;
        let speaks = self.verdict.status != VerdictStatus::Neutral && !self.reviewed;
        (sure && speaks).then(|| Reaction::from(self.verdict.status))
    }
}

/// A message with its context.
struct JudgedMessage<'a> {
    event: &'a Event,
    background: MessageContext<'a>,
    message: &'a Utterance,
    opening: &'a Opening,
    /// Time since the last answer.
    gap: Option<Duration>,
}

/// The turn that a verdict is about, and its score.
pub(super) type ScoredTarget = (Option<TurnPlace>, Option<f64>);

/// A verdict without its target.
struct CalibratedVerdict {
    verdict: Verdict,
    raw_confidence: UnitInterval,
    reader: ReaderShare,
}

impl Turns {
    /// Runs the detectors on the message that opens a turn. `event` is already redacted.
    pub(crate) async fn detect_message_signals(
        &self,
        event: &Event,
        background: MessageContext<'_>,
    ) -> Result<MessageSignals, EngineError> {
        let Some(opening) = event.body.opening() else { return Ok(MessageSignals::default()) };
        let message = Utterance::read(&opening.text);
        let (retry, verdict) = tokio::try_join!(
            self.detect_retry(event, &message, background.history),
            self.detect_verdict_of(event, &message, opening, background),
        )?;
        let mut signals = MessageSignals { verdict, retry };
        signals.reconcile();
        Ok(signals)
    }

    /// Loads the end of the conversation that an incoming message continues.
    pub(super) async fn load_tail(&self, message: &Event) -> Result<ConversationTail, EngineError> {
        let Some(conversation) = message.conversation.clone() else {
            return Ok(ConversationTail::default());
        };
        let (scope, user) = (message.scope.clone(), message.user.clone());
        let limits = TailLimits {
            answered: EXCHANGE_LIMITS[0],
            later: MAX_LATER_TURNS + 1,
            later_until: message.ts.plus_secs(LATE_ANSWER_SECS),
        };
        let turns = UserTurns { scope, conversation, user };
        Ok(self.core.store.conversation_tail(turns, message.ts, limits).await?)
    }

    /// Loads the turns that may hold messages about the late answer to a question.
    pub(super) async fn load_later_turns(
        &self,
        scope: Scope,
        conversation: ConversationId,
        asked: Timestamp,
    ) -> Result<Vec<StoredExchange>, EngineError> {
        // Turns of all users: a message without a user may be about any of them.
        let turns = UserTurns { scope, conversation, user: None };
        let period = (asked, asked.plus_secs(LATE_ANSWER_SECS));
        Ok(self.core.store.turns_between(turns, period, MAX_LATER_TURNS + 1).await?)
    }

    /// Detects the verdict alone.
    pub(super) async fn detect_message_verdict(
        &self,
        event: &Event,
        background: MessageContext<'_>,
    ) -> Result<Option<DetectedVerdict>, EngineError> {
        let Some(opening) = event.body.opening() else { return Ok(None) };
        let message = Utterance::read(&opening.text);
        self.detect_verdict_of(event, &message, opening, background).await
    }

    async fn detect_verdict_of(
        &self,
        event: &Event,
        message: &Utterance,
        opening: &Opening,
        background: MessageContext<'_>,
    ) -> Result<Option<DetectedVerdict>, EngineError> {
        match self.load_last_answered(event, background).await? {
            None => Ok(None),
            Some(previous) => {
                self.detect_verdict(event, background, message, opening, &previous).await.map(Some)
            }
        }
    }

    /// The last answer in the conversation that the message's user saw.
    async fn load_last_answered(
        &self,
        event: &Event,
        background: MessageContext<'_>,
    ) -> Result<Option<StoredExchange>, EngineError> {
        if background.is_first {
            return Ok(None);
        }
        let mut last = None;
        for few in EXCHANGE_LIMITS {
            let (found, is_all) = self.load_answered(event, background, few).await?;
            last = found.into_iter().next();
            let is_sent = last.as_ref().is_some_and(|exchange| !exchange.opening.derived);
            if is_sent || is_all {
                break;
            }
        }
        Ok(last)
    }

    /// The answered turns of the message's user before this one, newest first. Quoted turns count
    /// only without a turn that was sent, because they may be copies of it. The flag is `true` when
    /// there are no more.
    pub(super) async fn load_answered(
        &self,
        event: &Event,
        background: MessageContext<'_>,
        limit: usize,
    ) -> Result<(Vec<StoredExchange>, bool), EngineError> {
        let Some(conversation) = event.conversation.clone() else { return Ok((Vec::new(), true)) };
        let (scope, user) = (event.scope.clone(), event.user.clone());
        let late_since = event.ts.plus_secs(-LATE_ANSWER_SECS);
        let stored_at =
            background.position.map(|position| MessagePosition { position, late_since });
        let turns = UserTurns { scope, conversation, user };
        let mut found = match background.tail {
            Some(tail) if limit == EXCHANGE_LIMITS[0] => tail.answered.clone(),
            Some(_) | None => {
                self.core.store.answered_turns(turns, event.ts, stored_at, limit).await?
            }
        };
        let is_all = found.len() < limit;
        if let Some(late) = background.late_answer {
            let order = |turn: &StoredExchange| (turn.ts, turn.opened);
            let at = found.partition_point(|turn| order(turn) > order(late));
            found.insert(at, late.clone());
        }
        // Excluded: the turn itself (found by a repeated request), erased or dropped turns, and
        // answers that the user had not seen.
        found.retain(|exchange| {
            Some(&exchange.turn) != event.turn.as_ref()
                && !exchange.opening.text.is_empty()
                && was_seen(exchange, event.ts)
        });
        if found.iter().any(|exchange| !exchange.opening.derived) {
            found.retain(|exchange| !exchange.opening.derived);
        }
        Ok((found, is_all))
    }

    /// Judges the message with the turn that it names, if that gives a clear verdict, else with the
    /// last answered turn.
    async fn detect_verdict(
        &self,
        event: &Event,
        background: MessageContext<'_>,
        message: &Utterance,
        opening: &Opening,
        previous: &StoredExchange,
    ) -> Result<DetectedVerdict, EngineError> {
        // The session continues with the last answer, whichever is judged.
        let gap = previous.answered_at.map(|at| elapsed_between(at, event.ts));
        let input = JudgedMessage { event, background, message, opening, gap };
        let mut is_pending = false;
        if let Some(named) = self.find_named_turn(event, background, message, previous).await? {
            let judged = self.judge_message(&input, &named.0).await;
            is_pending = judged.reader == ReaderShare::Pending;
            let is_sure = judged.verdict.confidence.get() >= MIN_MACHINE_CONFIDENCE;
            let target = self.confirm_named_turn(event, message, &judged.verdict, &named);
            if let Some(target) = target.filter(|_| is_sure) {
                return self.complete_verdict(judged, target, previous).await;
            }
        }
        let mut judged = self.judge_message(&input, previous).await;
        if is_pending {
            judged.reader = ReaderShare::Pending;
        }
        let target =
            self.resolve_target(event, background, message, &judged.verdict, previous).await?;
        self.complete_verdict(judged, target, previous).await
    }

    /// Judges a message with a turn's question and answer.
    async fn judge_message(
        &self,
        input: &JudgedMessage<'_>,
        exchange: &StoredExchange,
    ) -> CalibratedVerdict {
        let JudgedMessage { event, background, message, opening, gap } = *input;
        let question = Utterance::read(&exchange.opening.text);
        let answer = Answer::read(Some(&question), answer_text(exchange));
        let mut found = self.core.detectors.detect_verdict(&Exchange {
            message,
            question: Some(&question),
            answer: Some(&answer),
            intent: opening.intent.as_deref(),
            previous_intent: exchange.opening.intent.as_deref(),
            gap,
        });
        let texts = || {
            Arc::new(ReaderTexts {
                message: opening.clone(),
                question: exchange.opening.clone(),
                answer: answer_text(exchange).to_owned(),
                gap,
            })
        };
        let reader;
        (found, reader) = self.read_unsure_verdict(found, background.reading, texts).await;
        let raw_confidence = found.confidence;
        let verdict =
            calibrate_verdict(&self.core.detectors, self.curves.curve_for(&event.scope), found);
        CalibratedVerdict { verdict, raw_confidence, reader }
    }

    async fn complete_verdict(
        &self,
        judged: CalibratedVerdict,
        (target, target_score): ScoredTarget,
        previous: &StoredExchange,
    ) -> Result<DetectedVerdict, EngineError> {
        let reviewed = match &target {
            None => false,
            Some(place) if place.turn == previous.turn => previous.standing.review.is_some(),
            Some(place) => self.is_reviewed(place).await?,
        };
        let CalibratedVerdict { verdict, raw_confidence, reader } = judged;
        Ok(DetectedVerdict { verdict, raw_confidence, target, reader, reviewed, target_score })
    }

    /// The verdict with the reader, and with the chat model where the reader is uncertain too.
    async fn read_unsure_verdict(
        &self,
        instant: Verdict,
        reading: Reading,
        texts: impl Fn() -> Arc<ReaderTexts>,
    ) -> (Verdict, ReaderShare) {
        let (mut found, mut share) = (instant, ReaderShare::None);
        if self.core.detectors.needs_reading(&found) {
            match self.reader.read(reading, texts()).await {
                Some(verdict) => (found, share) = (verdict, ReaderShare::Judged),
                None => return (found, ReaderShare::Pending),
            }
        }
        let Some(llm) = self.llm.as_ref().filter(|_| is_uncertain(&found)) else {
            return (found, share);
        };
        let asked = match reading {
            Reading::Later | Reading::Now => None,
            Reading::WithinBudget => llm.ask_within_budget(&found, &texts()).await,
            Reading::NowWithLlm => llm.ask(&found, &texts()).await,
        };
        match asked {
            Some(verdict) => (verdict, ReaderShare::JudgedByLlm),
            None => (found, share),
        }
    }

    async fn is_reviewed(&self, place: &TurnPlace) -> Result<bool, EngineError> {
        let ids = vec![place.turn.clone()];
        let found = self.core.store.exchanges_by_id(&place.scope, ids).await?.pop();
        Ok(found.is_some_and(|found| found.standing.review.is_some()))
    }
}

/// True when the user had seen the answer at the time of a message. Only a time given by the
/// application shows that it came later. The time of arrival does not: answers are logged late.
pub(super) fn was_seen(turn: &StoredExchange, message: Timestamp) -> bool {
    let completed_at = turn.completion.as_ref().and_then(|done| done.completed_at);
    completed_at.is_none_or(|at| at <= message.plus_secs(MAX_CLOCK_SKEW_SECS))
}

pub(super) fn answer_text(turn: &StoredExchange) -> &str {
    turn.completion.as_ref().and_then(|done| done.response.as_deref()).unwrap_or_default()
}

/// Time between two moments; zero when `to` is before `from`.
pub(super) fn elapsed_between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::from_micros(u64::try_from(to.as_micros() - from.as_micros()).unwrap_or(0))
}
