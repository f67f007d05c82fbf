//! Shares that follow what is learnt: each variant's is the chance that it is the best one.
//!
//! Thompson sampling, integrated instead of drawn: the mean of a variant is taken as normal around
//! what was measured. Units that were exposed keep their variant; only new ones see the new shares.
//!
//! Honest limits. Shares that follow the outcomes make the difference of means lean a little to the
//! side of the early leader, and means over different times compare different days. Results of an
//! adaptive experiment therefore use an interval for each arm by itself, which holds under any way of
//! sharing out but is wider, and no correction by the time before exposure. Who needs a sharp answer
//! on one difference should keep the weights fixed.

use super::definition::ExperimentDefinition;
use super::evidence::Evidence;
use super::mean::Mean;
use super::traffic_shares::Shares;
use crate::bandit::{Score, lift, likeliest};

/// The shares for units that come now; the definition's weights until every variant in play has
/// enough units, and wherever numbers are out of all bounds.
///
/// A pure function of the evidence. It moves with every observation, so whoever logs assignments
/// should compute it at fixed points and log the shares it used.
pub fn adaptive_shares(definition: &ExperimentDefinition, evidence: &Evidence) -> Shares {
    learnt(definition, evidence).unwrap_or_else(|| Shares::of_weights(definition))
}

fn learnt(definition: &ExperimentDefinition, evidence: &Evidence) -> Option<Shares> {
    let floor = definition.floor()?;
    let in_play: Vec<usize> = definition
        .variants
        .iter()
        .enumerate()
        .filter(|(_, variant)| variant.weight > 0.0)
        .map(|(index, _)| index)
        .collect();
    let mut scores = Vec::with_capacity(in_play.len());
    for variant in &in_play {
        let mean = Mean::of(&evidence.total(*variant), definition.metric)?;
        if mean.units < super::LEAST_UNITS as f64 {
            return None;
        }
        scores.push(Score::normal(definition.metric.gain(mean.mean), mean.deviation())?);
    }
    let mut chances = vec![0.0; scores.len()];
    likeliest(&scores, &mut chances)?;
    let mut lifted = chances.clone();
    lift(&chances, &mut vec![floor; scores.len()], &mut lifted);
    let mut weights = vec![0.0; definition.variants.len()];
    for (variant, share) in in_play.iter().zip(lifted) {
        if let Some(weight) = weights.get_mut(*variant) {
            *weight = share;
        }
    }
    Some(Shares::of(&weights))
}
