//! Opens turns, optionally with the answer in the same request.
//!
//! ```text
//! opening ----accept--> event, phase opened ----detect--> findings on earlier turns --\
//!                                                                                      one write
//! completion -accept--> event, phase completed -detect--> findings on the answer -----/
//! ```
//!
//! A turn that is known already (a repeat, feedback before the turn) takes one write per half.

use ingest::{AcceptedOpening, RawCompletion, RawOpening, TurnPlace};
use learn::{ContextFormat, PlannerContext};
use model::{
    Claim, ClaimSpace, Completion, ConversationId, EntitySignal, Event, EventId, Mac, Need,
    Outcome, Position, Redacted, Retry, Scope, Timestamp, TurnHalf, TurnId, Write,
};

use store::ConversationTail;

use crate::answer_signals::AnswerSignals;
use crate::error::EngineError;
use crate::receipt::{Receipt, RequestKey, TurnState};
use crate::routing::choose::{Route, RouteRequest};
use crate::training_data::examples::FoundExample;
use crate::turns::Turns;
use crate::turns::findings_response::PreviousVerdict;
use crate::turns::message_signals::MessageContext;
use crate::turns::reader::Reading;
use crate::turns::strategies::Strategies;
use crate::warning::Warning;

/// An incoming question or answer.
#[derive(Clone, Debug)]
pub struct IncomingHalf<T> {
    pub raw: T,
    /// The MAC of its fields, which identifies repeats.
    pub mac: Mac,
}

/// An incoming turn.
#[derive(Clone, Debug)]
pub struct IncomingTurn {
    pub opening: IncomingHalf<RawOpening>,
    /// The answer, if it is in the same request.
    pub completion: Option<IncomingHalf<RawCompletion>>,
    pub key: Option<RequestKey>,
    /// Optional sections of the response.
    pub include: Include,
    /// The router that chooses the arm.
    pub router: Option<String>,
}

/// Optional sections of an opening's response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Include {
    pub context: bool,
    pub context_format: ContextFormat,
    pub strategies: bool,
    pub examples: bool,
    /// Waits for the reader's verdict on the message, also without a section that depends on it.
    pub read_now: bool,
}

impl Include {
    /// Sections that depend on the verdict wait for the reader.
    fn reading(self) -> Reading {
        if self.read_now || self.context || self.strategies || self.examples {
            Reading::WithinBudget
        } else {
            Reading::Later
        }
    }
}

/// Response to an opening. The turn is durable.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenReceipt {
    pub turn: TurnId,
    pub conversation: Option<ConversationId>,
    /// True for a repeat of a stored request.
    pub replayed: bool,
    pub previous: Option<PreviousVerdict>,
    /// The question that this one repeats.
    pub retry: Option<Retry>,
    pub context: Option<PlannerContext>,
    pub strategies: Option<Strategies>,
    pub examples: Option<Vec<FoundExample>>,
    pub route: Option<Route>,
    pub completion: Option<CompleteReceipt>,
}

/// Response to a completion. The answer is durable.
#[derive(Clone, Debug, PartialEq)]
pub struct CompleteReceipt {
    pub turn: TurnId,
    /// True for a repeat of a stored request.
    pub replayed: bool,
    /// `None` for a repeat whose turn was dropped or erased since.
    pub signals: Option<AnswerSignals>,
    /// Use of the retrieved items.
    pub usage: Vec<EntitySignal>,
    /// The turn's current reward.
    pub reward: f64,
    pub warnings: Vec<Warning>,
}

/// An opening with its findings, ready to be stored.
pub(super) struct PreparedOpening {
    pub(super) write: Write,
    /// Ends the session before it.
    ended: Option<Write>,
    /// The end of the conversation before it; empty for a new conversation.
    pub(super) tail: ConversationTail,
}

/// An opening in the log, and the events committed with it.
struct StoredOpening {
    receipt: Receipt,
    event: Redacted<Event>,
    together: Vec<Redacted<Event>>,
}

/// A turn that waits for its answer.
pub(super) struct OpenTurn {
    pub(super) place: TurnPlace,
    pub(super) question: String,
    pub(super) ts: Timestamp,
    pub(super) received_at: Timestamp,
    /// The user was erased after the opening.
    pub(super) erased: bool,
}

impl Turns {
    /// Stores a question, and its answer if it is in the same request.
    pub async fn open_turn(
        &self,
        scope: &Scope,
        incoming: IncomingTurn,
    ) -> Result<OpenReceipt, EngineError> {
        self.open_turn_if(scope, incoming, None).await
    }

