mod choice;
mod discount;
mod learning;
mod arithmetic;
mod replay;
mod recovery;

use super::sampler::Sampler;
use super::*;
use crate::reward::Observation;

/// A router over arms `a`, `b`, `c`, … with three features.
fn router(algorithm: Algorithm, arms: usize) -> RouterDefinition {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    RouterDefinition { algorithm, features: 3, ..RouterDefinition::from_arm_ids(&names[..arms]) }
}

fn rule(definition: RouterDefinition) -> RouterRule {
    RouterRule::new(definition).unwrap()
}

fn observation(reward: f64, weight: f64) -> Option<Observation> {
    Some(Observation::new(reward, weight).unwrap())
}

const FEATURES: [f64; 3] = [0.2, -0.4, 0.6];

fn request() -> ChoiceRequest<'static> {
    ChoiceRequest { features: &FEATURES, ..ChoiceRequest::default() }
}

fn credit(arm: &str) -> Credit<'_> {
    Credit { arm, features: &FEATURES, shadow: None, hour: 490_000 }
}

const ALL_ALGORITHMS: [Algorithm; 8] = [
    Algorithm::Thompson,
    Algorithm::LinUcb,
    Algorithm::LinTs,
    Algorithm::Hybrid,
    Algorithm::EpsilonGreedy,
    Algorithm::Ucb1,
    Algorithm::Fixed,
    Algorithm::Random,
];
