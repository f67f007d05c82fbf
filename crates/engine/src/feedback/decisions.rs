//! Decisions in and out: what an agent chose, and later how that turned out.

use ingest::{RawDecision, RawOutcome};
use model::{ConversationId, DecisionId, Mac, Need, Outcome, Position, Scope};
use serde_json::Value;
use store::StoredDecision;

use crate::error::FlowError;
use crate::feedback::Feedback;
use crate::receipt::RequestKey;

/// Outcomes of one decision that may come at the same moment.
const MOST_AT_ONCE: usize = 100;

impl Feedback {
    /// Takes in a decision. Answers its id, and whether it had been stored before.
    pub async fn decide(
        &self,
        scope: &Scope,
        raw: RawDecision,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<(DecisionId, bool), FlowError> {
        let now = self.core.clock.now();
        let fresh = || self.core.ids.decision_id(now);
        let event = self.core.ids.event_id(now);
        let (id, event) = ingest::accept_decision(scope, raw, event, now, fresh)?;
        let receipt = self.core.commit_one(self.core.build_write(event, mac, key)).await?;
        if !receipt.replayed {
            return Ok((id, false));
        }
        // A repeat without an id of its own is known by the request's key alone.
        let first = self.core.store.event(scope, &receipt.id).await?;
        let text = first.as_ref().and_then(|stored| stored.event.data.get("decision_id")?.as_str());
        let first_id = text.and_then(|text| DecisionId::new(text).ok());
        Ok((first_id.unwrap_or(id), true))
    }

    /// Takes in how a decision turned out. The newest outcome counts; of what is known about it, what is not
    /// mentioned again stays. The same once more changes nothing. Answers whether it had been stored before.
    pub async fn settle(
        &self,
        scope: &Scope,
        id: &DecisionId,
        raw: RawOutcome,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<bool, FlowError> {
        for _ in 0..MOST_AT_ONCE {
            match self.settle_as_it_stands(scope, id, raw.clone(), mac, key.clone()).await? {
                Outcome::Stored(_) => return Ok(false),
                Outcome::Replayed { .. } | Outcome::Unchanged => return Ok(true),
                Outcome::Conflict(space) => return Err(FlowError::Conflict(space)),
                // Somebody else said something meanwhile, which must not be lost.
                Outcome::Missing(Need::OutcomeAt(..)) => {}
                Outcome::Missing(_) => return Err(FlowError::Unknown("decision")),
                Outcome::SetAside => return Err(FlowError::SetAside),
                Outcome::Failed => return Err(FlowError::NotStored),
            }
        }
        Err(FlowError::NotStored)
    }

    async fn settle_as_it_stands(
        &self,
        scope: &Scope,
        id: &DecisionId,
        mut raw: RawOutcome,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<Outcome, FlowError> {
        let now = self.core.clock.now();
        let known =
            self.core.store.decision(scope, id).await?.ok_or(FlowError::Unknown("decision"))?;
        let settled = known.settled.as_ref();
        if let Some(Value::Object(before)) =
            settled.and_then(|stored| stored.event.data.get("outcome_data"))
        {
            let mentioned = std::mem::take(&mut raw.outcome_data);
            raw.outcome_data = before.clone();
            raw.outcome_data.extend(mentioned);
        }
        let made = &known.made.event;
        let event = ingest::accept_outcome(made, id, raw, self.core.ids.event_id(now), now)?;
        let mut write = self.core.build_write(event, mac, key);
        let at = Need::OutcomeAt(id.clone(), settled.map(|stored| stored.position));
        write.needs = vec![Need::Decision(id.clone()), at, Need::OtherOutcome(id.clone())];
        Ok(self.core.store_writes(vec![write]).await?.pop().unwrap_or(Outcome::Failed))
    }

    /// One decision.
    pub async fn decision(
        &self,
        scope: &Scope,
        id: &DecisionId,
    ) -> Result<Option<StoredDecision>, FlowError> {
        Ok(self.core.store.decision(scope, id).await?)
    }

    /// The decisions of a conversation made behind a position.
    pub async fn conversation_decisions(
        &self,
        scope: &Scope,
        conversation: &ConversationId,
        after: Position,
        limit: usize,
    ) -> Result<Vec<StoredDecision>, FlowError> {
        Ok(self.core.store.conversation_decisions(scope, conversation, after, limit).await?)
    }
}
