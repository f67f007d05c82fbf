//! Learning from observations.

use model::{UnitInterval, VerdictStatus};

use super::*;
use crate::reward::{AnswerOutcome, MessageVerdict, TurnEvidence, TurnSignal};

fn means(state: &RouterState, rule: &RouterRule) -> Vec<f64> {
    let request = request();
    state.choose_arm(rule, &request).scores.iter().map(|score| score.mean).collect()
}

#[test]
fn good_and_bad_arms_separate() {
    for algorithm in ALL_ALGORITHMS {
        let rule = rule(router(algorithm, 2));
        let mut state = RouterState::new(&rule);
        for _ in 0..20 {
            // Weights of implicit signals alone.
            state.observe(&rule, &credit("a"), None, observation(1.0, 0.3));
            state.observe(&rule, &credit("b"), None, observation(0.0, 0.3));
        }
        let means = means(&state, &rule);
        assert!(means[0] > 0.7 && means[1] < 0.3, "{algorithm:?}: {means:?}");
        let summary = state.summarise_arms(&rule);
        assert!(summary[0].interval[0] > summary[1].interval[1], "{summary:?}");
    }
}

#[test]
fn retry_lowers_the_arm_that_answered_first() {
    for algorithm in [Algorithm::Thompson, Algorithm::LinUcb, Algorithm::LinTs] {
        let rule = rule(router(algorithm, 2));
        let mut state = RouterState::new(&rule);
        let mut first = TurnEvidence::default();
        first.record(1, &TurnSignal::Answered(AnswerOutcome { failed: false, seconds: Some(2.0) }));
        let now = first.observation(rule.reward());
        let applied = state.observe(&rule, &credit("a"), None, now);
        let before = means(&state, &rule);
        first.record(2, &TurnSignal::Retry(UnitInterval::ONE));
        state.observe(&rule, &credit("a"), applied, first.observation(rule.reward()));
        let after = means(&state, &rule);
        assert!(after[0] < before[0] && after[1] == before[1], "{before:?} {after:?}");
    }
}

/// Signals that an application sees for a liked or disliked answer.
fn implicit_signals(liked: bool, random: &mut Sampler) -> TurnEvidence {
    let mut evidence = TurnEvidence::default();
    evidence.record(1, &TurnSignal::Answered(AnswerOutcome { failed: false, seconds: Some(3.0) }));
    let confidence = UnitInterval::new(0.6 + 0.4 * random.sample_uniform()).unwrap();
    let status = if liked { VerdictStatus::Accepted } else { VerdictStatus::Rejected };
    // Most users give no signal; some dissatisfied ones only retry.
    let roll = random.sample_uniform();
    if roll < 0.3 {
        let judged = Some(MessageVerdict { status, confidence, moved_on: false });
        evidence.record(2, &TurnSignal::Verdict { message: 1, judged });
    } else if roll < 0.5 && !liked {
        evidence.record(2, &TurnSignal::Retry(confidence));
    }
    evidence
}

