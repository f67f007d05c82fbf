//! Experiments: who gets which variant, and when the difference is known.
//!
//! Everything that changes is a value somebody logs: the definition, the [`Action`]s, a unit's
//! first exposure, its totals, and each [`Move`] of a rollout. [`Evidence`] is what adds up from
//! those, in whole numbers, so that a replay gives the same bits in any order of units.
//!
//! A unit stands for analysis where it was **first** exposed: its variant, and the stratum (the
//! step of the rollout) at that time. A unit that a rollout moves on to the treatment, or back, is
//! served another variant from then on; those turns say nothing about a fair comparison and count
//! for guardrails only. So a unit is in one arm of one stratum, once.
//!
//! Which variant a unit is served: by weights and in a rollout what [`assign()`] says with the shares
//! of now; adaptive, or paused, what its first exposure says if it had one.

mod definition;
mod lifecycle;
mod traffic_shares;
mod assignment;
mod tally;
mod mean;
mod confidence_sequence;
mod cuped;
mod difference;
mod sample_ratio;
mod evidence;
mod guardrail;
mod adaptive_shares;
mod rollout;
mod results;

pub use model::{Direction, Metric, UnitTotals};

pub use adaptive_shares::adaptive_shares;
pub use assignment::{Salt, assign};
pub use definition::{Adaptive, By, ExperimentDefinition, Guardrail, Rollout, Unit, Variant};
pub use difference::Compared;
pub use evidence::{Evidence, Place, Stratum};
pub use guardrail::{GuardrailStanding, guardrail_standings};
pub use lifecycle::{Action, NotPossible, Status};
pub use mean::Mean;
pub use results::{Comparison, Difference, Results, VariantResult, Verdict, Why, results};
pub use rollout::{Move, NotWorse, Reason, RolloutState, next_step};
pub use confidence_sequence::{Sequence, TUNED_FOR};
pub use traffic_shares::Shares;
pub use sample_ratio::{Exposures, SampleRatio};
pub use tally::Tally;

/// Fewer units than this in an arm, and nothing is concluded.
///
/// The intervals lean on the central limit theorem and on a variance that is itself estimated;
/// with a handful of units both can be far off, and always to the side of too much confidence.
pub const LEAST_UNITS: u64 = 100;

#[cfg(test)]
mod tests;
