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

use capture::{FindingPlace, MIN_MACHINE_CONFIDENCE, TurnPlace};
use detect::{
    Answer, Candidate, Exchange, PastQuestion, PastTurn, Target, Utterance, answer_head,
    find_target, locate, may_be_about_earlier, may_be_retry,
};
use event::{
    Body, Entry, Event, Finding, FoundRetry, FoundVerdict, GivenReaction, Opening, Origin,
    Position, Reaction, Retry, Timestamp, TurnHalf, TurnId, UnitInterval, Vector, Verdict,
    VerdictStatus,
};
use store::{Asked, Asker, ExchangeQuery, StoredExchange};

use crate::calibrate::calibrated;
use crate::changes::{changes_of, opening_of, question_vector};
use crate::engine::Engine;
use crate::error::FlowError;
use crate::history::History;

/// Characters of a message that are kept as what the user said.
const SAID_CHARS: usize = 1000;
/// Answered turns that a remark about something earlier is compared with.
const MOST_LOOKED_AT: usize = 300;
/// Turns that are read to find the last one that can be judged: nearly always the first will do.
const FEW: [usize; 2] = [2, 20];
/// Clocks of an application's parts may differ by so much.
const SKEW_SECS: i64 = 5;

/// What a message is heard against.
#[derive(Clone, Copy)]
pub(crate) struct Background<'a> {
    /// The latest questions.
    pub(crate) history: &'a History,
    /// Where the message stands in the log; `None` when it is just coming in.
    pub(crate) position: Option<Position>,
    /// Its conversation was only just given a name: nothing is before it.
    pub(crate) is_first: bool,
}

/// What a message says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    pub(crate) verdict: Option<HeardVerdict>,
    pub(crate) retry: Option<Retry>,
}

/// A verdict and whom it is about.
#[derive(Clone, Debug)]
pub(crate) struct HeardVerdict {
    pub(crate) verdict: Verdict,
    pub(crate) raw_confidence: UnitInterval,
    /// Nobody when that is in doubt.
    pub(crate) target: Option<TurnPlace>,
    /// A person has reviewed it: the machine has nothing to add.
    pub(crate) reviewed: bool,
    pub(crate) target_score: Option<f64>,
}

impl HeardVerdict {
    /// A weak sign of acceptance: the user went on without a word about the answer.
    fn moved_on(&self) -> bool {
        self.verdict.status == VerdictStatus::Accepted
            && self.raw_confidence.get() < MIN_MACHINE_CONFIDENCE
    }

    /// What the machine thinks the user thinks, if it is sure enough to say so.
    fn reaction(&self) -> Option<Reaction> {
        let sure = self.verdict.confidence.get() >= MIN_MACHINE_CONFIDENCE;
        let speaks = self.verdict.status != VerdictStatus::Neutral && !self.reviewed;
        (sure && speaks).then(|| Reaction::from(self.verdict.status))
    }
}

impl Engine {
    /// Hears what the message that opens a turn says. The event is redacted already.
    pub(crate) async fn hear(
        &self,
        event: &Event,
        background: Background<'_>,
    ) -> Result<Heard, FlowError> {
        let Ok(Body::Turn(TurnHalf::Opened(opening))) = Body::read(event.kind, &event.data) else {
            return Ok(Heard::default());
        };
        let message = Utterance::read(&opening.text);
        let before = background.position;
        // Neither waits for the other.
        let (retry, previous) = tokio::try_join!(
            self.hear_retry(event, &message, background.history),
            self.last_before(event, background),
        )?;
        let verdict = match previous {
            None => None,
            Some(previous) => {
                Some(self.hear_verdict(event, before, &message, &opening, &previous).await?)
            }
        };
        Ok(Heard { verdict, retry })
    }

