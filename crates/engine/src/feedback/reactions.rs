//! Reactions to turns: validated, attached to the turn, stored.
//!
//! The turn must exist. The receipt's resource name and user follow from the turn, which does not
//! change once it is open. The transaction checks again that the turn exists.

use ingest::{AcceptedReaction, RawReaction, TurnPlace};
use model::{
    Body, ConversationId, EventId, GivenReaction, Mac, Need, Origin, Outcome, Reaction, Scope,
    TurnId, artifact_id, resource_name,
};
use store::TurnHead;

use crate::error::EngineError;
use crate::feedback::Feedback;
use crate::receipt::RequestKey;

#[derive(Clone, Debug)]
pub struct IncomingReaction {
    /// The turn's conversation as sent by the client.
    pub conversation: ConversationId,
    pub turn: TurnId,
    pub raw: RawReaction,
    /// The MAC of the request.
    pub mac: Mac,
    pub key: Option<RequestKey>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReactionReceipt {
    /// The current reaction of the user or machine.
    Given {
        /// `None` when it was cleared.
        reaction: Option<Reaction>,
        /// The artifact's resource name; `None` when there was nothing to clear.
        rn: Option<String>,
        unchanged: bool,
    },
    /// The machine's confidence was too low; nothing was written.
    Skipped,
}

impl Feedback {
    /// Stores one reaction.
    pub async fn react(
        &self,
        scope: &Scope,
        incoming: IncomingReaction,
    ) -> Result<ReactionReceipt, EngineError> {
        let IncomingReaction { conversation, turn, raw, mac, key } = incoming;
        let now = self.core.clock.now();
        let accepted = ingest::accept_reaction(raw, now)?;
        let head = self.read_turn_head(scope, &turn, &conversation).await?;
        if accepted.is_below_threshold() {
            return Ok(ReactionReceipt::Skipped);
        }
        // A quoted turn has the user of the feedback that quotes it, who may be another one.
        let user = accepted.user.clone().or(head.user.filter(|_| !head.derived));
        let place =
            TurnPlace { scope: scope.clone(), turn, conversation: Some(conversation), user };
        let event =
            ingest::reaction_event(place.clone(), &accepted, self.core.ids.event_id(now), now);
        let id = event.id.clone();
        let mut write = self.core.build_write(event, mac, key);
        // Stored text is redacted, so the new text is compared after redaction.
        if let Body::Reaction(given) = &write.entry.event.body {
            write.needs = reaction_needs(&place, given);
        }
        let outcome = self.core.store_writes(vec![write]).await?.pop();
        match outcome.unwrap_or(Outcome::Failed) {
            Outcome::Stored(_) | Outcome::StoredElsewhere(_) => {
                Ok(new_receipt(&place, &accepted, &id))
            }
            Outcome::Replayed { id, .. } => self.replay_receipt(scope, &id).await,
            Outcome::Unchanged => self.unchanged_receipt(&place, accepted.given.reaction).await,
            Outcome::Conflict(space) => Err(EngineError::Conflict(space)),
            Outcome::Missing(_) => Err(EngineError::NotFound("turn")),
            Outcome::SetAside => Err(EngineError::DeadLettered),
            Outcome::Failed => Err(EngineError::NotStored),
        }
    }

    /// The turn, if it exists in this conversation.
    async fn read_turn_head(
        &self,
        scope: &Scope,
        turn: &TurnId,
        conversation: &ConversationId,
    ) -> Result<TurnHead, EngineError> {
        let head = self.core.store.turn_head(scope, turn).await?;
        head.filter(|head| head.conversation.as_ref() == Some(conversation))
            .ok_or(EngineError::NotFound("turn"))
    }

    /// The receipt of the first request with this key.
    async fn replay_receipt(
        &self,
        scope: &Scope,
        id: &EventId,
    ) -> Result<ReactionReceipt, EngineError> {
        let first =
            self.core.store.event(scope, id).await?.ok_or(EngineError::NotFound("reaction"))?;
        let event = &first.event;
        let turn = event.turn.as_ref().ok_or(EngineError::NotFound("turn"))?;
        let artifact = artifact_id(event.ts, id);
        let (user, conversation) = (event.user.as_ref(), event.conversation.as_ref());
        let rn = resource_name(scope, user, conversation, turn, &artifact);
        let reaction = if let Body::Reaction(given) = &event.body { given.reaction } else { None };
        Ok(ReactionReceipt::Given { reaction, rn: Some(rn), unchanged: true })
    }

    /// The receipt for a reaction equal to the stored one.
    async fn unchanged_receipt(
        &self,
        place: &TurnPlace,
        reaction: Option<Reaction>,
    ) -> Result<ReactionReceipt, EngineError> {
        let TurnPlace { scope, turn, user, .. } = place;
        let standing = self.core.store.standing_reaction(scope, turn, user.as_ref()).await?;
        let rn = standing.map(|standing| crate::report::FeedbackItem::new(scope, standing).rn);
        Ok(ReactionReceipt::Given { reaction, rn, unchanged: true })
    }
}

fn reaction_needs(place: &TurnPlace, given: &GivenReaction) -> Vec<Need> {
    let mut needs = vec![Need::Turn(place.conversation.clone())];
    match given.origin {
        Origin::User => {
            let (reaction, text) = (given.reaction, given.text.clone());
            needs.push(Need::OtherReaction { reaction, text, tags: Vec::new() });
        }
        Origin::Machine => {}
    }
    needs
}

fn new_receipt(place: &TurnPlace, accepted: &AcceptedReaction, id: &EventId) -> ReactionReceipt {
    let artifact = artifact_id(accepted.ts, id);
    let (user, conversation) = (place.user.as_ref(), place.conversation.as_ref());
    let rn = resource_name(&place.scope, user, conversation, &place.turn, &artifact);
    let reaction = accepted.given.reaction;
    ReactionReceipt::Given { reaction, rn: Some(rn), unchanged: false }
}
