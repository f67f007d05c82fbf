//! What is learnt, and what is not.

use model::{UnitInterval, VerdictStatus};

use super::*;
use crate::reward::{Answered, Judged, Signal, TurnEvidence};

fn means(state: &RouterState, rule: &RouterRule) -> Vec<f64> {
    let choosing = Choosing { features: &FEATURES, ..Choosing::default() };
    state.choose(rule, &choosing).scores.iter().map(|score| score.mean).collect()
}

#[test]
fn good_and_bad_histories_end_far_apart() {
    for algorithm in ALL {
        let rule = rule(router(algorithm, 2));
        let mut state = RouterState::new(&rule);
        for _ in 0..20 {
            // An accepted and a rejected answer, as implicit signals alone weigh them.
            state.observe(&rule, &credit("a"), None, observed(1.0, 0.3));
            state.observe(&rule, &credit("b"), None, observed(0.0, 0.3));
        }
        let means = means(&state, &rule);
        assert!(means[0] > 0.7 && means[1] < 0.3, "{algorithm:?}: {means:?}");
        let summary = state.summary(&rule);
        assert!(summary[0].interval[0] > summary[1].interval[1], "{summary:?}");
    }
}

#[test]
fn a_retry_lowers_the_arm_that_answered_first() {
    for algorithm in [Algorithm::Thompson, Algorithm::LinUcb, Algorithm::LinTs] {
        let rule = rule(router(algorithm, 2));
        let mut state = RouterState::new(&rule);
        let mut first = TurnEvidence::default();
        first.take(1, &Signal::Answered(Answered { failed: false, seconds: Some(2.0) }));
        let now = first.observation(rule.reward());
        let applied = state.observe(&rule, &credit("a"), None, now);
        let before = means(&state, &rule);
        first.take(2, &Signal::Retry(UnitInterval::ONE));
        state.observe(&rule, &credit("a"), applied, first.observation(rule.reward()));
        let after = means(&state, &rule);
        assert!(after[0] < before[0] && after[1] == before[1], "{before:?} {after:?}");
    }
}

/// What an application sees of an answer that a user likes or does not.
fn implicit_signals(liked: bool, random: &mut super::super::sampler::Draws) -> TurnEvidence {
    let mut evidence = TurnEvidence::default();
    evidence.take(1, &Signal::Answered(Answered { failed: false, seconds: Some(3.0) }));
    let confidence = UnitInterval::new(0.6 + 0.4 * random.uniform()).unwrap();
    let status = if liked { VerdictStatus::Accepted } else { VerdictStatus::Rejected };
    // Most say nothing; some who are not satisfied only ask again.
    let said = random.uniform();
    if said < 0.3 {
        let judged = Some(Judged { status, confidence, moved_on: false });
        evidence.take(2, &Signal::Verdict { message: 1, judged });
    } else if said < 0.5 && !liked {
        evidence.take(2, &Signal::Retry(confidence));
    }
    evidence
}

#[test]
fn from_implicit_signals_alone_most_traffic_finds_the_best_model() {
    for algorithm in [Algorithm::Thompson, Algorithm::Hybrid, Algorithm::LinTs] {
        let mut share = 0.0;
        for seed in 0..4 {
            let rule = rule(router(algorithm, 3));
            let mut state = RouterState::new(&rule);
            let mut random = super::super::sampler::Draws::new(seed);
            let mut best = 0;
            for turn in 0..2_000 {
                let choosing =
                    Choosing { features: &FEATURES, random: random.bits(), ..Choosing::default() };
                let choice = state.choose(&rule, &choosing);
                let liked = random.uniform() < [0.9, 0.7, 0.5][choice.arm];
                let evidence = implicit_signals(liked, &mut random);
                let arm = &rule.arms()[choice.arm].id;
                let credit = Credit { shadow: choice.shadow, ..credit(arm) };
                state.observe(&rule, &credit, None, evidence.observation(rule.reward()));
                best += u32::from(turn >= 1_500 && choice.arm == 0);
            }
            share += f64::from(best) / 500.0 / 4.0;
        }
        assert!(share > 0.7, "{algorithm:?}: {share}");
    }
}

#[test]
fn sums_that_went_wrong_do_not_stop_a_choice() {
    for algorithm in ALL {
        let rule = rule(router(algorithm, 2));
        let mut state = RouterState::new(&rule);
        state.arms[0].sums.good = -(1 << 40);
        state.arms[1].sums.all = -(1 << 40);
        state.arms[0].observations = 100;
        if let Some(linear) = &mut state.arms[0].linear {
            linear.theta[0] = f64::NAN;
        }
        let choosing = Choosing { features: &FEATURES, ..Choosing::default() };
        let choice = state.choose(&rule, &choosing);
        assert!(choice.propensity > 0.0 && choice.scores.iter().all(|s| s.mean.is_finite()));
        let counted = algorithm.is_contextual() || algorithm == Algorithm::Thompson;
        assert_eq!(choice.faults > 0, counted, "{algorithm:?}");
    }
}

