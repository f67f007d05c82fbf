//! Experiments in the log: their definition, where they stand, how their shares move, and who was
//! served which variant.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::ExperimentId;

/// Who is assigned to a variant as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentUnit {
    /// A person keeps one variant in all conversations.
    User,
    /// A conversation keeps one variant.
    Conversation,
}

impl ExperimentUnit {
    /// The number in the store; never changes.
    pub const fn code(self) -> u8 {
        match self {
            Self::User => 1,
            Self::Conversation => 2,
        }
    }
}

/// Something that was decided about an experiment, by people or by its own numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ExperimentRule {
    /// It exists.
    Defined {
        /// Which.
        experiment_id: ExperimentId,
        /// Who is assigned as a whole.
        unit: ExperimentUnit,
        /// As it was written.
        definition: Map<String, Value>,
    },
    /// It stands elsewhere.
    Status {
        /// Which.
        experiment_id: ExperimentId,
        /// What somebody did with it.
        action: String,
        /// Where it stands now.
        status: String,
    },
    /// Its variants have other shares.
    Moved {
        /// Which.
        experiment_id: ExperimentId,
        /// Its how manieth move: 1, 2, 3 and so on.
        number: u32,
        /// The share of each variant from now on.
        shares: Vec<f64>,
        /// From where to where and why, with the evidence.
        #[serde(rename = "move")]
        step: Map<String, Value>,
    },
}

/// The event's user or conversation is served a variant from now on. Who that is, the event says:
/// not this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposure {
    /// In which experiment.
    pub experiment_id: ExperimentId,
    /// The variant's name.
    pub variant: String,
    /// The variant's place in the definition.
    pub index: u32,
    /// How many moves the experiment had made.
    pub moves: u32,
}

/// What an event does to what is known of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub enum ExperimentChange {
    /// As the rule says.
    Rule(ExperimentRule),
    /// As the exposure says.
    Expose(Exposure),
}
