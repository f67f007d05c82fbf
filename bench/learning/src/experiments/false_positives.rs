//! False positives: verdicts of experiments without a difference.

use learn::experiment::UnitTotals;
use rand::RngExt;
use rand::rngs::StdRng;

use super::held;
use super::simulation::{Sharing, World, coin, definition, normal, run, two};

const RUNS: u64 = 4_000;
/// 12,000 in each of two arms.
const UNITS: usize = 24_000;
const BAR: f64 = 0.025;

fn binary(rng: &mut StdRng, _: usize, _: f64) -> UnitTotals {
    coin(rng, 0.10)
}

fn latency(rng: &mut StdRng, _: usize, _: f64) -> UnitTotals {
    UnitTotals { value: normal(rng).exp(), count: 1.0, before: None }
}

/// One to twelve turns with correlated errors: a unit's own error rate is 0, 0.05 or 0.6.
fn turns(rng: &mut StdRng, _: usize, _: f64) -> UnitTotals {
    let turns = rng.random_range(1..=12_u32);
    let rate = [0.0, 0.05, 0.05, 0.6][rng.random_range(0..4_usize)];
    let failed = (0..turns).filter(|_| rng.random_bool(rate)).count();
    UnitTotals { value: failed as f64, count: f64::from(turns), before: None }
}

fn with_before(rng: &mut StdRng, _: usize, _: f64) -> UnitTotals {
    let before = normal(rng);
    let value = 3.0 + 0.7 * before + 0.51_f64.sqrt() * normal(rng);
    let known = rng.random_bool(0.6);
    UnitTotals { value, count: 1.0, before: known.then_some(before) }
}

/// Improves over time while the treatment gets more of the traffic.
fn drifting(rng: &mut StdRng, _: usize, part: f64) -> UnitTotals {
    coin(rng, 0.08 + 0.06 * part)
}

pub(super) fn measure() {
    println!(
        "\nNo difference at all: {RUNS} runs of {UNITS} units, a look every 200 (100 an arm)\n"
    );
    println!("| what | verdicts | bar | peeked z-test | mismatch alarms |");
    println!("|---|---|---|---|---|");
    let shares = |weights: [u32; 2], metric: &str| {
        format!(
            r#"{{"name":"x","unit":"user","metric":"{metric}","variants":[
                {{"name":"a","weight":{}}},{{"name":"b","weight":{}}}]}}"#,
            weights[0], weights[1]
        )
    };
    let three = r#"{"name":"x","unit":"user","metric":"error_rate",
        "variants":[{"name":"a"},{"name":"b"},{"name":"c"}]}"#;
    let adaptive =
        two("error_rate").replace(r#""unit""#, r#""adaptive":{"min_share":0.05},"unit""#);
    let defined = Sharing::Defined;
    let steps = Sharing::Steps(&[5.0, 25.0, 50.0]);
    row("share of 0.10", &two("error_rate"), binary, defined);
    row("lognormal seconds (σ 1)", &two("latency"), latency, defined);
    row("share by turn, turns of a unit alike", &two("error_rate"), turns, defined);
    row("share of 0.10, 95 : 5", &shares([95, 5], "error_rate"), binary, defined);
    row("lognormal seconds, 95 : 5", &shares([95, 5], "latency"), latency, defined);
    row("corrected by the time before (r 0.7, 60% known)", &two("latency"), with_before, defined);
    row("share of 0.10, three variants", three, binary, defined);
    row(
        "rollout 5, 25, 50% while the share drifts 0.08 to 0.14",
        &two("error_rate"),
        drifting,
        steps,
    );
    row("adaptive, share of 0.10", &adaptive, binary, defined);
}

fn row(name: &str, json: &str, world: World, sharing: Sharing) {
    let definition = definition(json);
    let (mut verdicts, mut peeked, mut mismatches) = (0.0, 0.0, 0.0);
    let one = 1.0 / RUNS as f64;
    for seed in 0..RUNS {
        let outcome = run(&definition, world, sharing, UNITS, seed);
        verdicts += if outcome.decided.is_some() { one } else { 0.0 };
        peeked += if outcome.z_ever { one } else { 0.0 };
        mismatches += if outcome.mismatch { one } else { 0.0 };
    }
    let word = held(verdicts <= BAR);
    println!(
        "| {name} | {:.1}% | ≤ 2.5% {word} | {:.0}% | {:.1}% |",
        100.0 * verdicts,
        100.0 * peeked,
        100.0 * mismatches
    );
}
