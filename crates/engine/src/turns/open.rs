//! A turn in, in one step or two.
//!
//! ```text
//! opening ----accept--> (query, turn) event, phase opened ----hear-----> with what it says of earlier
//!                                                                        turns, one commit
//! completion -accept--> (query, turn) event, phase completed -look at--> with what the answer shows,
//!                                                                        one commit
//! ```

use ingest::{AcceptedOpening, RawCompletion, RawOpening, TurnPlace};
use learn::PlannerContext;
use model::{
    Claim, ClaimSpace, ConversationId, EntitySignal, Event, Mac, Retry, Scope, Timestamp, TurnHalf,
    TurnId, Write,
};

use crate::error::FlowError;
use crate::feedback::record::{Receipt, RequestKey};
use crate::routing::choose::{Route, RouteRequest};
use crate::training_data::examples::FoundExample;
use crate::turns::Turns;
use crate::turns::findings_response::{AnswerSignals, PreviousVerdict};
use crate::turns::message_signals::MessageContext;
use crate::turns::strategies::Strategies;

/// Either half on its way in, with the MAC of the fields it came in.
#[derive(Clone, Debug)]
pub struct IncomingHalf<T> {
    /// What it says.
    pub raw: T,
    /// The MAC of its fields.
    pub mac: Mac,
}

/// A turn on its way in: the question, perhaps with the answer.
#[derive(Clone, Debug)]
pub struct IncomingTurn {
    /// The question.
    pub opening: IncomingHalf<RawOpening>,
    /// The answer, if it comes along.
    pub completion: Option<IncomingHalf<RawCompletion>>,
    /// The request's own key.
    pub key: Option<RequestKey>,
    /// What to bring back with the answer.
    pub include: Include,
    /// The router that chooses who answers, if one is asked.
    pub router: Option<String>,
}

/// What a turn can bring back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Include {
    /// What a planner should know.
    pub context: bool,
    /// Earlier turns like it, and how they went.
    pub strategies: bool,
    /// Good answers to questions like it.
    pub examples: bool,
}

/// What the sender of a turn is told: it is on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenReceipt {
    /// The turn.
    pub turn: TurnId,
    /// Its conversation.
    pub conversation: Option<ConversationId>,
    /// It had been stored before; nothing changed.
    pub replayed: bool,
    /// What the message says about an earlier turn.
    pub previous: Option<PreviousVerdict>,
    /// The question it asks again.
    pub retry: Option<Retry>,
    /// What a planner should know, if that was asked for.
    pub context: Option<PlannerContext>,
    /// Earlier turns like it, if they were asked for.
    pub strategies: Option<Strategies>,
    /// Good answers to questions like it, if they were asked for.
    pub examples: Option<Vec<FoundExample>>,
    /// Who shall answer, if a router was asked.
    pub route: Option<Route>,
    /// What became of the answer, if it came along.
    pub completion: Option<CompleteReceipt>,
}

/// What the sender of an answer is told: it is on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct CompleteReceipt {
    /// The turn.
    pub turn: TurnId,
    /// It had been stored before; nothing changed.
    pub replayed: bool,
    /// What the answer shows; `None` for a repeat of what was dropped or erased since.
    pub signals: Option<AnswerSignals>,
    /// What became of the items that were retrieved for it.
    pub usage: Vec<EntitySignal>,
    /// What the turn is worth by now.
    pub reward: f64,
}

/// A turn that is open: where it is, what was asked, when.
pub(super) struct OpenTurn {
    pub(super) place: TurnPlace,
    pub(super) question: String,
    pub(super) ts: Timestamp,
    pub(super) received_at: Timestamp,
    /// Whose it was has been erased since.
    pub(super) erased: bool,
}

