//! Traffic shares that follow the evidence.

use super::assignment::TrafficShares;
use super::definition::ExperimentDefinition;
use super::evidence::ExperimentEvidence;
use super::tally::MeanEstimate;
use crate::bandit::{ScoreDensity, best_arm_probabilities, raise_to_floors};

/// Adaptive shares for new units: each variant's share is its probability of being the best. This is
/// Thompson sampling, integrated instead of drawn, with normal posteriors of the means. Exposed units
/// keep their variant. Falls back to the definition's weights while a variant has fewer than
/// [`super::MIN_UNITS`] units, and on numerical faults.
///
/// Limits: shares that follow outcomes bias the difference of means towards the early leader, and
/// the arms cover different days. Adaptive results therefore use one interval per arm, which is
/// valid under any allocation but wider, and no CUPED correction.
///
/// A pure function of the evidence, which changes with every observation. Callers compute it at
/// fixed points and log the shares they used.
pub fn adaptive_shares(
    definition: &ExperimentDefinition,
    evidence: &ExperimentEvidence,
) -> TrafficShares {
    learn_shares(definition, evidence).unwrap_or_else(|| TrafficShares::from_definition(definition))
}

fn learn_shares(
    definition: &ExperimentDefinition,
    evidence: &ExperimentEvidence,
) -> Option<TrafficShares> {
    let floor = definition.min_share()?;
    let is_weighted = |index: &usize| definition.variants[*index].weight > 0.0;
    let in_play: Vec<usize> = (0..definition.variants.len()).filter(is_weighted).collect();
    let mut scores = Vec::with_capacity(in_play.len());
    for variant in &in_play {
        let mean = MeanEstimate::from_tally(&evidence.total_tally(*variant), definition.metric)?;
        if mean.units < super::MIN_UNITS as f64 {
            return None;
        }
        let gain = definition.metric.gain(mean.mean);
        scores.push(ScoreDensity::from_normal(gain, mean.standard_error())?);
    }
    let mut chances = vec![0.0; scores.len()];
    best_arm_probabilities(&scores, &mut chances)?;
    let mut lifted = chances.clone();
    raise_to_floors(&chances, &mut vec![floor; scores.len()], &mut lifted);
    let mut weights = vec![0.0; definition.variants.len()];
    for (variant, share) in in_play.iter().zip(lifted) {
        weights[*variant] = share;
    }
    Some(TrafficShares::from_weights(&weights))
}
