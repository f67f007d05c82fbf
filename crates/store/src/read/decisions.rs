//! Reading decisions.

use model::{ConversationId, DecisionId, Position, Scope};

use crate::log::Task;
use crate::read::events::StoredEvent;

/// A decision: the event that made it and the one that last settled it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDecision {
    /// Which decision.
    pub id: DecisionId,
    /// What was decided.
    pub made: StoredEvent,
    /// How it turned out, if that was learnt later.
    pub settled: Option<StoredEvent>,
}

/// Decisions that were made. One whose outcome alone has arrived is not there yet.
pub trait DecisionReads: Send + Sync {
    /// One by its id.
    fn decision(&self, scope: &Scope, id: &DecisionId) -> Task<'_, Option<StoredDecision>>;

    /// Those of a conversation made behind a position, in order.
    fn decisions_of(
        &self,
        scope: &Scope,
        conversation: &ConversationId,
        after: Position,
        limit: usize,
    ) -> Task<'_, Vec<StoredDecision>>;
}
