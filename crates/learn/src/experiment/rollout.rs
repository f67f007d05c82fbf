//! Gradual rollouts: when to advance and when to roll back.

use model::{Direction, Metric};
use serde::{Deserialize, Serialize};

use super::assignment::TrafficShares;
use super::definition::ExperimentDefinition;
use super::difference::ArmDifference;
use super::evidence::ExperimentEvidence;
use super::guardrail::{GuardrailStatus, evaluate_guardrails};
use crate::confidence_sequence::{ConfidenceSequence, TUNED_FOR_UNITS};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RolloutState {
    pub percent: f64,
    /// Permanent: only a new experiment can start over.
    pub rolled_back: bool,
}

impl RolloutState {
    pub fn start(definition: &ExperimentDefinition) -> Option<Self> {
        let percent = *definition.rollout.as_ref()?.steps.first()?;
        Some(Self { percent, rolled_back: false })
    }

    /// The state after a step. Callers also start a stratum: [`ExperimentEvidence::open_stratum`].
    #[must_use]
    pub fn apply_step(self, taken: &RolloutStep) -> Self {
        let back = match taken.reason {
            StepReason::GuardrailCrossed { .. } => true,
            StepReason::NotWorse { .. } => false,
        };
        Self { percent: taken.to, rolled_back: self.rolled_back || back }
    }

    pub fn current_shares(&self, definition: &ExperimentDefinition) -> TrafficShares {
        TrafficShares::from_percent(definition, self.percent)
    }
}

/// A rollout step with its evidence, as written to the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RolloutStep {
    pub from: f64,
    pub to: f64,
    #[serde(flatten)]
    pub reason: StepReason,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "why", content = "evidence", rename_all = "snake_case")]
pub enum StepReason {
    /// No treatment is worse than the control by more than the margin.
    NotWorse { treatments: Vec<NonInferiority> },
    GuardrailCrossed {
        variant: String,
        metric: Metric,
        mean: f64,
        /// Bound of the mean on the harmless side.
        bound: f64,
        limit: f64,
        units: u64,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NonInferiority {
    pub variant: String,
    /// Treatment minus control.
    pub difference: f64,
    /// Lower bound of the gain, above −margin.
    pub gain_at_least: f64,
    pub margin: f64,
    pub control_units: u64,
    pub treatment_units: u64,
}

/// The next step of a rollout; `None` while it stays.
///
/// A crossed guardrail rolls back to 0 without further conditions. An advance needs enough units at
/// this step, no sample-ratio mismatch, and every treatment's gain above −margin. All treatments
/// share one percentage, so the worst one decides.
pub fn next_step(
    definition: &ExperimentDefinition,
    state: &RolloutState,
    evidence: &ExperimentEvidence,
) -> Option<RolloutStep> {
    let rollout = definition.rollout.as_ref()?;
    if state.rolled_back {
        return None;
    }
    let from = state.percent;
    let standings = evaluate_guardrails(definition, evidence);
    let crossed = standings.into_iter().find(|standing| standing.crossed);
    if let Some(reason) = crossed.and_then(describe_crossing) {
        return Some(RolloutStep { from, to: 0.0, reason });
    }
    let to = rollout.steps.iter().copied().find(|step| *step > from)?;
    if !evidence.test_sample_ratio().ok {
        return None;
    }
    let shares = state.current_shares(definition);
    let in_play = (1..definition.variants.len())
        .filter(|variant| shares.as_slice().get(*variant).is_some_and(|share| *share > 0.0));
    let treatments: Option<Vec<NonInferiority>> =
        in_play.map(|treatment| check_non_inferiority(definition, evidence, treatment)).collect();
    let treatments = treatments.filter(|all| !all.is_empty())?;
    Some(RolloutStep { from, to, reason: StepReason::NotWorse { treatments } })
}

fn describe_crossing(standing: GuardrailStatus) -> Option<StepReason> {
    Some(StepReason::GuardrailCrossed {
        mean: standing.mean?,
        bound: standing.bound?,
        variant: standing.variant,
        metric: standing.metric,
        limit: standing.limit,
        units: standing.units,
    })
}

fn check_non_inferiority(
    definition: &ExperimentDefinition,
    evidence: &ExperimentEvidence,
    treatment: usize,
) -> Option<NonInferiority> {
    let rollout = definition.rollout.as_ref()?;
    let has_units = |variant: usize| evidence.units_in_last_stratum(variant) >= rollout.min_units;
    if !(has_units(0) && has_units(treatment)) {
        return None;
    }
    let (plain, corrected) =
        ArmDifference::compute_both(evidence.control_pairs(treatment), definition.metric)?;
    let compared = corrected.unwrap_or(plain);
    let sequence = ConfidenceSequence::new(definition.alpha_per_comparison(), TUNED_FOR_UNITS);
    let ([low, high], _) = compared.confidence_interval(&sequence);
    let gain_at_least = match definition.metric.direction() {
        Direction::Higher => low,
        Direction::Lower => -high,
    };
    (gain_at_least > -rollout.margin).then_some(NonInferiority {
        variant: definition.variants.get(treatment)?.name.clone(),
        difference: compared.estimate,
        gain_at_least,
        margin: rollout.margin,
        control_units: compared.control_units,
        treatment_units: compared.treatment_units,
    })
}
