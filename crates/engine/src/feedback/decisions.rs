//! Decisions of an agent and their outcomes.

use ingest::{RawDecision, RawOutcome};
use model::{Body, ConversationId, DecisionId, Mac, Need, Outcome, Position, Scope};
use store::StoredDecision;

use crate::error::EngineError;
use crate::feedback::Feedback;
use crate::receipt::RequestKey;
use crate::report::{ConfidenceBin, ConfidenceBins};

/// Decisions read at once for the calibration.
const CALIBRATION_PAGE: usize = 1000;
/// Attempts before a write that keeps losing against concurrent outcomes is given up.
const MAX_CONCURRENT_OUTCOMES: usize = 100;

/// Response to an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomeReceipt {
    /// True if it changed nothing.
    pub replayed: bool,
    /// True when its decision is not stored yet.
    pub pending: bool,
}

impl Feedback {
    /// Stores a decision. Returns its id, and true if it was stored before.
    pub async fn record_decision(
        &self,
        scope: &Scope,
        raw: RawDecision,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<(DecisionId, bool), EngineError> {
        let now = self.core.clock.now();
        let fresh = || self.core.ids.decision_id(now);
        let event = self.core.ids.event_id(now);
        let (id, event) = ingest::accept_decision(scope, raw, event, now, fresh)?;
        let mut writes = vec![self.core.build_write(event, mac, key)];
        self.join_turns(&mut writes).await?;
        let receipt = self.core.commit_last(writes).await?;
        if !receipt.replayed {
            return Ok((id, false));
        }
        // A repeat without an id of its own is known only by the idempotency key.
        let first = self.core.store.event(scope, &receipt.id).await?;
        let first_id = match first.map(|stored| stored.event.into_inner().body) {
            Some(Body::Decision(made)) => made.into_value().decision_id,
            Some(_) | None => None,
        };
        Ok((first_id.unwrap_or(id), true))
    }

    /// Stores the outcome of a decision, which may arrive later. The newest outcome counts, merged
    /// with the fields of earlier ones.
    pub async fn record_outcome(
        &self,
        scope: &Scope,
        id: &DecisionId,
        raw: RawOutcome,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<OutcomeReceipt, EngineError> {
        for _ in 0..MAX_CONCURRENT_OUTCOMES {
            let known = self.core.store.decision(scope, id).await?;
            let pending = known.is_none();
            let outcome =
                self.try_record_outcome(scope, (id, known), raw.clone(), mac, key.clone()).await?;
            match outcome {
                Outcome::Stored(_) | Outcome::StoredElsewhere(_) => {
                    return Ok(OutcomeReceipt { replayed: false, pending });
                }
                Outcome::Replayed { .. } | Outcome::Unchanged => {
                    return Ok(OutcomeReceipt { replayed: true, pending });
                }
                Outcome::Conflict(space) => return Err(EngineError::Conflict(space)),
                // A concurrent outcome was stored, and must be merged first.
                Outcome::Missing(Need::OutcomeAt(..)) => {}
                Outcome::Missing(_) => return Err(EngineError::NotFound("decision")),
                Outcome::SetAside => return Err(EngineError::DeadLettered),
                Outcome::Failed => return Err(EngineError::NotStored),
            }
        }
        Err(EngineError::NotStored)
    }

    async fn try_record_outcome(
        &self,
        scope: &Scope,
        (id, known): (&DecisionId, Option<StoredDecision>),
        mut raw: RawOutcome,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<Outcome, EngineError> {
        let now = self.core.clock.now();
        let (made, settled) = match known {
            Some(known) => (Some(known.made), known.settled),
            None => (None, self.core.store.pending_outcome(scope, id).await?),
        };
        if let Some(Body::Settlement(before)) = settled.as_ref().map(|stored| &stored.event.body) {
            let mentioned = std::mem::replace(&mut raw.outcome_data, before.outcome_data.clone());
            raw.outcome_data.extend(mentioned);
        }
        let made = made.as_ref().map(|made| &*made.event);
        let event_id = self.core.ids.event_id(now);
        let event = ingest::accept_outcome(scope, made, id, raw, event_id, now)?;
        let mut write = self.core.build_write(event, mac, key);
        let at = Need::OutcomeAt(id.clone(), settled.map(|stored| stored.position));
        write.needs = vec![at, Need::OtherOutcome(id.clone())];
        Ok(self.core.store_writes(vec![write]).await?.pop().unwrap_or(Outcome::Failed))
    }

    pub async fn decision(
        &self,
        scope: &Scope,
        id: &DecisionId,
    ) -> Result<Option<StoredDecision>, EngineError> {
        Ok(self.core.store.decision(scope, id).await?)
    }

    /// Success rates by confidence of all decisions of a conversation.
    pub async fn session_calibration(
        &self,
        scope: &Scope,
        conversation: &ConversationId,
    ) -> Result<Vec<ConfidenceBin>, EngineError> {
        let mut bins = ConfidenceBins::default();
        let mut after = Position(0);
        loop {
            let page =
                self.conversation_decisions(scope, conversation, after, CALIBRATION_PAGE).await?;
            let Some(last) = page.last() else { return Ok(bins.finish()) };
            after = last.made.position;
            page.iter().for_each(|decision| bins.add(decision));
        }
    }

    /// Decisions of a conversation after a position.
    pub async fn conversation_decisions(
        &self,
        scope: &Scope,
        conversation: &ConversationId,
        after: Position,
        limit: usize,
    ) -> Result<Vec<StoredDecision>, EngineError> {
        Ok(self.core.store.conversation_decisions(scope, conversation, after, limit).await?)
    }
}
