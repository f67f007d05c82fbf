//! Average reward of each algorithm over several seeds.

use std::path::Path;

use learn::{
    Algorithm, ChoiceRequest, Credit, Observation, RouterDefinition, RouterRule, RouterState,
};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::mean::Mean;
use crate::table::Table;

const ALGORITHMS: [(&str, Algorithm); 8] = [
    ("thompson", Algorithm::Thompson),
    ("hybrid", Algorithm::Hybrid),
    ("lints", Algorithm::LinTs),
    ("linucb", Algorithm::LinUcb),
    ("epsilon_greedy", Algorithm::EpsilonGreedy),
    ("ucb1", Algorithm::Ucb1),
    ("fixed", Algorithm::Fixed),
    ("random", Algorithm::Random),
];

/// File, published results, and the targets by algorithm.
type Set = (&'static str, &'static str, &'static [(&'static str, f64)]);

const SETS: [Set; 3] = [
    (
        "digits",
        "VW defaults .39–.61, MABWiser LinUCB .804, reference LinTS .843",
        &[("lints or linucb", 0.81)],
    ),
    (
        "llmrouter_9models",
        "best fixed .621, full-information ridge .637, Beta Thompson .606, VW squarecb .602, LinTS .609",
        &[("thompson", 0.605)],
    ),
    ("routellm_mmlu_gsm8k", "none", &[]),
];

pub(crate) fn measure(data: &Path, seeds: u64) -> anyhow::Result<()> {
    for (name, reference, bars) in SETS {
        let table = Table::read(&data.join("routing").join(format!("{name}.csv")))?;
        println!("## {name}: {} rows, {} arms, {seeds} seeds\n", table.rewards.len(), table.arms);
        println!(
            "Others on the same rows: {reference}. Best fixed arm {:.3}.\n",
            table.best_fixed()
        );
        println!("| algorithm | average reward, no floor | with a floor of 1% per arm |");
        println!("|---|---|---|");
        let mut means = Vec::new();
        for (word, algorithm) in ALGORITHMS {
            let free = over_seeds(&table, algorithm, 0.0, seeds)?;
            let floored = over_seeds(&table, algorithm, 0.01, seeds)?;
            println!("| {word} | {} | {} |", free, floored);
            means.push((word, free.mean));
        }
        println!();
        for (which, bar) in bars {
            let best = means
                .iter()
                .filter(|(word, _)| which.split(" or ").any(|one| one == *word))
                .map(|(_, mean)| *mean)
                .fold(0.0, f64::max);
            let held = if best >= *bar { "held" } else { "MISSED" };
            println!("{which} ≥ {bar}: {best:.4} {held}\n");
        }
    }
    Ok(())
}

fn over_seeds(table: &Table, algorithm: Algorithm, floor: f64, seeds: u64) -> anyhow::Result<Mean> {
    let names: Vec<String> = (0..table.arms).map(|arm| format!("arm{arm}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let rule = RouterRule::new(RouterDefinition {
        algorithm,
        min_propensity: floor,
        features: table.features[0].len(),
        ..RouterDefinition::from_arm_ids(&names)
    })?;
    let means: Vec<f64> = (0..seeds).map(|seed| run(table, &rule, seed)).collect();
    Ok(Mean::compute(&means))
}

/// One pass over the rows in its own order.
fn run(table: &Table, rule: &RouterRule, seed: u64) -> f64 {
    let mut random = StdRng::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..table.rewards.len()).collect();
    order.shuffle(&mut random);
    let mut state = RouterState::new(rule);
    let mut earned = 0.0;
    for row in &order {
        let features = &table.features[*row];
        let choosing =
            ChoiceRequest { features, random: random.random(), ..ChoiceRequest::default() };
        let choice = state.choose_arm(rule, &choosing);
        let reward = table.rewards[*row][choice.arm];
        earned += reward;
        let arm = &rule.arms()[choice.arm].id;
        let credit = Credit { arm, features, shadow: choice.shadow, hour: 0 };
        state.observe(rule, &credit, None, Observation::new(reward, 1.0));
    }
    earned / order.len() as f64
}
