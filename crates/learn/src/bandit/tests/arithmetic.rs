//! The arithmetic under the choices.

use proptest::prelude::*;

use super::super::best_arm_probability::{Score, likeliest};
use super::super::ridge_regression::{Linear, Point};
use super::super::sampler::Draws;

#[track_caller]
fn check_beta(counts: &[(f64, f64)]) {
    let scores: Vec<Score> = counts.iter().map(|(a, b)| Score::beta(*a, *b).unwrap()).collect();
    let mut chances = vec![0.0; scores.len()];
    likeliest(&scores, &mut chances).unwrap();
    let mut draws = Draws::new(17);
    let mut wins = vec![0.0; scores.len()];
    const ROUNDS: f64 = 30_000.0;
    for _ in 0..30_000 {
        let drawn: Vec<f64> = counts.iter().map(|(a, b)| draws.beta(*a, *b)).collect();
        let best = (0..drawn.len()).max_by(|x, y| drawn[*x].total_cmp(&drawn[*y])).unwrap();
        wins[best] += 1.0 / ROUNDS;
    }
    for (chance, won) in chances.iter().zip(&wins) {
        let bound = 4.5 * (chance * (1.0 - chance) / ROUNDS).sqrt() + 2e-4;
        assert!((chance - won).abs() < bound, "{counts:?}: {chances:?}, drawn {wins:?}");
    }
}

#[test]
fn chances_are_those_that_drawing_finds() {
    check_beta(&[(1.0, 1.0), (1.0, 1.0), (1.0, 1.0)]);
    check_beta(&[(2.0, 6.0), (5.0, 5.0), (1.0, 1.0)]);
    check_beta(&[(0.1, 0.3), (0.2, 0.2), (3.0, 0.05)]);
    check_beta(&[(8_000.0, 2_000.0), (7_950.0, 2_050.0), (4.0, 1.0)]);
    check_beta(&[(1e6, 1e6), (1e6 + 1e3, 1e6 - 1e3), (2.0, 2.0)]);
}

#[test]
fn two_equal_bells_share_and_one_far_above_takes_all() {
    let bell = |mean: f64, deviation: f64| Score::normal(mean, deviation).unwrap();
    let mut chances = [0.0; 3];
    likeliest(&[bell(0.5, 0.1), bell(0.5, 0.1), bell(-9.0, 0.1)], &mut chances).unwrap();
    assert!((chances[0] - 0.5).abs() < 1e-9 && chances[2] == 0.0, "{chances:?}");
    // P(X > Y) for independent bells is Φ(difference / √(sum of squares)): here Φ(1).
    let mut pair = [0.0; 2];
    likeliest(&[bell(0.5, 0.4), bell(0.0, 0.3)], &mut pair).unwrap();
    assert!((pair[0] - 0.841_344_746).abs() < 5e-5, "{pair:?}");
    assert!(Score::normal(f64::NAN, 1.0).is_none() && Score::beta(0.0, 1.0).is_none());
    assert!(likeliest(&[], &mut []).is_none());
}

#[test]
fn intervals_are_those_of_the_tables() {
    let [low, high] = Score::beta(2.0, 6.0).unwrap().interval();
    // scipy.stats.beta(2, 6).ppf([0.025, 0.975])
    assert!((low - 0.036_692_57).abs() < 1e-3 && (high - 0.578_723_0).abs() < 1e-3, "{low} {high}");
    let [low, high] = Score::beta(1.0, 1.0).unwrap().interval();
    assert!((low - 0.025).abs() < 2e-3 && (high - 0.975).abs() < 2e-3, "{low} {high}");
}

proptest! {
    #[test]
    fn the_regression_is_the_one_of_the_normal_equations(
        turns in prop::collection::vec(
            (prop::array::uniform3(-1.0..1.0), 0.0..=1.0, 0.01..=1.0),
            1..40,
        ),
        out in 0..40usize,
    ) {
        let mut linear = Linear::new(3, 1);
        for (x, reward, weight) in &turns {
            let point = Point::new(x, 3).unwrap();
            prop_assert!(linear.update(&point, *weight, weight * reward, 0.5));
        }
        // One turn is taken out again, as a withdrawn signal does.
        let mut rest = turns.clone();
        if out < turns.len() {
            let (x, reward, weight) = rest.remove(out);
            linear.update(&Point::new(&x, 3).unwrap(), -weight, -weight * reward, 0.5);
        }
        let mut fresh = Linear::new(3, 1);
        for (x, reward, weight) in &rest {
            fresh.update(&Point::new(x, 3).unwrap(), *weight, weight * reward, 0.5);
        }
        fresh.inverse = fresh.gram.inverse(3.0, 1.0).unwrap();
        fresh.solve(0.5);
        let point = Point::new(&[0.3, -0.2, 0.9], 3).unwrap();
        let (kept, made) = (linear.guess(&point, 0.5).unwrap(), fresh.guess(&point, 0.5).unwrap());
        prop_assert!((kept.mean - made.mean).abs() < 1e-9);
        prop_assert!((kept.deviation - made.deviation).abs() < 1e-9);
    }
}

#[test]
fn a_regression_that_breaks_says_so_and_mends() {
    let mut linear = Linear::new(3, 1);
    let point = Point::new(&[1.0, 0.0, 0.0], 3).unwrap();
    assert!(!linear.update(&point, -10.0, 0.0, 0.5), "more taken out than was in");
    assert!(linear.guess(&point, 0.5).is_none());
    assert!(linear.update(&point, 10.0, 0.0, 0.5));
    assert!(linear.guess(&point, 0.5).is_some());
}
