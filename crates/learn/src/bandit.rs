//! Which arm serves the next turn, and what an arm learns from how a turn went.
//!
//! State is advanced by `adopt`, `chosen`, `spent`, `observe` and `reset`, strictly in the order of
//! the log; the same inputs give the same bits. Choosing reads it and changes nothing.

mod sampler;
mod best_arm_probability;
mod propensity_floor;
mod discount;
mod definition;
mod matrix;
mod ridge_regression;
mod shadow_evaluation;
mod reward_sums;
mod state;
mod discount_era;
mod credit;
mod eligibility;
mod algorithms;
mod choice;
mod summary;
mod checkpoint;
pub(crate) mod projection;

pub(crate) use propensity_floor::lift;
pub(crate) use best_arm_probability::{Score, likeliest};
pub(crate) use ridge_regression::{Linear, Point};

pub use checkpoint::BadCheckpoint;
pub use choice::{ArmScore, Choice, Choosing};
pub use discount::Discount;
pub use credit::{Applied, Credit};
pub use definition::{Algorithm, ArmDefinition, RouterDefinition, RouterRule};
pub use shadow_evaluation::{Lead, Shadow};
pub use state::RouterState;
pub use summary::ArmSummary;

/// More arms than this are refused: everything about one choice fits on the stack.
pub(crate) const MOST_ARMS: usize = 64;
/// More features than this are refused.
pub(crate) const MOST_FEATURES: usize = 64;

#[cfg(test)]
mod tests;
