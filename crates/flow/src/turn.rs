//! A turn in, in one step or two.
//!
//! ```text
//! opening ----accept--> (query, turn) event, phase opened ----hear-----> with what it says of earlier
//!                                                                        turns, one commit
//! completion -accept--> (query, turn) event, phase completed -look at--> with what the answer shows,
//!                                                                        one commit
//! ```

use capture::{AcceptedOpening, RawCompletion, RawOpening, TurnPlace};
use detect::{Answer, Utterance};
use event::{
    Claim, ClaimSpace, Completion, ConversationId, CorrectionType, EntitySignal, Event, Finding,
    FoundAnswer, Mac, Need, Position, Retry, Scope, Timestamp, TurnHalf, TurnId, TurnStatus, Write,
};
use learn::PlannerContext;
use store::StoredTurn;

use crate::engine::Engine;
use crate::error::FlowError;
use crate::examples::FoundExample;
use crate::hear::Background;
use crate::record::{Receipt, RequestKey};
use crate::retrieval::usage_of;
use crate::route::{Route, RouteRequest};
use crate::strategies::{Strategies, StrategySearch};
use crate::told::{Previous, Signals, signals_of};

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
    pub previous: Option<Previous>,
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
    pub signals: Option<Signals>,
    /// What became of the items that were retrieved for it.
    pub usage: Vec<EntitySignal>,
    /// What the turn is worth by now.
    pub reward: f64,
}

/// A turn that is open: where it is, what was asked, when.
struct OpenTurn {
    place: TurnPlace,
    question: String,
    ts: Timestamp,
    received_at: Timestamp,
    /// Whose it was has been erased since.
    erased: bool,
}

impl Engine {
    /// Takes in a question, and its answer if it comes along.
    pub async fn open_turn(
        &self,
        scope: &Scope,
        incoming: IncomingTurn,
    ) -> Result<OpenReceipt, FlowError> {
        let IncomingTurn { opening, completion, key, include, router } = incoming;
        // A router that is not there is told before anything is stored.
        if let Some(name) = &router
            && !self.router_names(scope).contains(name)
        {
            return Err(FlowError::Unknown("router"));
        }
        let now = self.clock.now();
        let accepted = capture::accept_opening(opening.raw, now)?;
        // Both halves are checked before either is stored.
        let completion = match completion {
            None => None,
            Some(half) => Some((capture::accept_completion(half.raw, now)?, half.mac)),
        };
        let is_first = accepted.conversation.is_none();
        let (place, write) = self.opening_write(scope, accepted, opening.mac, key);
        let (receipt, asked, together) = self.hear_and_store(write, is_first).await?;
        let place = TurnPlace {
            turn: asked.turn.clone().unwrap_or(place.turn),
            conversation: asked.conversation.clone(),
            user: asked.user.clone(),
            ..place
        };
        let told = self.told(&asked, receipt.position, &together).await?;
        // None waits for another.
        let (strategies, examples, context) = tokio::try_join!(
            self.strategies_for(include, &asked, told.previous.as_ref()),
            self.examples_of(include, &asked, told.previous.as_ref()),
            self.context_for(include, &asked, receipt.position, told.previous.as_ref()),
        )?;
        let completion = match completion {
            None => None,
            Some((completion, mac)) => {
                let question = question_of(&asked);
                let (ts, received_at) = (asked.ts, asked.received_at);
                let place = place.clone();
                let open = OpenTurn { place, question, ts, received_at, erased: false };
                Some(self.store_completion(open, completion, mac, None).await?)
            }
        };
        // Chosen after what the message teaches was learnt. It did not serve an answer that came along.
        let route = match router {
            None => None,
            Some(router) => Some(self.route(scope, &self.route_request(router, &asked))?),
        };
        if route.is_some() && self.store.is_shared() {
            // The answer may come in by another node, which finds the choice in the log.
            self.store_choices().await;
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
            text: question_of(opening),
            turn: opening.turn.clone(),
            conversation: opening.conversation.clone(),
            user: opening.user.clone(),
            ..RouteRequest::default()
        }
    }