#[test]
fn implicit_signals_alone_route_most_traffic_to_the_best_arm() {
    for algorithm in [Algorithm::Thompson, Algorithm::Hybrid, Algorithm::LinTs] {
        let mut share = 0.0;
        for seed in 0..4 {
            let rule = rule(router(algorithm, 3));
            let mut state = RouterState::new(&rule);
            let mut random = Sampler::new(seed);
            let mut best = 0;
            for turn in 0..2_000 {
                let request = ChoiceRequest {
                    features: &FEATURES,
                    random: random.next_u64(),
                    ..ChoiceRequest::default()
                };
                let choice = state.choose_arm(&rule, &request);
                let liked = random.sample_uniform() < [0.9, 0.7, 0.5][choice.arm];
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
fn corrupt_sums_do_not_prevent_a_choice() {
    for algorithm in ALL_ALGORITHMS {
        let rule = rule(router(algorithm, 2));
        let mut state = RouterState::new(&rule);
        state.arms[0].sums.good = -(1 << 40);
        state.arms[1].sums.all = -(1 << 40);
        state.arms[0].observations = 100;
        if let Some(linear) = &mut state.arms[0].linear {
            linear.coefficients[0] = f64::NAN;
        }
        let request = request();
        let choice = state.choose_arm(&rule, &request);
        assert!(choice.propensity > 0.0 && choice.scores.iter().all(|s| s.mean.is_finite()));
        let counted = algorithm.is_contextual() || algorithm == Algorithm::Thompson;
        assert_eq!(choice.faults > 0, counted, "{algorithm:?}");
    }
}

#[test]
fn zero_weight_observation_changes_nothing() {
    for algorithm in ALL_ALGORITHMS {
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
fn later_signal_replaces_the_turns_observation() {
    for algorithm in ALL_ALGORITHMS {
        let rule = rule(router(algorithm, 2));
        let (mut corrected, mut straight) = (RouterState::new(&rule), RouterState::new(&rule));
        let applied = corrected.observe(&rule, &credit("a"), None, observation(0.9, 0.3));
        corrected.observe(&rule, &credit("a"), applied, observation(0.27, 1.0));
        straight.observe(&rule, &credit("a"), None, observation(0.27, 1.0));
        for (a, b) in means(&corrected, &rule).iter().zip(means(&straight, &rule)) {
            assert!((a - b).abs() < 1e-9, "{algorithm:?}: {a} {b}");
        }
        assert_eq!(corrected.summarise_arms(&rule), straight.summarise_arms(&rule));
    }
}

#[test]
fn adding_and_removing_arms_keeps_the_others() {
    for algorithm in ALL_ALGORITHMS {
        let three = rule(router(algorithm, 3));
        let mut state = RouterState::new(&three);
        for arm in ["a", "b", "c", "b", "c", "c"] {
            state.observe(&three, &credit(arm), None, observation(0.8, 1.0));
            state.record_choice(arm);
        }
        let before = state.clone();
        let mut fewer = router(algorithm, 4);
        fewer.arms.remove(1);
        fewer.arms[0].enabled = false;
        let fewer = rule(fewer);
        state.adopt_rule(&fewer);
        assert_eq!(state.arms[0], before.arms[0]);
        assert_eq!(state.arms[1], before.arms[2]);
        assert_eq!(state.arms[2].observations, 0);
        state.adopt_rule(&three);
        assert_eq!((&state.arms[0], &state.arms[2]), (&before.arms[0], &before.arms[2]));
        assert_eq!(state.arms[1].observations, 0, "a removed arm starts over");
    }
}

#[test]
fn turn_from_before_a_reset_is_ignored() {
    let rule = rule(router(Algorithm::LinTs, 2));
    let mut state = RouterState::new(&rule);
    let applied = state.observe(&rule, &credit("a"), None, observation(0.0, 1.0));
    state.reset(&rule);
    let fresh = state.clone();
    assert_eq!(state.observe(&rule, &credit("a"), applied, observation(1.0, 1.0)), applied);
    assert_eq!(state, fresh);
    assert!(state.observe(&rule, &credit("unknown"), None, observation(1.0, 1.0)).is_none());
    assert_eq!(state.observe(&rule, &credit("unknown"), applied, None), applied);
    assert_eq!(state, fresh);
}

#[test]
fn dropped_regression_ignores_its_earlier_turns() {
    let linear = rule(router(Algorithm::LinTs, 1));
    let plain = rule(router(Algorithm::Thompson, 1));
    let mut state = RouterState::new(&linear);
    let applied = state.observe(&linear, &credit("a"), None, observation(0.0, 1.0));
    state.adopt_rule(&plain);
    state.adopt_rule(&linear);
    let regression = state.arms[0].linear.clone();
    state.observe(&linear, &credit("a"), applied, observation(1.0, 1.0));
    assert_eq!(state.arms[0].linear, regression);
    assert_eq!(state.summarise_arms(&linear)[0].observations, 1);
}

/// Share of the last 300 choices given to `a`, which is best until turn 1,500 and bad after.
fn late_share_of_degraded_arm(discount: Option<Discount>, algorithm: Algorithm) -> f64 {
    let rule = rule(RouterDefinition { discount, ..router(algorithm, 3) });
    let mut state = RouterState::new(&rule);
    let mut random = Sampler::new(11);
    let mut late = 0;
    for turn in 0..2_500 {
        let request = ChoiceRequest {
            features: &FEATURES,
            random: random.next_u64(),
            ..ChoiceRequest::default()
        };
        let choice = state.choose_arm(&rule, &request);
        let arm = rule.arms()[choice.arm].id.clone();
        let quality = match arm.as_str() {
            "a" if turn < 1_500 => 0.9,
            "a" => 0.2,
            _ => 0.6,
        };
        let reward = f64::from(random.sample_uniform() < quality);
        let credit = Credit { shadow: choice.shadow, hour: 490_000 + turn / 10, ..credit(&arm) };
        state.observe(&rule, &credit, None, observation(reward, 1.0));
        late += u32::from(turn >= 2_200 && arm == "a");
    }
    f64::from(late) / 300.0
}

#[test]
fn degraded_arm_loses_traffic_under_discounting() {
    for algorithm in [Algorithm::Thompson, Algorithm::LinTs] {
        let factor = Some(Discount::Factor(0.99));
        assert!(late_share_of_degraded_arm(factor, algorithm) < 0.1, "{algorithm:?}");
    }
    let hourly = Some(Discount::Days { half_life_days: 0.5 });
    assert!(late_share_of_degraded_arm(hourly, Algorithm::Thompson) < 0.1);
    assert!(late_share_of_degraded_arm(None, Algorithm::Thompson) < 0.1, "the fall is detected");
    let lasting = Some(Discount::Factor(1.0));
    assert!(
        late_share_of_degraded_arm(lasting, Algorithm::Thompson) > 0.3,
        "without discounting and detection the arm keeps its traffic"
    );
}

#[test]
fn decayed_sums_persist_after_discounting_is_disabled() {
    for algorithm in [Algorithm::Thompson, Algorithm::LinTs] {
        let discount = Some(Discount::Factor(0.9));
        let decay = rule(RouterDefinition { discount, ..router(algorithm, 2) });
        let lasting = rule(router(algorithm, 2));
        let mut state = RouterState::new(&decay);
        state.observe(&decay, &credit("a"), None, observation(1.0, 1.0));
        for _ in 0..20 {
            state.observe(&decay, &credit("b"), None, observation(0.5, 1.0));
        }
        let left = 0.9_f64.powi(20);
        let mut expected = RouterState::new(&lasting);
        expected.observe(&lasting, &credit("a"), None, observation(1.0, left));
        let expected = means(&expected, &lasting)[0];
        state.adopt_rule(&lasting);
        for _ in 0..2 {
            assert!(
                (state.summarise_arms(&lasting)[0].weight - left).abs() < 1e-6,
                "{algorithm:?}"
            );
            let mean = means(&state, &lasting)[0];
            assert!((mean - expected).abs() < 1e-6, "{algorithm:?}: {mean} {expected}");
            state.observe(&lasting, &credit("b"), None, observation(0.5, 1.0));
        }
    }
}

#[test]
fn hybrid_switches_to_the_better_regression() {
    let rule = rule(router(Algorithm::Hybrid, 2));
    let mut state = RouterState::new(&rule);
    let mut random = Sampler::new(5);
    let mut late = 0.0;
    for turn in 0..3_000 {
        // Each arm is good at one half of the questions.
        let side = if random.sample_uniform() < 0.5 { 1.0 } else { -1.0 };
        let features = [side, random.sample_normal() / 3.0, 0.0];
        let request = ChoiceRequest {
            features: &features,
            random: random.next_u64(),
            ..ChoiceRequest::default()
        };
        let choice = state.choose_arm(&rule, &request);
        let fits = (choice.arm == 0) == (side > 0.0);
        let reward = f64::from(random.sample_uniform() < if fits { 0.9 } else { 0.2 });
        let arm = &rule.arms()[choice.arm].id;
        let credit = Credit { arm, features: &features, shadow: choice.shadow, hour: 0 };
        state.observe(&rule, &credit, None, observation(reward, 0.3));
        if turn >= 2_500 {
            late += reward / 500.0;
        }
    }
    assert!(
        state.candidate_lead().serving && state.candidate_lead().interval[0] > 0.0,
        "{:?}",
        state.candidate_lead()
    );
    assert!(late > 0.8, "{late}");
}

#[test]
fn invalid_features_count_as_faults_and_fall_back_to_the_mean() {
    let rule = rule(router(Algorithm::LinUcb, 2));
    let mut state = RouterState::new(&rule);
    for features in [&[f64::NAN, 0.0, 0.0][..], &[1.0], &[1e300, 0.0, 0.0], &[]] {
        let credit = Credit { features, ..credit("a") };
        let applied = state.observe(&rule, &credit, None, observation(1.0, 1.0));
        assert!(applied.is_some());
        let choice =
            state.choose_arm(&rule, &ChoiceRequest { features, ..ChoiceRequest::default() });
        assert!(choice.faults > 0 && choice.scores.iter().all(|score| score.mean.is_finite()));
    }
    assert_eq!(state.faults(), 3, "empty features belong to an erased user");
    assert!(state.summarise_arms(&rule)[0].mean > 0.75);
}
