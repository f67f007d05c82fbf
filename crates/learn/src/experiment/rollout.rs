//! A gradual rollout: when it goes a step further, and when it goes back.

use model::{Direction, Metric};
use serde::{Deserialize, Serialize};

use super::definition::{ExperimentDefinition, Rollout};
use super::difference::Compared;
use super::evidence::Evidence;
use super::guardrail::guardrail_standings;
use super::confidence_sequence::{Sequence, TUNED_FOR};
use super::traffic_shares::Shares;

/// How far a rollout has come.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RolloutState {
    /// Percent of the units that get a treatment.
    pub percent: f64,
    /// It went back to 0 and stays there until somebody defines a new experiment.
    pub rolled_back: bool,
}

impl RolloutState {
    /// At the first step; `None` without a rollout.
    pub fn start(definition: &ExperimentDefinition) -> Option<Self> {
        let percent = *definition.rollout.as_ref()?.steps.first()?;
        Some(Self { percent, rolled_back: false })
    }

    /// After a move. A new stratum begins with it: [`Evidence::open_stratum`].
    #[must_use]
    pub fn after(self, taken: &Move) -> Self {
        let back = match taken.reason {
            Reason::GuardrailCrossed { .. } => true,
            Reason::NotWorse { .. } => false,
        };
        Self { percent: taken.to, rolled_back: self.rolled_back || back }
    }

    /// The shares for units that come now.
    pub fn shares(&self, definition: &ExperimentDefinition) -> Shares {
        Shares::at_percent(definition, self.percent)
    }
}

/// A step of a rollout, with its evidence. Goes into the log as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Move {
    /// Percent before.
    pub from: f64,
    /// Percent after.
    pub to: f64,
    /// Why.
    #[serde(flatten)]
    pub reason: Reason,
}

/// Why a rollout moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "why", content = "evidence", rename_all = "snake_case")]
pub enum Reason {
    /// No treatment is worse than the control by more than the margin.
    NotWorse {
        /// One for each treatment.
        treatments: Vec<NotWorse>,
    },
    /// A guardrail's bound is beyond its limit.
    GuardrailCrossed {
        /// Of which treatment.
        variant: String,
        /// Which guardrail.
        metric: Metric,
        /// The treatment's mean.
        mean: f64,
        /// The end of its interval on the harmless side.
        bound: f64,
        /// What it must not go beyond.
        limit: f64,
        /// Units behind it.
        units: u64,
    },
}

/// That one treatment is not worse than the control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotWorse {
    /// Which treatment.
    pub variant: String,
    /// Treatment minus control.
    pub difference: f64,
    /// What the treatment gains at least, by the interval's worse end: above −margin.
    pub gain_at_least: f64,
    /// The margin.
    pub margin: f64,
    /// Units of the control.
    pub control_units: u64,
    /// Units of the treatment.
    pub treatment_units: u64,
}

/// What a rollout does next; `None` while it stays where it is.
///
/// Back to 0 comes first and asks for nothing but a crossed guardrail. Forward needs enough units at
/// this step, no sample-ratio mismatch, and every treatment's gain above −margin. There is one
/// percentage for all treatments, so the worst of them decides for all.
pub fn next_step(
    definition: &ExperimentDefinition,
    state: &RolloutState,
    evidence: &Evidence,
) -> Option<Move> {
    let rollout = definition.rollout.as_ref()?;
    if state.rolled_back {
        return None;
    }
    let from = state.percent;
    if let Some(reason) = crossed(definition, evidence) {
        return Some(Move { from, to: 0.0, reason });
    }
    let to = rollout.steps.iter().copied().find(|step| *step > from)?;
    if !evidence.sample_ratio().ok {
        return None;
    }
    let shares = state.shares(definition);
    let in_play = (1..definition.variants.len())
        .filter(|variant| shares.as_slice().get(*variant).is_some_and(|share| *share > 0.0));
    let treatments: Option<Vec<NotWorse>> =
        in_play.map(|treatment| not_worse(definition, rollout, evidence, treatment)).collect();
    let treatments = treatments.filter(|all| !all.is_empty())?;
    Some(Move { from, to, reason: Reason::NotWorse { treatments } })
}

fn crossed(definition: &ExperimentDefinition, evidence: &Evidence) -> Option<Reason> {
    let standings = guardrail_standings(definition, evidence);
    let standing = standings.into_iter().find(|standing| standing.crossed)?;
    Some(Reason::GuardrailCrossed {
        mean: standing.mean?,
        bound: standing.bound?,
        variant: standing.variant,
        metric: standing.metric,
        limit: standing.limit,
        units: standing.units,
    })
}

fn not_worse(
    definition: &ExperimentDefinition,
    rollout: &Rollout,
    evidence: &Evidence,
    treatment: usize,
) -> Option<NotWorse> {
    let seen = |variant: usize| evidence.units_in_last_stratum(variant) >= rollout.min_units;
    if !(seen(0) && seen(treatment)) {
        return None;
    }
    let (plain, corrected) = Compared::both(evidence.pairs(treatment), definition.metric)?;
    let compared = corrected.unwrap_or(plain);
    let sequence = Sequence::new(definition.alpha_each(), TUNED_FOR);
    let ([low, high], _) = compared.interval(&sequence);
    let gain_at_least = match definition.metric.direction() {
        Direction::Higher => low,
        Direction::Lower => -high,
    };
    (gain_at_least > -rollout.margin).then_some(NotWorse {
        variant: definition.variants.get(treatment)?.name.clone(),
        difference: compared.estimate,
        gain_at_least,
        margin: rollout.margin,
        control_units: compared.control_units,
        treatment_units: compared.treatment_units,
    })
}