#[test]
fn what_counts_for_nothing_teaches_nothing() {
    for algorithm in ALL {
        let rule = rule(router(algorithm, 2));
        let mut state = RouterState::new(&rule);
        let fresh = state.to_bytes(0);
        for reward in [0.0, 1.0] {
            let applied = state.observe(&rule, &credit("a"), None, Observation::new(reward, 0.0));
            assert_eq!(applied, None);
        }
        assert_eq!(state.to_bytes(0), fresh, "{algorithm:?}");
    }
}

#[test]
fn a_later_signal_replaces_what_the_turn_taught() {
    for algorithm in ALL {
        let rule = rule(router(algorithm, 2));
        let (mut corrected, mut straight) = (RouterState::new(&rule), RouterState::new(&rule));
        let applied = corrected.observe(&rule, &credit("a"), None, observed(0.9, 0.3));
        corrected.observe(&rule, &credit("a"), applied, observed(0.27, 1.0));
        straight.observe(&rule, &credit("a"), None, observed(0.27, 1.0));
        for (a, b) in means(&corrected, &rule).iter().zip(means(&straight, &rule)) {
            assert!((a - b).abs() < 1e-9, "{algorithm:?}: {a} {b}");
        }
        assert_eq!(corrected.summary(&rule), straight.summary(&rule));
    }
}

#[test]
fn arms_come_and_go_and_the_others_stay_as_they_are() {
    for algorithm in ALL {
        let three = rule(router(algorithm, 3));
        let mut state = RouterState::new(&three);
        for arm in ["a", "b", "c", "b", "c", "c"] {
            state.observe(&three, &credit(arm), None, observed(0.8, 1.0));
            state.chosen(arm);
        }
        let before = state.clone();
        let mut fewer = router(algorithm, 4);
        fewer.arms.remove(1);
        fewer.arms[0].enabled = false;
        let fewer = rule(fewer);
        state.adopt(&fewer);
        assert_eq!(state.arms[0], before.arms[0]);
        assert_eq!(state.arms[1], before.arms[2]);
        assert_eq!(state.arms[2].observations, 0);
        state.adopt(&three);
        assert_eq!((&state.arms[0], &state.arms[2]), (&before.arms[0], &before.arms[2]));
        assert_eq!(state.arms[1].observations, 0, "a removed arm begins again");
    }
}

#[test]
fn a_turn_that_was_forgotten_stays_forgotten() {
    let rule = rule(router(Algorithm::LinTs, 2));
    let mut state = RouterState::new(&rule);
    let applied = state.observe(&rule, &credit("a"), None, observed(0.0, 1.0));
    state.reset(&rule);
    let fresh = state.clone();
    assert_eq!(state.observe(&rule, &credit("a"), applied, observed(1.0, 1.0)), applied);
    assert_eq!(state, fresh);
    assert!(state.observe(&rule, &credit("nobody"), None, observed(1.0, 1.0)).is_none());
    assert_eq!(state.observe(&rule, &credit("nobody"), applied, None), applied);
    assert_eq!(state, fresh);
}

#[test]
fn a_regression_that_was_given_up_does_not_get_its_turns_back() {
    let linear = rule(router(Algorithm::LinTs, 1));
    let plain = rule(router(Algorithm::Thompson, 1));
    let mut state = RouterState::new(&linear);
    let applied = state.observe(&linear, &credit("a"), None, observed(0.0, 1.0));
    state.adopt(&plain);
    state.adopt(&linear);
    let regression = state.arms[0].linear.clone();
    state.observe(&linear, &credit("a"), applied, observed(1.0, 1.0));
    assert_eq!(state.arms[0].linear, regression);
    assert_eq!(state.summary(&linear)[0].observations, 1);
}

