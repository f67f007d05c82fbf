//! Sampling, integration and regression arithmetic.

use proptest::prelude::*;

use super::super::best_arm_probability::{ScoreDensity, best_arm_probabilities};
use super::super::ridge_regression::{FeatureVector, RidgeRegression};
use super::super::sampler::Sampler;

#[track_caller]
fn assert_matches_sampling(counts: &[(f64, f64)]) {
    let scores: Vec<ScoreDensity> =
        counts.iter().map(|(a, b)| ScoreDensity::from_beta(*a, *b).unwrap()).collect();
    let mut chances = vec![0.0; scores.len()];
    best_arm_probabilities(&scores, &mut chances).unwrap();
    let mut draws = Sampler::new(17);
    let mut wins = vec![0.0; scores.len()];
    const ROUNDS: f64 = 30_000.0;
    for _ in 0..30_000 {
        let drawn: Vec<f64> = counts.iter().map(|(a, b)| draws.sample_beta(*a, *b)).collect();
        let best = (0..drawn.len()).max_by(|x, y| drawn[*x].total_cmp(&drawn[*y])).unwrap();
        wins[best] += 1.0 / ROUNDS;
    }
    for (chance, won) in chances.iter().zip(&wins) {
        let bound = 4.5 * (chance * (1.0 - chance) / ROUNDS).sqrt() + 2e-4;
        assert!((chance - won).abs() < bound, "{counts:?}: {chances:?}, drawn {wins:?}");
    }
}

#[test]
fn integrated_probabilities_match_sampling() {
    assert_matches_sampling(&[(1.0, 1.0), (1.0, 1.0), (1.0, 1.0)]);
    assert_matches_sampling(&[(2.0, 6.0), (5.0, 5.0), (1.0, 1.0)]);
    assert_matches_sampling(&[(0.1, 0.3), (0.2, 0.2), (3.0, 0.05)]);
    assert_matches_sampling(&[(8_000.0, 2_000.0), (7_950.0, 2_050.0), (4.0, 1.0)]);
    assert_matches_sampling(&[(1e6, 1e6), (1e6 + 1e3, 1e6 - 1e3), (2.0, 2.0)]);
}

#[test]
fn equal_normals_share_and_a_dominated_one_never_wins() {
    let bell = |mean: f64, deviation: f64| ScoreDensity::from_normal(mean, deviation).unwrap();
    let mut chances = [0.0; 3];
    best_arm_probabilities(&[bell(0.5, 0.1), bell(0.5, 0.1), bell(-9.0, 0.1)], &mut chances)
        .unwrap();
    assert!((chances[0] - 0.5).abs() < 1e-9 && chances[2] == 0.0, "{chances:?}");
    // P(X > Y) of independent normals is Φ(difference / √(sum of variances)), here Φ(1).
    let mut pair = [0.0; 2];
    best_arm_probabilities(&[bell(0.5, 0.4), bell(0.0, 0.3)], &mut pair).unwrap();
    assert!((pair[0] - 0.841_344_746).abs() < 5e-5, "{pair:?}");
    assert!(
        ScoreDensity::from_normal(f64::NAN, 1.0).is_none()
            && ScoreDensity::from_beta(0.0, 1.0).is_none()
    );
    assert!(best_arm_probabilities(&[], &mut []).is_none());
}

#[test]
fn credible_intervals_match_reference_values() {
    let [low, high] = ScoreDensity::from_beta(2.0, 6.0).unwrap().credible_interval();
    // scipy.stats.beta(2, 6).ppf([0.025, 0.975])
    assert!((low - 0.036_692_57).abs() < 1e-3 && (high - 0.578_723_0).abs() < 1e-3, "{low} {high}");
    let [low, high] = ScoreDensity::from_beta(1.0, 1.0).unwrap().credible_interval();
    assert!((low - 0.025).abs() < 2e-3 && (high - 0.975).abs() < 2e-3, "{low} {high}");
}

proptest! {
    #[test]
    fn online_regression_matches_the_normal_equations(
        turns in prop::collection::vec(
            (prop::array::uniform3(-1.0..1.0), 0.0..=1.0, 0.01..=1.0),
            1..40,
        ),
        out in 0..40usize,
    ) {
        let mut linear = RidgeRegression::new(3, 1);
        for (x, reward, weight) in &turns {
            let point = FeatureVector::new(x, 3).unwrap();
            prop_assert!(linear.apply_turn(&point, *weight, weight * reward, 0.5));
        }
        // Removing one turn, as a withdrawn signal does.
        let mut rest = turns.clone();
        if out < turns.len() {
            let (x, reward, weight) = rest.remove(out);
            linear.apply_turn(&FeatureVector::new(&x, 3).unwrap(), -weight, -weight * reward, 0.5);
        }
        let mut fresh = RidgeRegression::new(3, 1);
        for (x, reward, weight) in &rest {
            fresh.apply_turn(&FeatureVector::new(x, 3).unwrap(), *weight, weight * reward, 0.5);
        }
        fresh.inverse = fresh.gram.ridge_inverse(3.0, 1.0).unwrap();
        fresh.solve_coefficients(0.5);
        let point = FeatureVector::new(&[0.3, -0.2, 0.9], 3).unwrap();
        let (kept, made) = (linear.predict(&point, 0.5).unwrap(), fresh.predict(&point, 0.5).unwrap());
        prop_assert!((kept.mean - made.mean).abs() < 1e-9);
        prop_assert!((kept.deviation - made.deviation).abs() < 1e-9);
    }
}

#[test]
fn regression_reports_a_fault_and_recovers() {
    let mut linear = RidgeRegression::new(3, 1);
    let point = FeatureVector::new(&[1.0, 0.0, 0.0], 3).unwrap();
    assert!(!linear.apply_turn(&point, -10.0, 0.0, 0.5), "more taken out than was in");
    assert!(linear.predict(&point, 0.5).is_none());
    assert!(linear.apply_turn(&point, 10.0, 0.0, 0.5));
    assert!(linear.predict(&point, 0.5).is_some());
}
