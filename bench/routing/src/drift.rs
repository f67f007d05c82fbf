//! Value of a discount when the best arm degrades half way, and its cost when it does not.

use std::path::Path;
use std::rc::Rc;

use learn::{
    Algorithm, ChoiceRequest, Credit, Discount, Observation, RouterDefinition, RouterRule,
    RouterState,
};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::mean::Mean;
use crate::table::Table;

const ALGORITHMS: [(&str, Algorithm); 2] =
    [("thompson", Algorithm::Thompson), ("lints", Algorithm::LinTs)];
const DISCOUNTS: [(&str, Option<Discount>); 4] = [
    ("detection", None),
    ("off", Some(Discount::Factor(1.0))),
    ("0.9995", Some(Discount::Factor(0.9995))),
    ("0.998", Some(Discount::Factor(0.998))),
];
/// Success rate of each simulated arm.
const RATES: [f64; 5] = [0.9, 0.8, 0.7, 0.6, 0.5];
const FALLEN_RATE: f64 = 0.4;
const SIMULATED_ROWS: usize = 6_000;
const SIMULATED_FEATURES: usize = 32;

/// Rewards of the arms before and after half time.
struct World {
    before: Table,
    after: Table,
    /// The arm that degrades.
    falling: usize,
}

/// Change of that arm at half time.
#[derive(Clone, Copy)]
enum Fate {
    Falls,
    Stays,
}

/// Outcome of one run: average reward, and the degraded arm's share of the last quarter.
struct Outcome {
    earned: f64,
    share: f64,
}

pub(crate) fn measure(data: &Path, seeds: u64) -> anyhow::Result<()> {
    let title = format!("simulated, rates {RATES:?}, the best falls to {FALLEN_RATE}");
    section(&title, |seed| Rc::new(simulated(seed)), seeds)?;
    let table = Table::read(&data.join("routing").join("llmrouter_9models.csv"))?;
    let zeroed = Rc::new(zeroed(table));
    section("llmrouter_9models, the best arm falls to 0", |_| Rc::clone(&zeroed), seeds)
}

fn section(title: &str, world: impl Fn(u64) -> Rc<World>, seeds: u64) -> anyhow::Result<()> {
    let shape = world(0);
    let rows = shape.before.rewards.len();
    println!("## Drift half way: {title}; {rows} rows, {seeds} seeds\n");
    println!(
        "| algorithm | floor | discount | average reward, drift | that arm's share at the end, drift | average reward, none | its share, none |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (word, algorithm) in ALGORITHMS {
        for floor in [0.01, 0.0] {
            for (written, discount) in DISCOUNTS {
                let rule = rule(&shape.before, algorithm, floor, discount)?;
                let [drift, none] = [Fate::Falls, Fate::Stays]
                    .map(|fate| over_seeds(seeds, |seed| run(&world(seed), fate, &rule, seed)));
                println!("| {word} | {floor} | {written} | {drift} | {none} |");
            }
        }
    }
    println!();
    Ok(())
}

fn rule(
    table: &Table,
    algorithm: Algorithm,
    floor: f64,
    discount: Option<Discount>,
) -> anyhow::Result<RouterRule> {
    let names: Vec<String> = (0..table.arms).map(|arm| format!("arm{arm}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(RouterRule::new(RouterDefinition {
        algorithm,
        min_propensity: floor,
        discount,
        features: table.features[0].len(),
        ..RouterDefinition::from_arm_ids(&names)
    })?)
}

/// Arms with fixed success rates, independent of the features.
fn simulated(seed: u64) -> World {
    let mut random = StdRng::seed_from_u64(seed);
    let mut table = |rates: &[f64]| {
        let mut features = Vec::new();
        let mut rewards = Vec::new();
        for _ in 0..SIMULATED_ROWS {
            let point = (0..SIMULATED_FEATURES).map(|_| random.random_range(-0.3..0.3));
            features.push(point.collect());
            let good = |rate: &f64| if random.random::<f64>() < *rate { 1.0 } else { 0.0 };
            rewards.push(rates.iter().map(good).collect());
        }
        Table { arms: rates.len(), features, rewards }
    };
    let before = table(&RATES);
    let after = table(&[&[FALLEN_RATE], &RATES[1..]].concat());
    World { before, after, falling: 0 }
}

/// A table whose best arm earns nothing.
fn zeroed(table: Table) -> World {
    let falling = table.best_arm();
    let mut after = table.clone();
    after.rewards.iter_mut().for_each(|row| row[falling] = 0.0);
    World { before: table, after, falling }
}

/// Both means as table cells.
fn over_seeds(seeds: u64, run: impl Fn(u64) -> Outcome) -> String {
    let outcomes: Vec<Outcome> = (0..seeds).map(run).collect();
    let earned: Vec<f64> = outcomes.iter().map(|outcome| outcome.earned).collect();
    let shares: Vec<f64> = outcomes.iter().map(|outcome| outcome.share).collect();
    format!("{} | {}", Mean::compute(&earned), Mean::compute(&shares))
}

/// One pass over the rows in its own order.
fn run(world: &World, fate: Fate, rule: &RouterRule, seed: u64) -> Outcome {
    let second_half = match fate {
        Fate::Falls => &world.after,
        Fate::Stays => &world.before,
    };
    let mut random = StdRng::seed_from_u64(seed);
    let rows = world.before.rewards.len();
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut random);
    let mut state = RouterState::new(rule);
    let (mut earned, mut late) = (0.0, 0usize);
    let last_quarter = rows - rows / 4;
    for (turn, row) in order.iter().enumerate() {
        let table = if turn < rows / 2 { &world.before } else { second_half };
        let features = &table.features[*row];
        let choosing =
            ChoiceRequest { features, random: random.random(), ..ChoiceRequest::default() };
        let choice = state.choose_arm(rule, &choosing);
        let reward = table.rewards[*row][choice.arm];
        earned += reward;
        late += usize::from(turn >= last_quarter && choice.arm == world.falling);
        let arm = &rule.arms()[choice.arm].id;
        let credit = Credit { arm, features, shadow: choice.shadow, hour: 0 };
        state.observe(rule, &credit, None, Observation::new(reward, 1.0));
    }
    Outcome { earned: earned / rows as f64, share: late as f64 / (rows / 4) as f64 }
}