impl Turns {
    /// Takes in a question, and its answer if it comes along.
    pub async fn open_turn(
        &self,
        scope: &Scope,
        incoming: IncomingTurn,
    ) -> Result<OpenReceipt, FlowError> {
        let IncomingTurn { opening, completion, key, include, router } = incoming;
        // A router that is not there is told before anything is stored.
        if let Some(name) = &router
            && !self.routing.list_router_names(scope).contains(name)
        {
            return Err(FlowError::Unknown("router"));
        }
        let now = self.core.clock.now();
        let accepted = ingest::accept_opening(opening.raw, now)?;
        // Both halves are checked before either is stored.
        let completion = match completion {
            None => None,
            Some(half) => Some((ingest::accept_completion(half.raw, now)?, half.mac)),
        };
        let is_first = accepted.conversation.is_none();
        let (place, write) = self.build_opening_write(scope, accepted, opening.mac, key);
        let (receipt, asked, together) = self.detect_and_store(write, is_first).await?;
        let place = TurnPlace {
            turn: asked.turn.clone().unwrap_or(place.turn),
            conversation: asked.conversation.clone(),
            user: asked.user.clone(),
            ..place
        };
        let told = self.read_findings(&asked, receipt.position, &together).await?;
        // None waits for another.
        let (strategies, examples, context) = tokio::try_join!(
            self.include_strategies(include, &asked, told.previous.as_ref()),
            self.include_examples(include, &asked, told.previous.as_ref()),
            self.include_context(include, &asked, receipt.position, told.previous.as_ref()),
        )?;
        let completion = match completion {
            None => None,
            Some((completion, mac)) => {
                let question = question_text(&asked);
                let (ts, received_at) = (asked.ts, asked.received_at);
                let place = place.clone();
                let open = OpenTurn { place, question, ts, received_at, erased: false };
                Some(self.store_completion(open, completion, mac, None).await?)
            }
        };
        // Chosen after what the message teaches was learnt. It did not serve an answer that came along.
        let route = match router {
            None => None,
            Some(router) => {
                Some(self.routing.choose_route(scope, &self.route_request(router, &asked))?)
            }
        };
        if route.is_some() && self.core.store.is_shared() {
            // The answer may come in by another node, which finds the choice in the log.
            self.routing.store_choices().await;
        }
        Ok(OpenReceipt {
            turn: place.turn,
            conversation: place.conversation,
            replayed: receipt.replayed && completion.as_ref().is_none_or(|done| done.replayed),
            previous: told.previous,
            retry: told.retry,
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

    /// The write that stores an opening, without what it says of earlier turns.
    fn build_opening_write(
        &self,
        scope: &Scope,
        accepted: AcceptedOpening,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> (TurnPlace, Write) {
        let now = self.core.clock.now();
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
        let event = ingest::turn_event(place.clone(), &half, id, accepted.ts, now);
        let mut write = self.core.build_write(event, mac, key);
        let turn = place.turn.as_str().to_owned();
        write.claims.push(Claim { space: ClaimSpace::Turn, id: turn, mac: Some(mac) });
        (place, write)
    }

    /// Stores an opening with what it says of earlier turns. Answers what became of it, the opening
    /// as it is stored, and the events that were stored with it: of a repeat, the first one's.
    async fn detect_and_store(
        &self,
        mut write: Write,
        is_first: bool,
    ) -> Result<(Receipt, Event, Vec<Event>), FlowError> {
        let event = write.entry.event.clone();
        let background = MessageContext { history: &self.history, position: None, is_first };
        let heard = self.detect_message_signals(&event, background).await?;
        write.more = self.signal_entries(&event, heard);
        write.more.extend(self.core.vector_entry(&event).await);
        let together = write.more.iter().map(|entry| entry.event.clone()).collect();
        // A session that went silent ends before the message that comes after it.
        let ended = if is_first { None } else { self.end_session_before(&event).await? };
        // Before it is stored: whoever erases the user meanwhile finds it.
        let asking = self.history.add_question(&event).await;
        let stored = self.core.commit_last(ended.into_iter().chain([write]).collect()).await;
        match stored {
            Ok(receipt) if !receipt.replayed => Ok((receipt, event, together)),
            Ok(receipt) => {
                self.history.remove_question(asking).await;
                let first = self.core.store.event(&event.scope, &receipt.id).await?;
                let together = self.read_batch(&event.scope, receipt.position).await?;
                Ok((receipt, first.map_or(event, |first| first.event), together))
            }
            Err(error) => {
                self.history.remove_question(asking).await;
                Err(error)
            }
        }
    }
}

pub(super) fn question_text(opening: &Event) -> String {
    opening.data.get("text").and_then(|text| text.as_str()).unwrap_or_default().to_owned()
}
