//! Cost of one call on one core, against the budgets.

#![expect(clippy::disallowed_methods, reason = "this measures time")]

use std::hint::black_box;
use std::time::Instant;

use learn::{
    Algorithm, ChoiceRequest, Credit, Observation, RouterDefinition, RouterRule, RouterState,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const ROUNDS: usize = 7;
const CALLS: usize = 2_000;
const ARMS: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

/// A router with ten arms that has learned from some turns, and further turns.
struct Warm {
    rule: RouterRule,
    state: RouterState,
    features: Vec<Vec<f64>>,
    rewards: Vec<f64>,
}

fn warm(algorithm: Algorithm, turns: usize) -> Option<Warm> {
    let rule =
        RouterRule::new(RouterDefinition { algorithm, ..RouterDefinition::from_arm_ids(&ARMS) })
            .ok()?;
    let mut state = RouterState::new(&rule);
    let mut random = StdRng::seed_from_u64(1);
    let mut point = || -> Vec<f64> { (0..32).map(|_| random.random_range(-0.3..0.3)).collect() };
    let features: Vec<Vec<f64>> = (0..CALLS).map(|_| point()).collect();
    let rewards: Vec<f64> = (0..CALLS).map(|_| random.random()).collect();
    for turn in 0..turns {
        let credit = credit(ARMS[turn % 10], &features[turn % CALLS]);
        state.observe(&rule, &credit, None, Observation::new(rewards[turn % CALLS], 0.7));
    }
    Some(Warm { rule, state, features, rewards })
}

fn credit<'a>(arm: &'a str, features: &'a [f64]) -> Credit<'a> {
    Credit { arm, features, shadow: None, hour: 0 }
}

pub(crate) fn measure() {
    println!("## Cost of one call on one core, ten arms, best of {ROUNDS} rounds\n");
    println!("| what | ns | budget |");
    println!("|---|---|---|");
    for (name, algorithm, budget) in [
        ("thompson", Algorithm::Thompson, 1_000.0),
        ("linucb", Algorithm::LinUcb, 5_000.0),
        ("lints", Algorithm::LinTs, 5_000.0),
    ] {
        for turns in [200, 20_000] {
            let Some(warm) = warm(algorithm, turns) else { continue };
            let draw = |call: usize| {
                let features = &warm.features[call % CALLS];
                let choosing =
                    ChoiceRequest { features, random: call as u64, ..ChoiceRequest::default() };
                black_box(warm.state.sample_arm(&warm.rule, &choosing));
            };
            line(&format!("{name}, draw and highest, after {turns} turns"), budget, draw);
        }
    }
    for (name, algorithm, budget, update_budget) in [
        ("thompson", Algorithm::Thompson, 50_000.0, 1_000.0),
        ("linucb", Algorithm::LinUcb, 50_000.0, 5_000.0),
        ("lints", Algorithm::LinTs, 50_000.0, 5_000.0),
        ("hybrid", Algorithm::Hybrid, 100_000.0, 5_000.0),
    ] {
        for turns in [200, 20_000] {
            let Some(warm) = warm(algorithm, turns) else { continue };
            let choose = |call: usize| {
                let features = &warm.features[call % CALLS];
                let choosing =
                    ChoiceRequest { features, random: call as u64, ..ChoiceRequest::default() };
                black_box(warm.state.choose_arm(&warm.rule, &choosing));
            };
            line(&format!("{name}, choice with propensities, after {turns} turns"), budget, choose);
        }
        let Some(mut warm) = warm(algorithm, 200) else { continue };
        let update = |call: usize| {
            let credit = credit(ARMS[call % 10], &warm.features[call % CALLS]);
            let observation = Observation::new(warm.rewards[call % CALLS], 0.7);
            black_box(warm.state.observe(&warm.rule, &credit, None, observation));
        };
        line(&format!("{name}, update"), update_budget, update);
    }
    println!();
}

fn line(name: &str, budget: f64, mut call: impl FnMut(usize)) {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        (0..CALLS).for_each(&mut call);
        best = best.min(began.elapsed().as_secs_f64() * 1e9 / CALLS as f64);
    }
    let held = if best < budget { "held" } else { "MISSED" };
    println!("| {name} | {best:.0} | < {budget:.0} {held} |");
}
