//! A reaction on a turn in: checked, attached to the turn, stored.
//!
//! The turn must be there. What the answer says of the reaction (its name, its user) follows from
//! the turn, which does not change once it is open; whether it is still there is judged again
//! inside the transaction.

use ingest::{AcceptedReaction, RawReaction, TurnPlace};
use model::{
    ConversationId, EventId, GivenReaction, Mac, Need, Origin, Outcome, Reaction, Scope, TurnId,
    artifact_id, resource_name,
};
use store::TurnHead;

use crate::error::FlowError;
use crate::feedback::Feedback;
use crate::receipt::RequestKey;

/// A reaction on its way in.
#[derive(Clone, Debug)]
pub struct IncomingReaction {
    /// The turn's conversation, as the sender has it.
    pub conversation: ConversationId,
    /// The turn.
    pub turn: TurnId,
    /// What it says.
    pub raw: RawReaction,
    /// The MAC of the request.
    pub mac: Mac,
    /// The request's own key.
    pub key: Option<RequestKey>,
}

/// What the sender of a reaction is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReactionReceipt {
    /// The user's or machine's reaction is this now.
    Given {
        /// What it is; `None` when it was cleared.
        reaction: Option<Reaction>,
        /// The artifact's resource name; `None` when there was nothing to clear.
        rn: Option<String>,
        /// Nothing had to change.
        unchanged: bool,
    },
    /// The machine was not sure enough; nothing was written.
    Skipped,
}

impl Feedback {
    /// Takes in one reaction.
    pub async fn react(
        &self,
        scope: &Scope,
        incoming: IncomingReaction,
    ) -> Result<ReactionReceipt, FlowError> {
        let IncomingReaction { conversation, turn, raw, mac, key } = incoming;
        let now = self.core.clock.now();
        let accepted = ingest::accept_reaction(raw, now)?;
        let head = self.turn_in(scope, &turn, &conversation).await?;
        if accepted.is_too_unsure() {
            return Ok(ReactionReceipt::Skipped);
        }
        let user = accepted.user.clone().or(head.user);
        let place =
            TurnPlace { scope: scope.clone(), turn, conversation: Some(conversation), user };
        let event =
            ingest::reaction_event(place.clone(), &accepted, self.core.ids.event_id(now), now);
        let id = event.id.clone();
        let mut write = self.core.build_write(event, mac, key);
        // What stands was redacted when it came, so what comes is compared as it would stand.
        let text = write.entry.event.data.get("text").and_then(|text| text.as_str());
        write.needs = needs(&place, &accepted.given, text.map(str::to_owned));
        let outcome = self.core.store_writes(vec![write]).await?.pop();
        match outcome.unwrap_or(Outcome::Failed) {
            Outcome::Stored(_) => Ok(given(&place, &accepted, &id)),
            Outcome::Replayed { id, .. } => self.first_of(scope, &id).await,
            Outcome::Unchanged => self.standing(&place, accepted.given.reaction).await,
            Outcome::Conflict(space) => Err(FlowError::Conflict(space)),
            Outcome::Missing(_) => Err(FlowError::Unknown("turn")),
            Outcome::SetAside => Err(FlowError::SetAside),
            Outcome::Failed => Err(FlowError::NotStored),
        }
    }

    /// The turn, if it is there and in this conversation.
    async fn turn_in(
        &self,
        scope: &Scope,
        turn: &TurnId,
        conversation: &ConversationId,
    ) -> Result<TurnHead, FlowError> {
        let head = self.core.store.turn_head(scope, turn).await?;
        head.filter(|head| head.conversation.as_ref() == Some(conversation))
            .ok_or(FlowError::Unknown("turn"))
    }

    /// The answer that the first request with this key got.
    async fn first_of(&self, scope: &Scope, id: &EventId) -> Result<ReactionReceipt, FlowError> {
        let first =
            self.core.store.event(scope, id).await?.ok_or(FlowError::Unknown("reaction"))?;
        let word = first.event.data.get("reaction").and_then(|word| word.as_str());
        let turn = first.event.turn.ok_or(FlowError::Unknown("turn"))?;
        let artifact = artifact_id(first.event.ts, id);
        let (user, conversation) = (first.event.user.as_ref(), first.event.conversation.as_ref());
        let rn = resource_name(scope, user, conversation, &turn, &artifact);
        let reaction = word.and_then(Reaction::from_word);
        Ok(ReactionReceipt::Given { reaction, rn: Some(rn), unchanged: true })
    }

    /// The reaction that was there already.
    async fn standing(
        &self,
        place: &TurnPlace,
        reaction: Option<Reaction>,
    ) -> Result<ReactionReceipt, FlowError> {
        let TurnPlace { scope, turn, user, .. } = place;
        let standing = self.core.store.standing_reaction(scope, turn, user.as_ref()).await?;
        let rn = standing.map(|standing| report::FeedbackItem::of(scope, standing).rn);
        Ok(ReactionReceipt::Given { reaction, rn, unchanged: true })
    }
}

fn needs(place: &TurnPlace, given: &GivenReaction, text: Option<String>) -> Vec<Need> {
    let mut needs = vec![Need::Turn(place.conversation.clone())];
    match given.origin {
        Origin::User => needs.push(Need::OtherReaction { reaction: given.reaction, text }),
        Origin::Machine => {}
    }
    needs
}

fn given(place: &TurnPlace, accepted: &AcceptedReaction, id: &EventId) -> ReactionReceipt {
    let artifact = artifact_id(accepted.ts, id);
    let (user, conversation) = (place.user.as_ref(), place.conversation.as_ref());
    let rn = resource_name(&place.scope, user, conversation, &place.turn, &artifact);
    let reaction = accepted.given.reaction;
    ReactionReceipt::Given { reaction, rn: Some(rn), unchanged: false }
}
