//! Experiments in the log: definition, state, moves of their shares, and exposures.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::ExperimentId;

/// The unit of assignment to a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentUnit {
    /// A user keeps one variant in all conversations.
    User,
    Conversation,
}

impl ExperimentUnit {
    /// The stored number; never changes.
    pub const fn code(self) -> u8 {
        match self {
            Self::User => 1,
            Self::Conversation => 2,
        }
    }
}

/// A decision about an experiment, by a person or by its own evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ExperimentRule {
    Defined {
        experiment_id: ExperimentId,
        unit: ExperimentUnit,
        definition: Map<String, Value>,
    },
    /// The experiment changed its state.
    Status {
        experiment_id: ExperimentId,
        /// The action taken.
        action: String,
        /// The new state.
        status: String,
    },
    /// The shares of its variants moved.
    Moved {
        experiment_id: ExperimentId,
        /// Number of the move, from 1.
        number: u32,
        /// The new share of each variant.
        shares: Vec<f64>,
        /// Old and new shares and the reason, with the evidence.
        #[serde(rename = "move")]
        step: Map<String, Value>,
    },
}

impl ExperimentRule {
    pub fn into_experiment_id(self) -> ExperimentId {
        match self {
            Self::Defined { experiment_id, .. }
            | Self::Status { experiment_id, .. }
            | Self::Moved { experiment_id, .. } => experiment_id,
        }
    }
}

/// Exposes the event's user or conversation to a variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposure {
    pub experiment_id: ExperimentId,
    pub variant: String,
    /// Index of the variant in the definition.
    pub index: u32,
    /// Number of moves the experiment had made.
    pub moves: u32,
}

/// A change to an experiment's projection.
#[derive(Clone, Debug, PartialEq)]
pub enum ExperimentChange {
    Rule(ExperimentRule),
    Expose(Exposure),
}