/// Which part of the last 300 choices goes to `a`, which is best at first and bad after 1 500.
fn share_after_a_turn(discount: Option<Discount>, algorithm: Algorithm) -> f64 {
    let rule = rule(RouterDefinition { discount, ..router(algorithm, 3) });
    let mut state = RouterState::new(&rule);
    let mut random = super::super::sampler::Draws::new(11);
    let mut late = 0;
    for turn in 0..2_500 {
        let choosing =
            Choosing { features: &FEATURES, random: random.bits(), ..Choosing::default() };
        let choice = state.choose(&rule, &choosing);
        let arm = rule.arms()[choice.arm].id.clone();
        let quality = match arm.as_str() {
            "a" if turn < 1_500 => 0.9,
            "a" => 0.2,
            _ => 0.6,
        };
        let reward = f64::from(random.uniform() < quality);
        let credit = Credit { shadow: choice.shadow, hour: 490_000 + turn / 10, ..credit(&arm) };
        state.observe(&rule, &credit, None, observed(reward, 1.0));
        late += u32::from(turn >= 2_200 && arm == "a");
    }
    f64::from(late) / 300.0
}

#[test]
fn an_arm_that_turns_bad_loses_its_traffic_when_things_fade() {
    for algorithm in [Algorithm::Thompson, Algorithm::LinTs] {
        let factor = Some(Discount::Factor(0.99));
        assert!(share_after_a_turn(factor, algorithm) < 0.1, "{algorithm:?}");
    }
    let hourly = Some(Discount::Days { half_life_days: 0.5 });
    assert!(share_after_a_turn(hourly, Algorithm::Thompson) < 0.1);
    assert!(share_after_a_turn(None, Algorithm::Thompson) > 0.3, "nothing to show");
}

#[test]
fn what_has_faded_stays_as_it_is_when_nothing_fades_any_more() {
    for algorithm in [Algorithm::Thompson, Algorithm::LinTs] {
        let discount = Some(Discount::Factor(0.9));
        let fading = rule(RouterDefinition { discount, ..router(algorithm, 2) });
        let lasting = rule(router(algorithm, 2));
        let mut state = RouterState::new(&fading);
        state.observe(&fading, &credit("a"), None, observed(1.0, 1.0));
        for _ in 0..20 {
            state.observe(&fading, &credit("b"), None, observed(0.5, 1.0));
        }
        let left = 0.9_f64.powi(20);
        let mut expected = RouterState::new(&lasting);
        expected.observe(&lasting, &credit("a"), None, observed(1.0, left));
        let expected = means(&expected, &lasting)[0];
        state.adopt(&lasting);
        for _ in 0..2 {
            assert!((state.summary(&lasting)[0].weight - left).abs() < 1e-6, "{algorithm:?}");
            let mean = means(&state, &lasting)[0];
            assert!((mean - expected).abs() < 1e-6, "{algorithm:?}: {mean} {expected}");
            state.observe(&lasting, &credit("b"), None, observed(0.5, 1.0));
        }
    }
}

#[test]
fn a_hybrid_goes_over_to_the_regression_when_that_is_better() {
    let rule = rule(router(Algorithm::Hybrid, 2));
    let mut state = RouterState::new(&rule);
    let mut random = super::super::sampler::Draws::new(5);
    let mut late = 0.0;
    for turn in 0..3_000 {
        // One arm is good at one half of the questions, the other at the other.
        let side = if random.uniform() < 0.5 { 1.0 } else { -1.0 };
        let features = [side, random.normal() / 3.0, 0.0];
        let choosing =
            Choosing { features: &features, random: random.bits(), ..Choosing::default() };
        let choice = state.choose(&rule, &choosing);
        let fits = (choice.arm == 0) == (side > 0.0);
        let reward = f64::from(random.uniform() < if fits { 0.9 } else { 0.2 });
        let arm = &rule.arms()[choice.arm].id;
        let credit = Credit { arm, features: &features, shadow: choice.shadow, hour: 0 };
        state.observe(&rule, &credit, None, observed(reward, 0.3));
        if turn >= 2_500 {
            late += reward / 500.0;
        }
    }
    assert!(state.lead().serving && state.lead().interval[0] > 0.0, "{:?}", state.lead());
    assert!(late > 0.8, "{late}");
}

#[test]
fn features_that_do_not_fit_are_counted_and_the_mean_stands_in() {
    let rule = rule(router(Algorithm::LinUcb, 2));
    let mut state = RouterState::new(&rule);
    for features in [&[f64::NAN, 0.0, 0.0][..], &[1.0], &[1e300, 0.0, 0.0], &[]] {
        let credit = Credit { features, ..credit("a") };
        let applied = state.observe(&rule, &credit, None, observed(1.0, 1.0));
        assert!(applied.is_some());
        let choice = state.choose(&rule, &Choosing { features, ..Choosing::default() });
        assert!(choice.faults > 0 && choice.scores.iter().all(|score| score.mean.is_finite()));
    }
    assert_eq!(state.faults(), 3, "none at all are those of somebody who was erased");
    assert!(state.summary(&rule)[0].mean > 0.75);
}
