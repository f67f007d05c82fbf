//! Guardrails: detect a treatment whose metric is significantly beyond its limit.

use model::{Direction, Metric};

use super::definition::ExperimentDefinition;
use super::evidence::ExperimentEvidence;
use crate::confidence_sequence::ConfidenceSequence;

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
    let treatments = 1..definition.variants.len();
    let pairs = (0..definition.guardrails.len())
        .flat_map(|index| treatments.clone().map(move |variant| (index, variant)));
    pairs.filter_map(|(i, variant)| evaluate_guardrail(definition, evidence, i, variant)).collect()
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
    let harm = match guardrail.metric.direction() {
        Direction::Lower => 1.0,
        Direction::Higher => -1.0,
    };
    let bound = enough
        .map(|mean| mean.mean - harm * mean.standard_error() * sequence.bound_width(mean.units));
    Some(GuardrailStatus {
        variant: definition.variants.get(variant)?.name.clone(),
        metric: guardrail.metric,
        limit: guardrail.limit,
        units: mean.map_or(0, |mean| mean.units as u64),
        mean: mean.map(|mean| mean.mean),
        bound,
        crossed: bound.is_some_and(|bound| harm * bound > harm * guardrail.limit),
    })
}
