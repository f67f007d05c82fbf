//! Completes a turn: stores the answer with its detected signals and the verdicts of messages that
//! arrived before it.

use detect::{Answer, Utterance};
use ingest::{RawCompletion, TurnPlace};
use learn::cluster_query;
use model::{
    Claim, ClaimSpace, Completion, Finding, FoundAnswer, Mac, Need, Scope, Timestamp, TurnHalf,
    TurnId, Write,
};

use super::open::{CompleteReceipt, IncomingHalf, OpenTurn, PreparedOpening};
use crate::error::EngineError;
use crate::receipt::{Receipt, RequestKey};
use crate::retrieval::{assign_ranks, read_usage};
use crate::turns::Turns;
use crate::turns::findings_response::read_answer_signals;
use crate::warning::Warning;

/// An answer with its findings, ready to be stored.
pub(super) struct PreparedCompletion {
    turn: TurnId,
    scope: Scope,
    pub(super) write: Write,
    warning: Option<Warning>,
}

impl Turns {
    /// Stores the answer to an open turn.
    pub async fn complete_turn(
        &self,
        scope: &Scope,
        turn: TurnId,
        completion: IncomingHalf<RawCompletion>,
        key: Option<RequestKey>,
    ) -> Result<CompleteReceipt, EngineError> {
        let accepted = ingest::accept_completion(completion.raw, self.core.clock.now())?;
        let (head, mut exchanges) = tokio::try_join!(
            self.core.store.turn_head(scope, &turn),
            self.core.store.exchanges_by_id(scope, vec![turn.clone()]),
        )?;
        let head = head.ok_or(EngineError::NotFound("turn"))?;
        let open = OpenTurn {
            place: TurnPlace {
                scope: scope.clone(),
                turn,
                conversation: head.conversation,
                user: head.user,
            },
            question: exchanges.pop().map(|exchange| exchange.opening.text).unwrap_or_default(),
            ts: head.ts,
            received_at: head.received_at,
            erased: head.erased,
        };
        self.store_completion(open, accepted, completion.mac, key).await
    }

    pub(super) async fn store_completion(
        &self,
        open: OpenTurn,
        completion: Completion,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<CompleteReceipt, EngineError> {
        let mut answer = self.prepare_completion(open, (completion, mac), key, None).await?;
        answer.write.needs.push(Need::Turn(None));
        answer.write = answer.write.with_numbered_events();
        let receipt = self.core.commit_one(answer.write.clone()).await?;
        self.finish_completion(answer, receipt).await
    }

    /// Runs the detectors on an answer. `opening` is its question, if it is not stored yet.
    pub(super) async fn prepare_completion(
        &self,
        open: OpenTurn,
        (completion, mac): (Completion, Mac),
        key: Option<RequestKey>,
        opening: Option<&PreparedOpening>,
    ) -> Result<PreparedCompletion, EngineError> {
        let now = self.core.clock.now();
        let OpenTurn { place, question, .. } = &open;
        let (scope, turn) = (place.scope.clone(), place.turn.clone());
        // The client's time wins. Without it, the time that passed here is added to the question's.
        let passed = now.as_micros() - open.received_at.as_micros();
        let answered = Timestamp::from_micros(open.ts.as_micros().saturating_add(passed.max(0)));
        let ts = completion.completed_at.unwrap_or(answered.min(now.max(open.ts)));
        let served = match open.erased {
            true => None,
            false => self.routing.find_serving_choice(&scope, &turn, &completion).await?,
        };
        let warning = self.routing.check_decision(&scope, &completion, served.is_some()).await?;
        let half = TurnHalf::Completed(Box::new(completion));
        let mut event =
            ingest::turn_event(place.clone(), half, self.core.ids.event_id(now), ts, now);
        if open.erased {
            // The user was erased before the answer arrived: only a stub of it is stored.
            event.body = event.stub_body();
        }
        let mut write = self.core.build_write(event, mac, key);
        let id = turn.as_str().to_owned();
        write.claims.push(Claim { space: ClaimSpace::Completion, id, mac: Some(mac) });
        if let Some(done) = write.entry.event.body.completion().filter(|_| !open.erased) {
            let found = self.inspect_answer(question, done);
            let relevance = self.retrieval.detect_relevance(&turn, question, done, &found);
            let items = assign_ranks(&done.retrieved);
            let cluster = Some(cluster_query(question).0).filter(|_| !question.trim().is_empty());
            let waiting =
                self.retrieval.join_pending_usage(&scope, turn.as_str(), cluster, &items).await?;
            let findings = std::iter::once(found).chain(served).chain(relevance).chain(waiting);
            let entry =
                |finding| self.core.finding_entry(&write.entry.event, Some(turn.clone()), finding);
            write.more = findings.map(entry).collect();
            // Messages that were stored before this answer are judged with it.
            let late = self.late_verdict_entries(place, opening, open.ts, (ts, done)).await?;
            write.more.extend(late);
        }
        Ok(PreparedCompletion { turn, scope, write, warning })
    }

    /// Builds the response to a stored answer.
    pub(super) async fn finish_completion(
        &self,
        answer: PreparedCompletion,
        receipt: Receipt,
    ) -> Result<CompleteReceipt, EngineError> {
        let PreparedCompletion { turn, scope, write, warning } = answer;
        let has_results =
            write.entry.event.body.completion().is_some_and(|done| !done.retrieved.is_empty());
        if has_results {
            self.retrieval.join_concurrent_usage(&scope, turn.to_string()).await?;
        }
        let together = match receipt.replayed {
            true => self.read_batch(&scope, receipt.position).await?,
            false => write.more.into_iter().map(|entry| entry.event).collect(),
        };
        let signals = read_answer_signals(&turn, &together);
        let usage = read_usage(&turn, &together);
        let reward = self.routing.compute_reward(&scope, &turn, signals.as_ref()).await?;
        let warnings = Vec::from_iter(warning);
        self.core.count_warnings(&warnings);
        Ok(CompleteReceipt { turn, replayed: receipt.replayed, signals, usage, reward, warnings })
    }

    /// Detects failure and latency of an answer. `done` is already redacted.
    pub(crate) fn inspect_answer(&self, question: &str, done: &Completion) -> Finding {
        let response = done.response.as_deref().unwrap_or_default();
        let question = Utterance::read(question);
        let answer = Answer::read(Some(&question), response);
        let failure = self.core.detectors.detect_failure(
            Some(&question),
            response,
            &answer,
            done.status,
            done.error.as_deref(),
        );
        let between = done
            .started_at
            .zip(done.completed_at)
            .map(|(start, end)| (end.as_micros() - start.as_micros()) as f64 / 1e6);
        // Negative time between the two clocks reveals skew, unless the client measured a latency.
        let seconds = match between {
            Some(seconds) if seconds < 0.0 && done.latency_ms == Some(0.0) => Some(seconds),
            Some(_) | None => done.latency_ms.map(|ms| ms / 1000.0),
        };
        let waited = done.accepted.unwrap_or(true);
        let pace = seconds.and_then(|s| self.core.detectors.detect_pace(&question, s, waited));
        if pace.is_some_and(|pace| pace.skewed) {
            self.core.counters.count_skewed_clock();
        }
        let detector = self.core.detectors.answer_version();
        Finding::Answer(FoundAnswer { detector, error: failure, latency: pace })
    }
}
