//! Guardrails: detect a treatment whose metric is significantly beyond its limit.

use model::{Direction, Metric};

use super::confidence_sequence::ConfidenceSequence;
use super::definition::ExperimentDefinition;
use super::evidence::ExperimentEvidence;

/// Guardrails must react early, so their bounds are narrowest at fewer units.
const GUARDRAIL_TUNED_FOR_UNITS: f64 = 500.0;

/// State of one guardrail for one treatment.
#[derive(Clone, Debug, PartialEq)]
pub struct GuardrailStatus {
    pub variant: String,
    pub metric: Metric,
    pub limit: f64,
    pub units: u64,
    pub mean: Option<f64>,
    /// Bound of the mean on the harmless side; `None` with too few units.
    pub bound: Option<f64>,
    /// True when the bound is beyond the limit.
    pub crossed: bool,
}

/// All guardrails of all treatments.
///
/// Each bound uses the full `alpha`. A false rollback costs time, but undetected harm costs users,
/// so the error is not divided among guardrails.
pub fn evaluate_guardrails(
    definition: &ExperimentDefinition,
    evidence: &ExperimentEvidence,
) -> Vec<GuardrailStatus> {
    let mut standings = Vec::new();
    for index in 0..definition.guardrails.len() {
        for variant in 1..definition.variants.len() {
            standings.extend(evaluate_guardrail(definition, evidence, index, variant));
        }
    }
    standings
}

fn evaluate_guardrail(
    definition: &ExperimentDefinition,
    evidence: &ExperimentEvidence,
    index: usize,
    variant: usize,
) -> Option<GuardrailStatus> {
    let guardrail = definition.guardrails.get(index)?;
    let mean = evidence.guardrail_mean(index, variant, guardrail.metric);
    let sequence = ConfidenceSequence::one_sided(definition.alpha, GUARDRAIL_TUNED_FOR_UNITS);
    let enough = mean.filter(|mean| mean.units >= super::MIN_UNITS as f64);
    let direction = guardrail.metric.direction();
    let bound = enough.map(|mean| {
        let reach = mean.standard_error() * sequence.bound_width(mean.units);
        match direction {
            Direction::Lower => mean.mean - reach,
            Direction::Higher => mean.mean + reach,
        }
    });
    let beyond = |bound: f64| match direction {
        Direction::Lower => bound > guardrail.limit,
        Direction::Higher => bound < guardrail.limit,
    };
    Some(GuardrailStatus {
        variant: definition.variants.get(variant)?.name.clone(),
        metric: guardrail.metric,
        limit: guardrail.limit,
        units: mean.map_or(0, |mean| mean.units as u64),
        mean: mean.map(|mean| mean.mean),
        bound,
        crossed: bound.is_some_and(beyond),
    })
}