    /// Stores a question if a further precondition holds in the same transaction.
    pub(crate) async fn open_turn_if(
        &self,
        scope: &Scope,
        incoming: IncomingTurn,
        need: Option<Need>,
    ) -> Result<OpenReceipt, EngineError> {
        let IncomingTurn { opening, completion, key, include, router } = incoming;
        // An unknown router is refused before anything is stored.
        if let Some(name) = &router
            && !self.routing.list_router_names(scope).contains(name)
        {
            return Err(EngineError::NotFound("router"));
        }
        let now = self.core.clock.now();
        let mac = opening.mac;
        let (accepted, completion) = accept_halves(opening.raw, completion, now)?;
        let is_first = accepted.conversation.is_none();
        let (place, mut write) = self.build_opening_write(scope, accepted, mac, key);
        write.needs.extend(need);
        let prepared = self.prepare_opening(write, is_first, include.reading()).await?;
        let whole = match &completion {
            None => None,
            Some(half) => self.store_new_turn(&prepared, place.clone(), half.clone()).await?,
        };
        let (StoredOpening { receipt, event: asked, together }, completion) = match whole {
            Some((opening, completed)) => (opening, Some(completed)),
            None => self.store_halves(prepared, &place, completion).await?,
        };
        let place = stored_place(place, &asked);
        let findings = self.read_findings(&asked, receipt.position, &together).await?;
        let (strategies, examples, context) = tokio::try_join!(
            self.include_strategies(include, &asked, findings.previous.as_ref()),
            self.include_examples(include, &asked, findings.previous.as_ref()),
            self.include_context(include, &asked, receipt.position, findings.previous.as_ref()),
        )?;
        // The routers have learnt from the message by now. The choice is not credited with an answer
        // in the same request.
        let route = match router {
            None => None,
            Some(router) => {
                Some(self.routing.choose_route(scope, &self.route_request(router, &asked))?)
            }
        };
        if route.is_some() && self.core.store.is_shared() {
            // The answer may arrive at another node, which finds the choice in the log.
            self.routing.store_choices().await;
        }
        Ok(OpenReceipt {
            turn: place.turn,
            conversation: place.conversation,
            replayed: receipt.replayed && completion.as_ref().is_none_or(|done| done.replayed),
            previous: findings.previous,
            retry: findings.retry,
            context,
            strategies,
            examples,
            route,
            completion,
        })
    }

    fn route_request(&self, router: String, opening: &Event) -> RouteRequest {
        RouteRequest {
            router,
            text: question_text(opening),
            turn: opening.turn.clone(),
            conversation: opening.conversation.clone(),
            user: opening.user.clone(),
            ..RouteRequest::default()
        }
    }

