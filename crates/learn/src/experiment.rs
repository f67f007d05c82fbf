//! A/B tests: assignment of units to variants, and anytime-valid results.
//!
//! Every input is a logged value: the definition, each [`LifecycleAction`], a unit's first
//! exposure, its totals, and each [`RolloutStep`]. [`ExperimentEvidence`] sums them in integers, so
//! a replay gives the same bits in any order of units.
//!
//! A unit is analysed under its **first** exposure: that variant, in that stratum (rollout step).
//! When a rollout moves a unit to another variant, its later turns count for guardrails only. So a
//! unit is in one arm of one stratum, once.
//!
//! Fixed weights and rollouts serve the variant of [`assign_variant()`] under the current shares.
//! Adaptive or paused experiments serve a unit's first exposure, if it had one.

mod definition;
mod lifecycle;
mod assignment;
mod adaptive_shares;
mod tally;
mod difference;
mod evidence;
mod guardrail;
mod rollout;
mod results;

pub use crate::confidence_sequence::{ConfidenceSequence, TUNED_FOR_UNITS};
pub use model::{Direction, Metric, UnitTotals};

pub use adaptive_shares::adaptive_shares;
pub use assignment::{AssignmentSalt, TrafficShares, assign_variant};
pub use definition::{
    AdaptiveAllocation, ExperimentDefinition, ExperimentUnit, Guardrail, MetricBy, Rollout, Variant,
};
pub use difference::ArmDifference;
pub use evidence::{ExperimentEvidence, ExposureCounts, SampleRatioTest, Stratum, UnitPlacement};
pub use guardrail::{GuardrailStatus, evaluate_guardrails};
pub use lifecycle::{ExperimentStatus, InvalidTransition, LifecycleAction};
pub use results::{
    DifferenceEstimate, ExperimentResults, ExperimentVerdict, VariantComparison, VariantResult,
    VerdictReason, compute_results,
};
pub use rollout::{NonInferiority, RolloutState, RolloutStep, StepReason, next_step};
pub use tally::{MeanEstimate, MetricTally};

/// Minimum units per arm for a conclusion.
///
/// Intervals rely on asymptotics and err towards overconfidence with few units.
pub const MIN_UNITS: u64 = 100;

#[cfg(test)]
mod tests;
