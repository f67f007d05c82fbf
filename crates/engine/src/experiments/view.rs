//! An experiment as it stands: its definition, and what its log made of it.

use learn::experiment::{ExperimentDefinition, Move, RolloutState, Shares, Status};
use model::{ExperimentId, Position, Timestamp};
use serde_json::Value;
use store::{StoredExperiment, StoredMove, StoredStanding};

/// An experiment as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentView {
    /// Which.
    pub id: ExperimentId,
    /// Where its definition is in the log.
    pub position: Position,
    /// As it was written.
    pub definition: ExperimentDefinition,
    /// Where it stands.
    pub status: Status,
    /// When it was defined.
    pub created: Timestamp,
    /// When it came to stand where it stands.
    pub changed: Timestamp,
    /// How far a rollout has come; `None` without one.
    pub rollout: Option<RolloutState>,
    /// How its shares moved, in order.
    pub moves: Vec<StoredMove>,
}

impl ExperimentView {
    /// `None` when what is stored makes no sense.
    pub(crate) fn from_stored(stored: StoredExperiment) -> Option<Self> {
        let written = Value::Object(stored.definition);
        let definition: ExperimentDefinition = serde_json::from_value(written).ok()?;
        definition.check().ok()?;
        let mut rollout = RolloutState::start(&definition);
        for step in &stored.moves {
            let taken: Option<Move> = serde_json::from_value(Value::Object(step.step.clone())).ok();
            rollout = rollout.map(|state| taken.map_or(state, |taken| state.after(&taken)));
        }
        Some(Self {
            id: stored.id,
            position: stored.position,
            status: Status::from_word(&stored.status)?,
            created: stored.created,
            changed: stored.changed,
            rollout,
            moves: stored.moves,
            definition,
        })
    }

    /// Whether it still stands so.
    pub(super) fn matches_standing(&self, standing: &StoredStanding) -> bool {
        self.position == standing.position
            && self.status.word() == standing.status
            && self.moves.len() == standing.moves as usize
    }

    /// The shares for units that come now.
    pub fn shares(&self) -> Shares {
        self.shares_after(self.moves.len())
    }

    /// The shares after so many moves.
    pub(crate) fn shares_after(&self, moves: usize) -> Shares {
        let first = || match RolloutState::start(&self.definition) {
            Some(state) => state.shares(&self.definition),
            None => Shares::of_weights(&self.definition),
        };
        let moved = moves.checked_sub(1).and_then(|last| self.moves.get(last));
        moved.map_or_else(first, |moved| Shares::of(&moved.shares))
    }

    /// Whether everybody gets the control again.
    pub fn is_rolled_back(&self) -> bool {
        self.rollout.is_some_and(|state| state.rolled_back)
    }
}