    /// The last answered turn of the conversation before this one that can be judged.
    async fn last_before(
        &self,
        event: &Event,
        background: Background<'_>,
    ) -> Result<Option<StoredExchange>, FlowError> {
        if background.is_first || event.conversation.is_none() {
            return Ok(None);
        }
        for few in FEW {
            let (found, is_all) = self.answered_before(event, background.position, few).await?;
            let found = found.into_iter().next();
            if found.is_some() || is_all {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The last answered turns of the conversation before this one, the newest first, and whether there
    /// are no more.
    async fn answered_before(
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
        let mut found = self.store.exchanges(query).await?;
        let is_all = found.len() < limit;
        // A repeat of the same request finds the turn itself; what was erased or dropped cannot be
        // judged; and an answer that came after the message was not seen by whoever wrote it.
        found.retain(|exchange| {
            let unseen = |at: Timestamp| at > event.ts.plus_secs(SKEW_SECS);
            Some(&exchange.turn) != event.turn.as_ref()
                && !exchange.opening.text.is_empty()
                && !exchange.answered_at.is_some_and(unseen)
        });
        Ok((found, is_all))
    }

    async fn hear_verdict(
        &self,
        event: &Event,
        before: Option<Position>,
        message: &Utterance,
        opening: &Opening,
        previous: &StoredExchange,
    ) -> Result<HeardVerdict, FlowError> {
        let question = Utterance::read(&previous.opening.text);
        let answer = Answer::read(Some(&question), answer_of(previous));
        let found = self.detectors.verdict(&Exchange {
            message,
            question: Some(&question),
            answer: Some(&answer),
            intent: opening.intent.as_deref(),
            previous_intent: previous.opening.intent.as_deref(),
            gap: previous.answered_at.map(|at| since(at, event.ts)),
        });
        let raw_confidence = found.confidence;
        let verdict = calibrated(&self.detectors, self.curves.of(&event.scope), found);
        let (target, target_score) =
            self.target_of(event, before, message, &verdict, previous).await?;
        let reviewed = match &target {
            None => false,
            Some(place) if place.turn == previous.turn => previous.standing.review.is_some(),
            Some(place) => self.is_reviewed(place).await?,
        };
        Ok(HeardVerdict { verdict, raw_confidence, target, reviewed, target_score })
    }

    async fn is_reviewed(&self, place: &TurnPlace) -> Result<bool, FlowError> {
        let ids = vec![place.turn.clone()];
        let found = self.store.exchanges_by_id(&place.scope, ids).await?.pop();
        Ok(found.is_some_and(|found| found.standing.review.is_some()))
    }

    /// Whom a verdict is about. Older turns are only looked at when the message points at them.
    async fn target_of(
        &self,
        event: &Event,
        before: Option<Position>,
        message: &Utterance,
        verdict: &Verdict,
        previous: &StoredExchange,
    ) -> Result<(Option<TurnPlace>, Option<f64>), FlowError> {
        if !may_be_about_earlier(verdict, message) {
            return Ok((Some(place_of(event, previous)), None));
        }
        let (past, _) = self.answered_before(event, before, MOST_LOOKED_AT + 1).await?;
        let turns: Vec<PastTurn<'_>> = past.iter().map(|turn| past_turn(event, turn)).collect();
        match find_target(&self.detectors.target, verdict, message, &turns) {
            Target::Previous => Ok((Some(place_of(event, previous)), None)),
            Target::Earlier(found) => {
                let turn = past.iter().find(|turn| turn.turn == found.turn);
                // Nothing is accepted across a silence.
                let accepts = verdict.status == VerdictStatus::Accepted;
                let turn = turn.filter(|turn| !accepts || !self.silence_since(event, turn, &past));
                Ok((turn.map(|turn| place_of(event, turn)), Some(found.score)))
            }
            Target::Nobody if self.detectors.elsewhere => {
                self.elsewhere(event, before, message).await
            }
            Target::Nobody => Ok((None, None)),
        }
    }

    /// Whether the conversation went silent between a turn and a message. `past`: the newest first.
    fn silence_since(&self, event: &Event, turn: &StoredExchange, past: &[StoredExchange]) -> bool {
        let mut next = event.ts;
        for exchange in past {
            let answered = exchange.answered_at.unwrap_or(exchange.ts);
            if since(answered, next) > self.detectors.verdict.session {
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
    ) -> Result<(Option<TurnPlace>, Option<f64>), FlowError> {
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
        let mut past = self.store.exchanges(query).await?;
        past.retain(|turn| turn.conversation != event.conversation);
        let remark = question_vector(message.original());
        let vectors: Vec<(Vector, Vector)> = past
            .iter()
            .map(|turn| (question_vector(&turn.opening.text), answer_vector(turn)))
            .collect();
        let candidates: Vec<Candidate<'_>> = past
            .iter()
            .zip(&vectors)
            .map(|(turn, (question, answer))| Candidate {
                turn: &turn.turn,
                question,
                answer: Some(answer),
                age: since(turn.ts, event.ts),
            })
            .collect();
        let found = locate(&self.detectors.target, &remark, &candidates).into_iter().next();
        let turn = found.as_ref().and_then(|at| past.iter().find(|turn| turn.turn == at.turn));
        Ok((turn.map(|turn| place_of(event, turn)), found.map(|found| found.score)))
    }

    async fn hear_retry(
        &self,
        event: &Event,
        message: &Utterance,
        history: &History,
    ) -> Result<Option<Retry>, FlowError> {
        let Some(asker) = Asker::of(event) else { return Ok(None) };
        let mut recent = history.recent(&asker, event.ts).await;
        recent.retain(|(asked, _)| Some(&asked.turn) != event.turn.as_ref());
        loop {
            let Some(retry) = self.retry_among(message, &recent) else { return Ok(None) };
            if !history.is_shared() || self.is_there(event, &retry.original_turn_id).await? {
                return Ok(Some(retry));
            }
            recent.retain(|(asked, _)| asked.turn != retry.original_turn_id);
        }
    }

    fn retry_among(&self, message: &Utterance, recent: &[(Asked, Duration)]) -> Option<Retry> {
        let rule = &self.detectors.retry;
        let near: Vec<(&Asked, Duration, Utterance)> = recent
            .iter()
            .filter(|(asked, _)| {
                let vector = asked.vector.as_ref();
                vector.is_none_or(|vector| may_be_retry(rule, message, &asked.text, vector))
            })
            .map(|(asked, age)| (asked, *age, Utterance::read(&asked.text)))
            .collect();
        let past: Vec<PastQuestion<'_>> = near
            .iter()
            .map(|(asked, age, question)| PastQuestion {
                turn: &asked.turn,
                question,
                age: Some(*age),
            })
            .collect();
        self.detectors.retry(message, &past)
    }

    /// Whether a turn that a shared history knows was stored and not erased since: a node may have ended
    /// between the two.
    async fn is_there(&self, event: &Event, turn: &TurnId) -> Result<bool, FlowError> {
        let head = self.store.turn_head(&event.scope, turn).await?;
        Ok(head.is_some_and(|head| !head.erased))
    }

    /// The entry that keeps the direction of a question by a remote model. When that fails, the
    /// built-in model's stands, which needs no keeping.
    pub(crate) async fn vector_entry(&self, opening: &Event) -> Option<Entry> {
        if !self.embedder.is_remote() {
            return None;
        }
        let text = opening.data.get("text").and_then(|text| text.as_str())?;
        let vector = self.vector_of(opening_of(text)).await;
        if vector.model() == embed::built_in().embed("").model() {
            return None;
        }
        let (model, values) = (vector.model().to_string(), vector.values().to_vec());
        let finding = Finding::Vector { model, values };
        Some(self.finding_entry(opening, opening.turn.clone(), &finding))
    }

    /// The entries that keep what was heard, together with the opening they were heard in.
    pub(crate) fn entries_of(&self, opening: &Event, heard: Heard) -> Vec<Entry> {
        let Some(detected_in) = opening.turn.clone() else { return Vec::new() };
        let mut entries = Vec::new();
        if let Some(retry) = heard.retry {
            let finding = Finding::Retry(FoundRetry {
                detector: self.detectors.retry_version(),
                detected_in: Some(detected_in.clone()),
                similarity: retry.similarity,
                delay_seconds: retry.delay_seconds,
                intent: retry.intent,
            });
            let turn = Some(retry.original_turn_id);
            entries.push(self.finding_entry(opening, turn, &finding));
        }
        if let Some(heard) = heard.verdict {
            entries.extend(self.verdict_entries(opening, &detected_in, heard));
        }
        entries
    }

    pub(crate) fn verdict_entries(
        &self,
        opening: &Event,
        detected_in: &TurnId,
        heard: HeardVerdict,
    ) -> Vec<Entry> {
        let (moved_on, reaction) = (heard.moved_on(), heard.reaction());
        let HeardVerdict { mut verdict, raw_confidence, target, target_score, .. } = heard;
        verdict.user_said = verdict.user_said.map(|said| cut(&said));
        let found = FoundVerdict {
            detector: self.detectors.verdict_version(),
            detected_in: detected_in.clone(),
            raw_confidence,
            moved_on,
            instead_of: None,
            target_score,
            verdict,
        };
        let confidence = found.verdict.confidence;
        let finding = Finding::Verdict(Box::new(found));
        let turn = target.as_ref().map(|target| target.turn.clone());
        let mut entries = vec![self.finding_entry(opening, turn, &finding)];
        if let (Some(place), Some(reaction)) = (target, reaction) {
            let given = GivenReaction {
                reaction: Some(reaction),
                origin: Origin::Machine,
                confidence,
                text: said(opening),
                detected_in: Some(detected_in.clone()),
            };
            entries.push(self.reaction_entry(place, given, opening));
        }
        entries
    }

    fn reaction_entry(&self, place: TurnPlace, given: GivenReaction, opening: &Event) -> Entry {
        let now = opening.received_at;
        let accepted = capture::AcceptedReaction { user: None, ts: opening.ts, given };
        let event = capture::reaction_event(place, &accepted, self.mint.event_id(now), now);
        Entry { changes: changes_of(&event), event }
    }

    /// A finding about a turn, found in the words of an event.
    pub(crate) fn finding_entry(
        &self,
        words: &Event,
        turn: Option<TurnId>,
        finding: &Finding,
    ) -> Entry {
        let place = FindingPlace {
            scope: words.scope.clone(),
            turn,
            conversation: words.conversation.clone(),
            user: words.user.clone(),
        };
        let now = words.received_at;
        let id = self.mint.event_id(now);
        let event = capture::finding_event(place, finding, id, words.ts, now);
        Entry { changes: changes_of(&event), event }
    }
}

fn past_turn<'a>(event: &Event, turn: &'a StoredExchange) -> PastTurn<'a> {
    PastTurn {
        turn: &turn.turn,
        question: opening_of(&turn.opening.text),
        answer: answer_of(turn),
        age: since(turn.ts, event.ts),
        status: turn.standing.status,
    }
}

fn answer_of(turn: &StoredExchange) -> &str {
    turn.completion.as_ref().and_then(|done| done.response.as_deref()).unwrap_or_default()
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

/// Time between two moments; clocks that run backwards make it none.
fn since(from: Timestamp, to: Timestamp) -> Duration {
    Duration::from_micros(u64::try_from(to.as_micros() - from.as_micros()).unwrap_or(0))
}

fn said(opening: &Event) -> Option<String> {
    let text = opening.data.get("text").and_then(|text| text.as_str())?;
    Some(cut(text)).filter(|text| !text.trim().is_empty())
}

fn cut(text: &str) -> String {
    text.chars().take(SAID_CHARS).collect()
}
