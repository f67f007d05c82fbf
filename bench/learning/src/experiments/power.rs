//! Units needed to detect a true difference, and the gain from pre-exposure data.

use learn::experiment::UnitTotals;
use rand::rngs::StdRng;

use super::held;
use super::simulation::{Sharing, coin, definition, normal, run, two};

const RUNS: u64 = 1_000;
const UNITS: usize = 24_000;

fn worse(rng: &mut StdRng, variant: usize, _: f64) -> UnitTotals {
    coin(rng, if variant == 0 { 0.10 } else { 0.12 })
}

fn tied<const TENTHS: usize>(rng: &mut StdRng, variant: usize, _: f64) -> UnitTotals {
    let r = TENTHS as f64 / 10.0;
    let before = normal(rng);
    let value = 3.0 + r * before + (1.0 - r * r).sqrt() * normal(rng) + 0.08 * variant as f64;
    UnitTotals { value, count: 1.0, before: Some(before) }
}

pub(super) fn measure() {
    let errors = definition(&two("error_rate"));
    let mut found = Vec::new();
    let mut once = 0;
    for seed in 0..RUNS {
        found.extend(run(&errors, worse, Sharing::Defined, UNITS, 70_000 + seed).decided);
        let short = run(&errors, worse, Sharing::Defined, 12_000, 70_000 + seed);
        once += u64::from(short.z_last);
    }
    found.sort_unstable();
    println!("\n0.10 against 0.12: {RUNS} runs, found by so many units an arm\n");
    println!("| units an arm | found | bar |\n|---|---|---|");
    for units in [3_000, 6_000, 9_000, 12_000] {
        let share = found.iter().filter(|at| **at <= 2 * units).count() as f64 / RUNS as f64;
        let bar =
            if units == 6_000 { format!("≥ 90% {}", held(share >= 0.9)) } else { String::new() };
        println!("| {units} | {:.1}% | {bar} |", 100.0 * share);
    }
    let ninety = found.get(RUNS as usize * 9 / 10 - 1).map_or(0, |at| at / 2);
    println!(
        "\nNine tenths are found by {ninety} an arm. A z-test that is looked at once, at 6 000 an"
    );
    println!(
        "arm, finds {:.1}%: no two-sided test at 0.05 finds more there.",
        100.0 * once as f64 / RUNS as f64
    );
    println!(
        "\n| correlation with the time before | variance taken away | units to a verdict, median, without → with |"
    );
    println!("|---|---|---|");
    correlated::<5>();
    correlated::<7>();
}

fn correlated<const TENTHS: usize>() {
    fn without<const TENTHS: usize>(rng: &mut StdRng, variant: usize, part: f64) -> UnitTotals {
        UnitTotals { before: None, ..tied::<TENTHS>(rng, variant, part) }
    }
    let seconds = definition(&two("latency"));
    let (mut plain, mut corrected, mut reduction) = (Vec::new(), Vec::new(), 0.0);
    for seed in 0..RUNS / 2 {
        let outcome = run(&seconds, without::<TENTHS>, Sharing::Defined, UNITS, seed);
        plain.push(outcome.decided.unwrap_or(UNITS));
        let outcome = run(&seconds, tied::<TENTHS>, Sharing::Defined, UNITS, seed);
        corrected.push(outcome.decided.unwrap_or(UNITS));
        reduction += outcome.reduction.unwrap_or(0.0) / (RUNS / 2) as f64;
    }
    let r = TENTHS as f64 / 10.0;
    let word = held((reduction - r * r).abs() < 0.02);
    println!(
        "| {r} | {:.1}% (r² = {:.0}%: {word}) | {} → {} |",
        100.0 * reduction,
        100.0 * r * r,
        median(&mut plain),
        median(&mut corrected)
    );
}

pub(super) fn median(numbers: &mut [usize]) -> usize {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}
