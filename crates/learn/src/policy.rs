//! Which arm serves the next turn, and what an arm learns from how a turn went.
//!
//! State is advanced by `adopt`, `chosen`, `spent`, `observe` and `reset`, strictly in the order of
//! the log; the same inputs give the same bits. Choosing reads it and changes nothing.

mod random;
mod likeliest;
mod floor;
mod discount;
mod rule;
mod matrix;
mod linear;
mod shadow;
mod sums;
mod state;
mod era;
mod observe;
mod eligible;
mod score;
mod choose;
mod summary;
mod checkpoint;

pub(crate) use floor::lift;
pub(crate) use likeliest::{Score, likeliest};
pub(crate) use linear::{Linear, Point};

pub use checkpoint::BadCheckpoint;
pub use choose::{ArmScore, Choice, Choosing};
pub use discount::Discount;
pub use observe::{Applied, Credit};
pub use rule::{Algorithm, ArmDefinition, RouterDefinition, RouterRule};
pub use shadow::{Lead, Shadow};
pub use state::RouterState;
pub use summary::ArmSummary;

/// More arms than this are refused: everything about one choice fits on the stack.
pub(crate) const MOST_ARMS: usize = 64;
/// More features than this are refused.
pub(crate) const MOST_FEATURES: usize = 64;

#[cfg(test)]
mod tests;
