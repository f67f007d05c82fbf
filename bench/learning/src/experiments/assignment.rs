//! Speed of assignment, and its deviation from the weights.

#![expect(clippy::disallowed_methods, reason = "this measures time")]

use std::hint::black_box;
use std::time::Instant;

use learn::experiment::{AssignmentSalt, TrafficShares, assign_variant};

use super::held;

const UNITS: usize = 1_000_000;
const ROUNDS: usize = 5;

pub(super) fn measure() {
    let units: Vec<String> = (0..UNITS).map(|n| format!("user-{n}")).collect();
    let salt = AssignmentSalt::new("018f3c1e-7a2b-7c3d-8e4f-5a6b7c8d9e0f");
    let shares = TrafficShares::from_weights(&[1.0, 1.0]);
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let treated = units.iter().filter(|unit| assign_variant(&salt, unit, &shares) == 1).count();
        black_box(treated);
        best = best.min(began.elapsed().as_secs_f64());
    }
    let rate = UNITS as f64 / best;
    println!("\n| assignment | measured | bar |\n|---|---|---|");
    let word = held(rate >= 1e6);
    println!("| units a second, one thread | {:.1} million | ≥ 1 million {word} |", rate / 1e6);
    let mut farthest: f64 = 0.0;
    for experiment in 0..20 {
        let salt = AssignmentSalt::new(&format!("experiment-{experiment}"));
        for weights in [vec![1.0, 1.0], vec![99.0, 1.0], vec![1.0, 2.0, 7.0]] {
            let shares = TrafficShares::from_weights(&weights);
            let mut counts = vec![0.0; weights.len()];
            units.iter().for_each(|unit| counts[assign_variant(&salt, unit, &shares)] += 1.0);
            for (count, share) in counts.iter().zip(shares.as_slice()) {
                farthest = farthest.max((count / UNITS as f64 - share).abs());
            }
        }
    }
    let word = held(farthest <= 0.002);
    let farthest = 100.0 * farthest;
    println!(
        "| farthest from its share (60 assignments of 10⁶) | {farthest:.3}% | ≤ 0.2% {word} |"
    );
}
