//! Choice frequencies, limits and validation.

use serde_json::json;

use super::*;

fn parse_router(definition: serde_json::Value) -> Result<RouterRule, model::BadData> {
    RouterRule::new(serde_json::from_value(definition).unwrap())
}

/// The propensity of every arm of the rule, 0 for ineligible ones.
fn propensities(state: &RouterState, rule: &RouterRule, request: &ChoiceRequest<'_>) -> Vec<f64> {
    let mut chances = vec![0.0; rule.arms().len()];
    for score in state.choose_arm(rule, request).scores {
        chances[score.arm] = score.propensity;
    }
    chances
}

#[test]
fn choice_frequencies_match_propensities() {
    for algorithm in ALL_ALGORITHMS {
        let rule = rule(router(algorithm, 4));
        let mut state = RouterState::new(&rule);
        for turn in 0..40u32 {
            let arm = ["a", "b", "c", "d"][turn as usize % 4];
            let reward = f64::from((turn * 7) % 10 < turn % 4 * 3);
            state.observe(&rule, &credit(arm), None, observation(reward, 1.0));
        }
        let mut counts = [0.0; 4];
        let request = request();
        let expected = propensities(&state, &rule, &request);
        let mut random = Sampler::new(1);
        for _ in 0..4_000 {
            let request = ChoiceRequest { random: random.next_u64(), ..request };
            let choice = state.choose_arm(&rule, &request);
            counts[choice.arm] += 1.0 / 4_000.0;
            let by_name = choice.scores.iter().find(|score| score.arm == choice.arm).unwrap();
            assert_eq!(by_name.propensity, choice.propensity);
        }
        let sum: f64 = expected.iter().sum();
        assert!((sum - 1.0).abs() < 1e-9);
        for (count, chance) in counts.iter().zip(&expected) {
            let bound = 4.5 * (chance * (1.0 - chance) / 4_000.0).sqrt() + 1e-9;
            assert!((count - chance).abs() < bound, "{algorithm:?}: {counts:?} {expected:?}");
            let fixed = algorithm == Algorithm::Fixed;
            assert!(fixed || *chance >= 0.01 - 1e-12, "{algorithm:?}: {expected:?}");
        }
    }
}

#[test]
fn same_random_bits_give_the_same_choice() {
    for algorithm in ALL_ALGORITHMS {
        let rule = rule(router(algorithm, 4));
        let state = RouterState::new(&rule);
        let request = ChoiceRequest { random: 99, ..request() };
        assert_eq!(state.choose_arm(&rule, &request), state.choose_arm(&rule, &request));
    }
}

#[test]
fn hybrid_in_shadow_chooses_like_thompson() {
    let plain = rule(router(Algorithm::Thompson, 4));
    let hybrid = rule(router(Algorithm::Hybrid, 4));
    let (mut one, mut other) = (RouterState::new(&plain), RouterState::new(&hybrid));
    let mut random = Sampler::new(2);
    for _ in 0..300 {
        let request = ChoiceRequest {
            features: &FEATURES,
            random: random.next_u64(),
            ..ChoiceRequest::default()
        };
        let (choice, same) =
            (one.choose_arm(&plain, &request), other.choose_arm(&hybrid, &request));
        assert_eq!(same.shadow.is_some(), !other.candidate_lead().serving);
        assert_eq!((choice.arm, choice.propensity), (same.arm, same.propensity));
        let now = observation(random.sample_uniform(), 1.0);
        let credit = credit(&plain.arms()[choice.arm].id);
        one.observe(&plain, &credit, None, now);
        other.observe(&hybrid, &Credit { shadow: same.shadow, ..credit }, None, now);
    }
}

#[test]
fn new_arm_gets_a_minimum_propensity() {
    for algorithm in [Algorithm::Thompson, Algorithm::LinTs, Algorithm::LinUcb] {
        let two = rule(router(algorithm, 2));
        let mut state = RouterState::new(&two);
        for _ in 0..500 {
            state.observe(&two, &credit("a"), None, observation(1.0, 1.0));
            state.observe(&two, &credit("b"), None, observation(0.9, 1.0));
        }
        let mut three = router(algorithm, 3);
        three.arms[2].prior_quality = Some(0.0);
        let three = rule(three);
        state.adopt_rule(&three);
        let request = request();
        assert!(propensities(&state, &three, &request)[2] >= 0.05, "{algorithm:?}");
    }
}

#[test]
fn prior_is_the_initial_mean() {
    for algorithm in [Algorithm::Thompson, Algorithm::LinUcb, Algorithm::LinTs] {
        let mut definition = router(algorithm, 2);
        definition.arms[1].prior_quality = Some(0.9);
        let rule = rule(definition);
        let request = request();
        let scores = RouterState::new(&rule).choose_arm(&rule, &request).scores;
        assert!((scores[0].mean - 0.5).abs() < 1e-9 && (scores[1].mean - 0.9).abs() < 1e-9);
    }
}

