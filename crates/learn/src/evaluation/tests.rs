use proptest::prelude::*;

use super::*;

/// Hand-computed example with importance weights 2, 0.5 and 0.
fn hand_computed_log() -> Vec<LoggedReward> {
    let expected = |of_chosen, of_target| Some(ModelledReward { of_chosen, of_target });
    vec![
        LoggedReward::new(1.0, 0.25, 0.5, expected(0.8, 0.6)).unwrap(),
        LoggedReward::new(0.0, 0.5, 0.25, expected(0.4, 0.5)).unwrap(),
        LoggedReward::new(1.0, 0.25, 0.0, expected(0.2, 0.4)).unwrap(),
    ]
}

#[test]
fn estimators_match_hand_computed_values() {
    let found = evaluate_policy(&hand_computed_log()).unwrap();
    let near = |estimate: PolicyEstimate, value: f64| (estimate.estimate - value).abs() < 1e-15;
    assert!(near(found.ips, 2.0 / 3.0));
    assert!(near(found.snips.unwrap(), 2.0 / 2.5));
    assert!(near(found.dm.unwrap(), 0.5));
    // ((2·0.2 + 0.6) + (0.5·(−0.4) + 0.5) + 0.4) / 3
    assert!(near(found.dr.unwrap(), 1.7 / 3.0));
    assert_eq!((found.n, found.effective_n), (3, 6.25 / 4.25));
    for estimate in [found.ips, found.snips.unwrap(), found.dr.unwrap()] {
        let [low, high] = estimate.interval.unwrap();
        assert!(low < estimate.estimate && estimate.estimate < high);
        assert!(0.0 <= low && high <= 1.0, "{estimate:?}");
    }
    assert_eq!(found.dm.unwrap().interval, None);
}

#[test]
fn intervals_are_cut_at_the_range_of_the_rewards() {
    let log = |reward: f64, propensity: f64| {
        let one = |n: usize| {
            let reward = if n.is_multiple_of(2) { reward } else { 0.0 };
            LoggedReward::new(reward, propensity, 0.5, None).unwrap()
        };
        evaluate_policy(&(0..400).map(one).collect::<Vec<_>>()).unwrap().ips
    };
    for (reward, propensity, high, clipped) in
        [(1.0, 0.5, 0.549, false), (1.0, 0.2, 1.0, true), (8.0, 0.5, 4.393, false)]
    {
        let found = log(reward, propensity);
        assert!((found.interval.unwrap()[1] - high).abs() < 1e-3, "{found:?}");
        assert_eq!(found.clipped, clipped, "{found:?}");
    }
}

#[test]
fn invalid_choice_error_names_the_field() {
    let field = |reward, propensity, target| {
        LoggedReward::new(reward, propensity, target, None).unwrap_err().field
    };
    assert_eq!(field(f64::NAN, 0.5, 0.5), "reward");
    assert_eq!(field(1.0, 0.0, 0.5), "propensity");
    assert_eq!(field(1.0, 1.5, 0.5), "propensity");
    assert_eq!(field(1.0, 0.5, -0.1), "target");
    let broken = Some(ModelledReward { of_chosen: f64::NAN, of_target: 0.0 });
    assert_eq!(LoggedReward::new(1.0, 0.5, 0.5, broken).unwrap_err().field, "expected");
    assert_eq!(evaluate_policy(&[]), None);
    let disjoint = LoggedReward::new(1.0, 0.5, 0.0, None).unwrap();
    let found = evaluate_policy(&[disjoint]).unwrap();
    assert_eq!((found.snips, found.dm, found.effective_n), (None, None, 0.0));
}

#[test]
fn outcome_model_fits_linear_rewards_and_names_invalid_rows() {
    // Arm 0 earns the feature, arm 1 its complement; both are chosen equally often.
    let features: Vec<[f64; 1]> = (0..400).map(|row| [f64::from(row % 20) / 20.0]).collect();
    let target = [1.0, 0.0];
    let choices: Vec<LoggedChoice<'_>> = features
        .iter()
        .enumerate()
        .map(|(row, features)| {
            let arm = (row * 7 / 3) % 2;
            let reward = if arm == 0 { features[0] } else { 1.0 - features[0] };
            LoggedChoice { arm, reward, propensity: 0.5, target: &target, features }
        })
        .collect();
    let found = evaluate_policy(&fit_outcome_model(&choices).unwrap()).unwrap();
    let truth = features.iter().map(|x| x[0]).sum::<f64>() / 400.0;
    for estimate in [found.dm.unwrap(), found.dr.unwrap()] {
        assert!((estimate.estimate - truth).abs() < 0.02, "{found:?}");
    }
    let width = |estimate: PolicyEstimate| {
        let [low, high] = estimate.interval.unwrap();
        high - low
    };
    assert!(width(found.dr.unwrap()) < width(found.ips));
    let mut broken = choices.clone();
    broken[3].features = &[];
    assert_eq!(fit_outcome_model(&broken).unwrap_err().field, "choices[3].features");
    broken[2].target = &[0.9];
    assert_eq!(fit_outcome_model(&broken).unwrap_err().field, "choices[2].target");
    broken[1].reward = f64::NAN;
    assert_eq!(fit_outcome_model(&broken).unwrap_err().field, "choices[1].reward");
    broken[1].arm = 2;
    assert_eq!(fit_outcome_model(&broken).unwrap_err().field, "choices[1].arm");
    assert!(fit_outcome_model(&[]).unwrap().is_empty());
}

proptest! {
    #[test]
    fn logging_policy_is_estimated_at_its_mean_reward(
        rewards in prop::collection::vec((0.0..=1.0, 0.01..=1.0), 1..50),
    ) {
        let logged: Vec<LoggedReward> = rewards
            .iter()
            .map(|(reward, chance)| LoggedReward::new(*reward, *chance, *chance, None).unwrap())
            .collect();
        let earned = rewards.iter().map(|(reward, _)| reward).sum::<f64>() / rewards.len() as f64;
        let found = evaluate_policy(&logged).unwrap();
        prop_assert!((found.ips.estimate - earned).abs() < 1e-12);
        prop_assert!((found.snips.unwrap().estimate - earned).abs() < 1e-12);
    }
}
