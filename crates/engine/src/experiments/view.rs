//! An experiment's definition and current state.

use learn::experiment::{
    ExperimentDefinition, ExperimentStatus, RolloutState, RolloutStep, TrafficShares,
};
use model::{ExperimentId, Position, Timestamp};
use serde_json::Value;
use store::{StoredExperiment, StoredMove, StoredStanding};

#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentView {
    pub id: ExperimentId,
    /// Position of the definition in the log.
    pub position: Position,
    pub definition: ExperimentDefinition,
    pub status: ExperimentStatus,
    pub created: Timestamp,
    /// Time of the last status change.
    pub changed: Timestamp,
    /// `None` without a rollout.
    pub rollout: Option<RolloutState>,
    /// Moves of the shares, in order.
    pub moves: Vec<StoredMove>,
}

impl ExperimentView {
    /// `None` when the stored definition or status is invalid.
    pub(crate) fn from_stored(stored: StoredExperiment) -> Option<Self> {
        let written = Value::Object(stored.definition);
        let definition: ExperimentDefinition = serde_json::from_value(written).ok()?;
        definition.validate().ok()?;
        let mut rollout = RolloutState::start(&definition);
        for step in &stored.moves {
            let taken: Option<RolloutStep> =
                serde_json::from_value(Value::Object(step.step.clone())).ok();
            rollout = rollout.map(|state| taken.map_or(state, |taken| state.apply_step(&taken)));
        }
        Some(Self {
            id: stored.id,
            position: stored.position,
            status: ExperimentStatus::from_word(&stored.status)?,
            created: stored.created,
            changed: stored.changed,
            rollout,
            moves: stored.moves,
            definition,
        })
    }

    /// True while status and moves equal the stored ones.
    pub(super) fn matches_standing(&self, standing: &StoredStanding) -> bool {
        self.position == standing.position
            && self.status.word() == standing.status
            && self.moves.len() == standing.moves as usize
    }

    /// The shares for new units.
    pub fn shares(&self) -> TrafficShares {
        self.shares_after(self.moves.len())
    }

    pub(crate) fn shares_after(&self, moves: usize) -> TrafficShares {
        let first = || match RolloutState::start(&self.definition) {
            Some(state) => state.current_shares(&self.definition),
            None => TrafficShares::from_definition(&self.definition),
        };
        let moved = moves.checked_sub(1).and_then(|last| self.moves.get(last));
        moved.map_or_else(first, |moved| TrafficShares::from_weights(&moved.shares))
    }

    /// True when a rollback serves the control to all units.
    pub fn is_rolled_back(&self) -> bool {
        self.rollout.is_some_and(|state| state.rolled_back)
    }
}
