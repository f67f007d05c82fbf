//! Reading decisions.

use model::DecisionId;

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