    /// Builds the write of an opening, without findings.
    fn build_opening_write(
        &self,
        scope: &Scope,
        accepted: AcceptedOpening,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> (TurnPlace, Write) {
        let now = self.core.clock.now();
        // Feedback may have quoted a turn of another conversation under this id.
        let need = accepted.conversation.clone().map(Need::SameConversation);
        let place = TurnPlace {
            scope: scope.clone(),
            turn: accepted.turn.unwrap_or_else(|| self.core.ids.turn_id(now)),
            conversation: Some(
                accepted.conversation.unwrap_or_else(|| self.core.ids.conversation_id(now)),
            ),
            user: accepted.user,
        };
        let half = TurnHalf::Opened(accepted.opening);
        let id = self.core.ids.event_id(now);
        let event = ingest::turn_event(place.clone(), half, id, accepted.ts, now);
        let mut write = self.core.build_write(event, mac, key);
        let turn = place.turn.as_str().to_owned();
        write.claims.push(Claim { space: ClaimSpace::Turn, id: turn, mac: Some(mac) });
        write.needs.extend(need);
        (place, write)
    }

    /// Runs the detectors on the message of an opening.
    async fn prepare_opening(
        &self,
        mut write: Write,
        is_first: bool,
        reading: Reading,
    ) -> Result<PreparedOpening, EngineError> {
        let event = write.entry.event.clone();
        let tail = match is_first {
            true => ConversationTail::default(),
            false => self.load_tail(&event).await?,
        };
        let context = MessageContext {
            history: &self.history,
            position: None,
            is_first,
            late_answer: None,
            tail: Some(&tail),
            reading,
        };
        let signals = self.detect_message_signals(&event, context).await?;
        write.more = self.signal_entries(&event, signals);
        write.more.extend(self.core.vector_entry(&event).await);
        // A session that timed out ends before the message that follows it.
        let ended = self.end_session_before(&event, tail.session.as_ref()).await?;
        Ok(PreparedOpening { write: write.with_numbered_events(), ended, tail })
    }

    /// Stores a new turn with its answer in one write. Returns `None` when the turn is known: its
    /// halves are stored one after the other then.
    async fn store_new_turn(
        &self,
        opening: &PreparedOpening,
        place: TurnPlace,
        half: (Completion, Mac),
    ) -> Result<Option<(StoredOpening, CompleteReceipt)>, EngineError> {
        let asked = &opening.write.entry.event;
        let open = open_turn(place, asked);
        let answer = self.prepare_completion(open, half, None, Some(opening)).await?;
        let mut write = opening.write.clone();
        let is_completion = |claim: &Claim| claim.space == ClaimSpace::Completion;
        write
            .claims
            .extend(answer.write.claims.iter().filter(|claim| is_completion(claim)).cloned());
        write.needs.push(Need::NewTurn);
        let answered_at = 1 + write.more.len() as u64;
        write.more.push(answer.write.entry.clone());
        write.more.extend(answer.write.more.iter().cloned());
        let asking = self.history.add_question(asked).await;
        let write = write.with_numbered_events();
        let writes = opening.ended.clone().into_iter().chain([write]).collect();
        let outcome = self.core.store_writes(writes).await.map(|mut outcomes| outcomes.pop());
        let Ok(Some(Outcome::Stored(position))) = outcome else {
            self.history.remove_question(asking).await;
            return match outcome? {
                Some(Outcome::Replayed { .. } | Outcome::Conflict(_) | Outcome::Missing(_)) => {
                    Ok(None)
                }
                Some(Outcome::SetAside) => Err(EngineError::DeadLettered),
                Some(
                    Outcome::Stored(_)
                    | Outcome::StoredElsewhere(_)
                    | Outcome::Unchanged
                    | Outcome::Failed,
                )
                | None => Err(EngineError::NotStored),
            };
        };
        let receipt = |id: &EventId, position| Receipt {
            id: id.clone(),
            position,
            replayed: false,
            pending: false,
            turn: TurnState::default(),
        };
        let answered = Position(position.0 + answered_at);
        let answered = receipt(&answer.write.entry.event.id, answered);
        let opened = StoredOpening {
            receipt: receipt(&asked.id, position),
            event: asked.clone(),
            together: opening.write.more.iter().map(|entry| entry.event.clone()).collect(),
        };
        Ok(Some((opened, self.finish_completion(answer, answered).await?)))
    }

    /// Stores an opening, then its answer, if any.
    async fn store_halves(
        &self,
        opening: PreparedOpening,
        place: &TurnPlace,
        completion: Option<(Completion, Mac)>,
    ) -> Result<(StoredOpening, Option<CompleteReceipt>), EngineError> {
        let opened = self.store_opening(opening).await?;
        let Some((completion, mac)) = completion else { return Ok((opened, None)) };
        let open = open_turn(stored_place(place.clone(), &opened.event), &opened.event);
        let completed = self.store_completion(open, completion, mac, None).await?;
        Ok((opened, Some(completed)))
    }

    /// Stores an opening with its findings. A repeat returns those of the first request.
    async fn store_opening(&self, opening: PreparedOpening) -> Result<StoredOpening, EngineError> {
        let PreparedOpening { write, ended, .. } = opening;
        let event = write.entry.event.clone();
        let together = write.more.iter().map(|entry| entry.event.clone()).collect();
        // Added before the commit, so that a concurrent erasure of the user finds it.
        let asking = self.history.add_question(&event).await;
        let stored = self.core.commit_last(ended.into_iter().chain([write]).collect()).await;
        match stored {
            Ok(receipt) if !receipt.replayed => Ok(StoredOpening { receipt, event, together }),
            Ok(receipt) => {
                self.history.remove_question(asking).await;
                let first = self.core.store.event(&event.scope, &receipt.id).await?;
                let together = self.read_batch(&event.scope, receipt.position).await?;
                let event = first.map_or(event, |first| first.event);
                Ok(StoredOpening { receipt, event, together })
            }
            Err(error) => {
                self.history.remove_question(asking).await;
                Err(self.explain_conflict(&event, error).await?)
            }
        }
    }
}

/// The place of a turn as it was stored. A repeat may have come under another id.
fn stored_place(place: TurnPlace, stored: &Event) -> TurnPlace {
    TurnPlace {
        turn: stored.turn.clone().unwrap_or(place.turn),
        conversation: stored.conversation.clone(),
        user: stored.user.clone(),
        ..place
    }
}

fn open_turn(place: TurnPlace, asked: &Event) -> OpenTurn {
    let (ts, received_at) = (asked.ts, asked.received_at);
    OpenTurn { place, question: question_text(asked), ts, received_at, erased: false }
}

pub(super) fn question_text(opening: &Event) -> String {
    opening.body.opening().map_or_else(String::new, |opening| opening.text.clone())
}

/// Checks both halves before either is stored. Without a time of its own, the question has the time
/// at which the answer was started.
fn accept_halves(
    mut opening: RawOpening,
    completion: Option<IncomingHalf<RawCompletion>>,
    now: Timestamp,
) -> Result<(AcceptedOpening, Option<(Completion, Mac)>), EngineError> {
    let completion = match completion {
        None => None,
        Some(half) => Some((ingest::accept_completion(half.raw, now)?, half.mac)),
    };
    if opening.ts.is_none() {
        let started = completion.as_ref().and_then(|(completion, _)| completion.started_at);
        opening.ts = started.map(|ts| ts.to_string());
    }
    Ok((ingest::accept_opening(opening, now)?, completion))
}
