//! Multi-armed bandits: choose the arm that serves the next turn and learn from its reward.
//!
//! State changes only through `adopt_rule`, `record_choice`, `record_cost`, `observe` and `reset`,
//! in log order. The same inputs give the same bits. Choosing an arm only reads the state.

mod sampler;
mod best_arm_probability;
mod propensity_floor;
mod discount;
mod definition;
mod ridge_regression;
mod shadow_evaluation;
mod reward_sums;
mod reward_window;
mod state;
mod credit;
mod algorithms;
mod choice;
mod checkpoint;
pub(crate) mod projection;

pub(crate) use best_arm_probability::{ScoreDensity, best_arm_probabilities};
pub(crate) use propensity_floor::raise_to_floors;
pub(crate) use ridge_regression::{FeatureVector, RidgeRegression};

pub use checkpoint::CheckpointError;
pub use choice::{ArmChoice, ArmScore, ChoiceRequest};
pub use credit::{AppliedObservation, Credit};
pub use definition::{Algorithm, ArmDefinition, RouterDefinition, RouterRule};
pub use discount::Discount;
pub use shadow_evaluation::{CandidateLead, ShadowEstimate};
pub use state::{ArmSummary, RouterState};

/// Upper bound on arms, so that the data of one choice fits on the stack.
pub(crate) const MAX_ARMS: usize = 64;
pub(crate) const MAX_FEATURES: usize = 64;

#[cfg(test)]
mod tests;
