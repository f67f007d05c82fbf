//! A turn in, in one step or two.
//!
//! ```text
//! opening ----accept--> (query, turn) event, phase opened ----commit--> the turn is there
//! completion -accept--> (query, turn) event, phase completed -commit--> it has its answer
//! ```

use capture::{RawCompletion, RawOpening, TurnPlace};
use event::{
    Claim, ClaimSpace, Completion, ConversationId, Event, Mac, Need, Scope, TurnHalf, TurnId,
};
use store::StoredTurn;

use crate::engine::Engine;
use crate::error::FlowError;
use crate::record::{Receipt, RequestKey};

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
}

/// What the sender of a turn is told: it is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenReceipt {
    /// The turn.
    pub turn: TurnId,
    /// Its conversation.
    pub conversation: Option<ConversationId>,
    /// It had been stored before; nothing changed.
    pub replayed: bool,
    /// What became of the answer, if it came along.
    pub completion: Option<CompleteReceipt>,
}

/// What the sender of an answer is told: it is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompleteReceipt {
    /// The turn.
    pub turn: TurnId,
    /// It had been stored before; nothing changed.
    pub replayed: bool,
}

impl Engine {
    /// Takes in a question, and its answer if it comes along.
    pub async fn open_turn(
        &self,
        scope: &Scope,
        incoming: IncomingTurn,
    ) -> Result<OpenReceipt, FlowError> {
        let IncomingTurn { opening, completion, key } = incoming;
        let now = self.clock.now();
        let accepted = capture::accept_opening(opening.raw, now)?;
        // Both halves are checked before either is stored.
        let completion = match completion {
            None => None,
            Some(half) => Some((capture::accept_completion(half.raw, now)?, half.mac)),
        };
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
        let mut write = self.write_of(event, opening.mac, key);
        let turn = place.turn.as_str().to_owned();
        write.claims.push(Claim { space: ClaimSpace::Turn, id: turn, mac: Some(opening.mac) });
        let receipt = self.commit_one(write).await?;
        let place = match receipt.replayed {
            true => self.place_of(scope, &receipt).await?.unwrap_or(place),
            false => place,
        };
        let completion = match completion {
            None => None,
            Some((completion, mac)) => {
                Some(self.store_completion(place.clone(), completion, mac, None).await?)
            }
        };
        Ok(OpenReceipt {
            turn: place.turn,
            conversation: place.conversation,
            replayed: receipt.replayed && completion.as_ref().is_none_or(|done| done.replayed),
            completion,
        })
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
        let head = self.store.turn_head(scope, &turn).await?.ok_or(FlowError::Unknown("turn"))?;
        let place = TurnPlace {
            scope: scope.clone(),
            turn,
            conversation: head.conversation,
            user: head.user,
        };
        self.store_completion(place, accepted, completion.mac, key).await
    }

    /// A turn with everything that happened to it.
    pub async fn turn(&self, scope: &Scope, turn: TurnId) -> Result<Option<StoredTurn>, FlowError> {
        Ok(self.store.turns(scope, vec![turn]).await?.pop())
    }

    async fn store_completion(
        &self,
        place: TurnPlace,
        completion: Completion,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<CompleteReceipt, FlowError> {
        let now = self.clock.now();
        let (turn, ts) = (place.turn.clone(), completion.completed_at.unwrap_or(now));
        let half = TurnHalf::Completed(Box::new(completion));
        let event = capture::turn_event(place, &half, self.mint.event_id(now), ts, now);
        let mut write = self.write_of(event, mac, key);
        let id = turn.as_str().to_owned();
        write.claims.push(Claim { space: ClaimSpace::Completion, id, mac: Some(mac) });
        write.needs.push(Need::Turn(None));
        let receipt = self.commit_one(write).await?;
        Ok(CompleteReceipt { turn, replayed: receipt.replayed })
    }

    /// Where the first one of a repeated opening went; `None` when it was dropped since.
    async fn place_of(
        &self,
        scope: &Scope,
        receipt: &Receipt,
    ) -> Result<Option<TurnPlace>, FlowError> {
        let first = self.store.event(scope, &receipt.id).await?.map(|stored| stored.event);
        let place = |first: Event| {
            let scope = scope.clone();
            Some(TurnPlace {
                scope,
                turn: first.turn?,
                conversation: first.conversation,
                user: first.user,
            })
        };
        Ok(first.and_then(place))
    }
}