fn priced_router() -> RouterRule {
    let arms = json!([
        {"id": "cheap", "price_in": 0.1, "price_out": 0.4},
        {"id": "middling", "price_in": 1.0, "price_out": 4.0},
        {"id": "dear", "price_in": 10.0, "price_out": 40.0}
    ]);
    parse_router(json!({"arms": arms, "daily_budget": 1.0})).unwrap()
}

#[track_caller]
fn assert_eligible(state: &RouterState, request: &ChoiceRequest<'_>, expected: &[usize]) {
    let choice = state.choose_arm(&priced_router(), request);
    let open: Vec<usize> = choice.scores.iter().map(|score| score.arm).collect();
    assert_eq!(open, expected);
}

#[test]
fn limits_narrow_the_choice_but_never_prevent_it() {
    let state = RouterState::new(&priced_router());
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let all = ChoiceRequest::default();
    assert_eligible(&state, &all, &[0, 1, 2]);
    assert_eligible(&state, &ChoiceRequest { max_cost: Some(0.002), ..all }, &[0, 1]);
    assert_eligible(&state, &ChoiceRequest { max_cost: Some(0.0), ..all }, &[0]);
    let exclude = names(&["cheap"]);
    assert_eligible(&state, &ChoiceRequest { exclude: &exclude, ..all }, &[1, 2]);
    assert_eligible(&state, &ChoiceRequest { exclude: &exclude, max_cost: Some(0.0), ..all }, &[1]);
    let exclude = names(&["cheap", "middling", "dear"]);
    assert_eligible(&state, &ChoiceRequest { exclude: &exclude, ..all }, &[0, 1, 2]);
    assert!(
        state.choose_arm(&priced_router(), &ChoiceRequest { exclude: &exclude, ..all }).relaxed
    );
}

#[test]
fn daily_budget_drops_expensive_arms_first() {
    let mut state = RouterState::new(&priced_router());
    let today = ChoiceRequest { day: 20_000, ..ChoiceRequest::default() };
    for (spent, expected) in
        [(0.5, &[0, 1, 2][..]), (0.3, &[0, 1]), (0.19, &[0]), (0.5, &[0]), (5.0, &[0])]
    {
        state.record_cost("unknown", spent, 20_000);
        assert_eligible(&state, &today, expected);
    }
    assert_eligible(&state, &ChoiceRequest { day: 20_001, ..today }, &[0, 1, 2]);
    state.record_cost("cheap", f64::NAN, 20_001);
    state.record_cost("cheap", 0.01, 20_001);
    assert!((state.spent_on(20_001) - 0.01).abs() < 1e-9);
    state.record_cost("cheap", 9.0, 20_000);
    assert!((state.spent_on(20_001) - 0.01).abs() < 1e-9);
}

#[test]
fn invalid_router_error_names_the_field() {
    for (definition, field) in [
        (json!({"arms": []}), "arms"),
        (json!({"arms": [{"id": ""}]}), "arms[0].id"),
        (json!({"arms": [{"id": "a\n"}]}), "arms[0].id"),
        (json!({"arms": [{"id": "a"}, {"id": "a"}]}), "arms[1].id"),
        (json!({"arms": [{"id": "a", "enabled": false}]}), "arms"),
        (json!({"arms": [{"id": "a", "price_in": -1.0}]}), "arms[0].price_in"),
        (json!({"arms": [{"id": "a", "prior_quality": 2.0}]}), "arms[0].prior_quality"),
        (json!({"arms": [{"id": "a"}], "min_propensity": 0.6}), "min_propensity"),
        (json!({"arms": [{"id": "a"}], "daily_budget": 0.0}), "daily_budget"),
        (json!({"arms": [{"id": "a"}], "features": 65}), "features"),
        (json!({"arms": [{"id": "a"}], "discount": 1.5}), "discount"),
        (json!({"arms": [{"id": "a"}], "reward": {"cost_ref": -1}}), "reward.cost_ref"),
    ] {
        assert_eq!(parse_router(definition).unwrap_err().field, field);
    }
}

#[test]
fn router_definition_round_trips_as_documented() {
    let written = json!({
        "arms": [{"id": "gpt-4o-mini", "price_in": 0.15, "price_out": 0.6, "prior_quality": null,
            "enabled": true}],
        "algorithm": "epsilon_greedy",
        "reward": {"explicit_weight": 0.7, "implicit_weight": 0.3, "latency_seconds": [10, 30],
            "cost_weight": 0.0, "cost_ref": 0.01, "latency_weight": 0.0, "latency_ref": 10.0,
            "overrides": {}},
        "discount": {"half_life_days": 14.0}, "min_propensity": 0.01, "daily_budget": null,
        "seed": 7
    });
    let rule = parse_router(written).unwrap();
    let again = serde_json::to_value(rule.definition()).unwrap();
    assert_eq!(parse_router(again).unwrap(), rule);
    for (algorithm, word) in ALL_ALGORITHMS.iter().zip([
        "thompson",
        "linucb",
        "lints",
        "hybrid",
        "epsilon_greedy",
        "ucb1",
        "fixed",
        "random",
    ]) {
        assert_eq!(serde_json::to_value(algorithm).unwrap(), word);
    }
}
