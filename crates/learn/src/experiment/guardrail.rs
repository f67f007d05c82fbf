//! Guardrails: whether a treatment's metric is certainly beyond its limit.

use model::{Direction, Metric};

use super::definition::ExperimentDefinition;
use super::evidence::Evidence;
use super::confidence_sequence::Sequence;

/// A guardrail has to notice early, so its bounds are narrowest at fewer units than the verdict's.
const TUNED_FOR: f64 = 500.0;

/// One guardrail of one treatment.
#[derive(Clone, Debug, PartialEq)]
pub struct GuardrailStanding {
    /// Which treatment.
    pub variant: String,
    /// Which metric.
    pub metric: Metric,
    /// What it must not go beyond.
    pub limit: f64,
    /// Units that have given anything.
    pub units: u64,
    /// The treatment's mean; `None` without units.
    pub mean: Option<f64>,
    /// The end of the mean's interval on the harmless side; `None` with too few units.
    pub bound: Option<f64>,
    /// Even the bound is beyond the limit.
    pub crossed: bool,
}

/// Every guardrail of every treatment.
///
/// Each bound has the experiment's whole `alpha`: a roll-back for nothing costs time, harm that
/// goes on unnoticed costs users, so the error is not divided among guardrails.
pub fn guardrail_standings(
    definition: &ExperimentDefinition,
    evidence: &Evidence,
) -> Vec<GuardrailStanding> {
    let mut standings = Vec::new();
    for index in 0..definition.guardrails.len() {
        for variant in 1..definition.variants.len() {
            standings.extend(standing(definition, evidence, index, variant));
        }
    }
    standings
}

fn standing(
    definition: &ExperimentDefinition,
    evidence: &Evidence,
    index: usize,
    variant: usize,
) -> Option<GuardrailStanding> {
    let guardrail = definition.guardrails.get(index)?;
    let mean = evidence.guardrail(index, variant, guardrail.metric);
    let sequence = Sequence::one_sided(definition.alpha, TUNED_FOR);
    let enough = mean.filter(|mean| mean.units >= super::LEAST_UNITS as f64);
    let direction = guardrail.metric.direction();
    let bound = enough.map(|mean| {
        let reach = mean.deviation() * sequence.reach_of_bound(mean.units);
        match direction {
            Direction::Lower => mean.mean - reach,
            Direction::Higher => mean.mean + reach,
        }
    });
    let beyond = |bound: f64| match direction {
        Direction::Lower => bound > guardrail.limit,
        Direction::Higher => bound < guardrail.limit,
    };
    Some(GuardrailStanding {
        variant: definition.variants.get(variant)?.name.clone(),
        metric: guardrail.metric,
        limit: guardrail.limit,
        units: mean.map_or(0, |mean| mean.units as u64),
        mean: mean.map(|mean| mean.mean),
        bound,
        crossed: bound.is_some_and(beyond),
    })
}