    /// The write that stores an opening, without what it says of earlier turns.
    fn opening_write(
        &self,
        scope: &Scope,
        accepted: AcceptedOpening,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> (TurnPlace, Write) {
        let now = self.clock.now();
        let place = TurnPlace {
            scope: scope.clone(),
            turn: accepted.turn.unwrap_or_else(|| self.mint.turn_id(now)),
            conversation: Some(
                accepted.conversation.unwrap_or_else(|| self.mint.conversation_id(now)),
            ),
            user: accepted.user,
        };
        let half = TurnHalf::Opened(accepted.opening);
        let id = self.mint.event_id(now);
        let event = capture::turn_event(place.clone(), &half, id, accepted.ts, now);
        let mut write = self.write_of(event, mac, key);
        let turn = place.turn.as_str().to_owned();
        write.claims.push(Claim { space: ClaimSpace::Turn, id: turn, mac: Some(mac) });
        (place, write)
    }

    /// Stores an opening with what it says of earlier turns. Answers what became of it, the opening
    /// as it is stored, and the events that were stored with it: of a repeat, the first one's.
    async fn hear_and_store(
        &self,
        mut write: Write,
        is_first: bool,
    ) -> Result<(Receipt, Event, Vec<Event>), FlowError> {
        let event = write.entry.event.clone();
        let background = Background { history: &self.history, position: None, is_first };
        let heard = self.hear(&event, background).await?;
        write.more = self.entries_of(&event, heard);
        write.more.extend(self.vector_entry(&event).await);
        let together = write.more.iter().map(|entry| entry.event.clone()).collect();
        // A session that went silent ends before the message that comes after it.
        let ended = if is_first { None } else { self.session_ended_by(&event).await? };
        // Before it is stored: whoever erases the user meanwhile finds it.
        let asking = self.history.add(&event).await;
        let stored = self.commit_last(ended.into_iter().chain([write]).collect()).await;
        match stored {
            Ok(receipt) if !receipt.replayed => Ok((receipt, event, together)),
            Ok(receipt) => {
                self.history.take_back(asking).await;
                let first = self.store.event(&event.scope, &receipt.id).await?;
                let together = self.stored_with(&event.scope, receipt.position).await?;
                Ok((receipt, first.map_or(event, |first| first.event), together))
            }
            Err(error) => {
                self.history.take_back(asking).await;
                Err(error)
            }
        }
    }

    /// Takes in the answer to a question that was opened before.
    pub async fn complete_turn(
        &self,
        scope: &Scope,
        turn: TurnId,
        completion: IncomingHalf<RawCompletion>,
        key: Option<RequestKey>,
    ) -> Result<CompleteReceipt, FlowError> {
        let accepted = capture::accept_completion(completion.raw, self.clock.now())?;
        let (head, mut exchanges) = tokio::try_join!(
            self.store.turn_head(scope, &turn),
            self.store.exchanges_by_id(scope, vec![turn.clone()]),
        )?;
        let head = head.ok_or(FlowError::Unknown("turn"))?;
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

    /// A turn with everything that happened to it.
    pub async fn turn(&self, scope: &Scope, turn: TurnId) -> Result<Option<StoredTurn>, FlowError> {
        Ok(self.store.turns(scope, vec![turn]).await?.pop())
    }

    async fn store_completion(
        &self,
        open: OpenTurn,
        completion: Completion,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<CompleteReceipt, FlowError> {
        let now = self.clock.now();
        let OpenTurn { place, question, .. } = &open;
        let (scope, turn) = (place.scope.clone(), place.turn.clone());
        // By the client's own time where it has one, even if it tells us of the past.
        let passed = now.as_micros() - open.received_at.as_micros();
        let answered = Timestamp::from_micros(open.ts.as_micros().saturating_add(passed.max(0)));
        let ts = completion.completed_at.unwrap_or(answered.min(now.max(open.ts)));
        let served = match open.erased {
            true => None,
            false => self.served_by(&scope, &turn, &completion).await?,
        };
        let half = TurnHalf::Completed(Box::new(completion));
        let mut event = capture::turn_event(place.clone(), &half, self.mint.event_id(now), ts, now);
        if open.erased {
            // The answer to somebody who was erased while it was made: that it came is all that stays.
            event.data = event.stub_data();
        }
        let mut write = self.write_of(event, mac, key);
        let id = turn.as_str().to_owned();
        write.claims.push(Claim { space: ClaimSpace::Completion, id, mac: Some(mac) });
        write.needs.push(Need::Turn(None));
        if !open.erased {
            let completed = &write.entry.event;
            let shown = self.look_at(question, completed);
            let relevance = self.relevance_of(&turn, question, completed, &shown);
            let findings = std::iter::once(shown).chain(served).chain(relevance);
            let entry =
                |finding| self.finding_entry(&write.entry.event, Some(turn.clone()), &finding);
            write.more = findings.map(entry).collect();
        }
        let together = write.more.iter().map(|entry| entry.event.clone()).collect();
        let receipt = self.commit_one(write).await?;
        let together = match receipt.replayed {
            true => self.stored_with(&scope, receipt.position).await?,
            false => together,
        };
        let signals = signals_of(&turn, &together);
        let usage = usage_of(&turn, &together);
        let reward = self.reward_of(&scope, &turn, signals.as_ref()).await?;
        Ok(CompleteReceipt { turn, replayed: receipt.replayed, signals, usage, reward })
    }

    /// What an answer shows by itself. The event is redacted already.
    pub(crate) fn look_at(&self, question: &str, completed: &Event) -> Finding {
        let text = |name: &str| completed.data.get(name).and_then(|text| text.as_str());
        let number = |name: &str| completed.data.get(name).and_then(serde_json::Value::as_f64);
        let response = text("response").unwrap_or_default();
        let question = Utterance::read(question);
        let answer = Answer::read(Some(&question), response);
        let status = text("status").and_then(TurnStatus::from_word);
        let status = status.unwrap_or(TurnStatus::Success);
        let failure =
            self.detectors.failure(Some(&question), response, &answer, status, text("error"));
        let moment = |name: &str| text(name).and_then(|text| Timestamp::parse(text).ok());
        let between = moment("started_at")
            .zip(moment("completed_at"))
            .map(|(start, end)| (end.as_micros() - start.as_micros()) as f64 / 1e6);
        // Clocks that disagree show in the two times; a measured latency was put in their place.
        let seconds = match between {
            Some(seconds) if seconds < 0.0 && number("latency_ms") == Some(0.0) => Some(seconds),
            Some(_) | None => number("latency_ms").map(|ms| ms / 1000.0),
        };
        let waited = completed.data.get("accepted").and_then(serde_json::Value::as_bool);
        let pace = seconds.and_then(|s| self.detectors.pace(&question, s, waited.unwrap_or(true)));
        if pace.is_some_and(|pace| pace.skewed) {
            self.counters.skewed_clocks();
        }
        let detector = self.detectors.answer_version();
        Finding::Answer(FoundAnswer { detector, error: failure, latency: pace })
    }

    async fn context_for(
        &self,
        include: Include,
        opening: &Event,
        position: Position,
        previous: Option<&Previous>,
    ) -> Result<Option<PlannerContext>, FlowError> {
        if !include.context {
            return Ok(None);
        }
        self.context_of(opening, position, previous).await.map(Some)
    }

    async fn strategies_for(
        &self,
        include: Include,
        opening: &Event,
        previous: Option<&Previous>,
    ) -> Result<Option<Strategies>, FlowError> {
        let Some(turn) = opening.turn.as_ref().filter(|_| include.strategies) else {
            return Ok(None);
        };
        let query = self.whole_question(&opening.scope, opening, previous).await?;
        self.strategies(&opening.scope, like(query, turn)).await.map(Some)
    }

    async fn examples_of(
        &self,
        include: Include,
        opening: &Event,
        previous: Option<&Previous>,
    ) -> Result<Option<Vec<FoundExample>>, FlowError> {
        let Some(turn) = opening.turn.as_ref().filter(|_| include.examples) else {
            return Ok(None);
        };
        let query = self.whole_question(&opening.scope, opening, previous).await?;
        self.examples_for(&opening.scope, query, turn).await.map(Some)
    }

    /// What a message asks for: a correction is about what it corrects, too.
    async fn whole_question(
        &self,
        scope: &Scope,
        opening: &Event,
        previous: Option<&Previous>,
    ) -> Result<String, FlowError> {
        let own = question_of(opening);
        let corrected = previous.filter(|previous| {
            let kind = previous.verdict.correction_type;
            matches!(kind, Some(CorrectionType::Explicit | CorrectionType::Rephrased))
        });
        let Some(corrected) = corrected else { return Ok(own) };
        let found = self.store.exchanges_by_id(scope, vec![corrected.turn.clone()]).await?.pop();
        Ok(found.map_or(own.clone(), |found| format!("{} {own}", found.opening.text)))
    }
}

/// Turns like the one that is being opened, with those to avoid.
fn like(query: String, turn: &TurnId) -> StrategySearch {
    StrategySearch {
        query,
        include_rejected: true,
        not: Some(turn.clone()),
        ..StrategySearch::default()
    }
}

fn question_of(opening: &Event) -> String {
    opening.data.get("text").and_then(|text| text.as_str()).unwrap_or_default().to_owned()
}
