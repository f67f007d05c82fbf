//! Weights of older turns after discount changes.

use super::*;

const BY_TURNS: Option<Discount> = Some(Discount::Factor(0.9));
const BY_TURNS_FASTER: Option<Discount> = Some(Discount::Factor(0.8));
const BY_HOURS: Option<Discount> = Some(Discount::Days { half_life_days: 0.5 });

fn rule_with_discount(algorithm: Algorithm, discount: Option<Discount>) -> RouterRule {
    rule(RouterDefinition { discount, ..router(algorithm, 2) })
}

/// One turn of `a`, then twenty of `b` at hourly intervals.
fn observe_both_arms(
    state: &mut RouterState,
    rule: &RouterRule,
    hour: &mut u64,
) -> Option<AppliedObservation> {
    let first = Credit { hour: *hour, ..credit("a") };
    let applied = state.observe(rule, &first, None, observation(1.0, 1.0));
    for _ in 0..20 {
        *hour += 1;
        let next = Credit { hour: *hour, ..credit("b") };
        state.observe(rule, &next, None, observation(0.5, 1.0));
    }
    applied
}

#[test]
fn late_signal_changes_only_the_remaining_weight() {
    for algorithm in [Algorithm::Thompson, Algorithm::LinTs] {
        let (by_turns, lasting) =
            (rule_with_discount(algorithm, BY_TURNS), rule_with_discount(algorithm, None));
        let mut state = RouterState::new(&by_turns);
        let applied = observe_both_arms(&mut state, &by_turns, &mut 490_000);
        state.adopt_rule(&lasting);
        let left = 0.9_f64.powi(20);
        assert!((state.summarise_arms(&lasting)[0].weight - left).abs() < 1e-6);
        state.observe(&lasting, &credit("a"), applied, observation(0.0, 1.0));
        let arm = &state.arms[0];
        assert!(arm.sums.is_consistent(), "{algorithm:?}: {:?}", arm.sums);
        assert!((arm.sums.weight() - left).abs() < 1e-6, "{algorithm:?}: {:?}", arm.sums);
        assert!(state.summarise_arms(&lasting)[0].mean < 0.5, "{algorithm:?}");
    }
}

#[test]
fn withdrawn_turns_leave_no_trace_across_discount_changes() {
    let changes: [&[Option<Discount>]; 8] = [
        &[BY_TURNS, None],
        &[BY_TURNS, BY_TURNS_FASTER],
        &[BY_TURNS, BY_HOURS],
        &[BY_HOURS, None],
        &[BY_HOURS, BY_TURNS],
        &[None, BY_TURNS, None, BY_TURNS_FASTER],
        // Turn ticks restart twice.
        &[BY_TURNS, BY_HOURS, BY_TURNS_FASTER, BY_HOURS, None],
        &[None, BY_HOURS, None, BY_TURNS],
    ];
    for algorithm in [Algorithm::Thompson, Algorithm::LinTs] {
        for ways in changes {
            let mut state = RouterState::default();
            let (mut turns, mut hour) = (Vec::new(), 490_000);
            for way in ways {
                let rule = rule_with_discount(algorithm, *way);
                state.adopt_rule(&rule);
                turns.push(observe_both_arms(&mut state, &rule, &mut hour));
                let (read, _) = RouterState::from_bytes(&state.to_bytes(7)).unwrap();
                assert_eq!(read, state);
            }
            let last = rule_with_discount(algorithm, *ways.last().unwrap());
            for turn in turns {
                state.observe(&last, &credit("a"), turn, None);
                assert!(state.arms[0].sums.is_consistent(), "{ways:?}: {:?}", state.arms[0].sums);
            }
            let arm = &state.arms[0];
            assert!(arm.sums.weight() < 1e-6 && arm.observations == 0, "{ways:?}: {arm:?}");
            if let Some(linear) = &arm.linear {
                assert!(linear.gram.values().iter().all(|sum| sum.abs() < 1e-9), "{ways:?}");
            }
            assert_eq!(state.faults(), 0, "{algorithm:?}");
        }
    }
}

#[test]
fn discount_change_without_decay_opens_no_era() {
    let mut state = RouterState::new(&rule_with_discount(Algorithm::Thompson, BY_TURNS));
    state.adopt_rule(&rule_with_discount(Algorithm::Thompson, BY_HOURS));
    let lasting = rule_with_discount(Algorithm::Thompson, None);
    state.adopt_rule(&lasting);
    observe_both_arms(&mut state, &lasting, &mut 490_000);
    let by_turns = rule_with_discount(Algorithm::Thompson, BY_TURNS);
    state.adopt_rule(&by_turns);
    assert!(state.eras.is_empty());
    observe_both_arms(&mut state, &by_turns, &mut 490_000);
    state.adopt_rule(&lasting);
    assert_eq!(state.eras.len(), 1);
    state.reset(&lasting);
    assert!(state.eras.is_empty());
}

/// Version 1 at position 9: one arm, a factor of 0.9, and two good turns.
const VERSION_1_CHECKPOINT_HEX: &str = "\
    55705274010009000000000000000100000002000000000000000000000000000000cdccccccccccec3f\
    000000000000000000000000000000000000000000000000000000000000000000000000000000000000\
    000000000000000000000000000000000000000000000000000000000000000001000000010000006101\
    0000000200000000000000666666e6010000000000000000000000666666e60100000000000000000000\
    000200000000000000000000000000000000000000000000000000000000000000000000000000000000\
    9f44ada5f1584d19";

#[test]
fn version_1_checkpoint_is_read_and_continued() {
    let with_discount =
        |discount| rule(RouterDefinition { discount, ..router(Algorithm::Thompson, 1) });
    let (by_turns, lasting) = (with_discount(BY_TURNS), with_discount(None));
    let mut replayed = RouterState::new(&by_turns);
    let first = replayed.observe(&by_turns, &credit("a"), None, observation(1.0, 1.0));
    replayed.observe(&by_turns, &credit("a"), None, observation(1.0, 1.0));

    let (pairs, _) = VERSION_1_CHECKPOINT_HEX.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let old: Vec<u8> = pairs.iter().map(byte).collect();
    let (mut state, position) = RouterState::from_bytes(&old).unwrap();
    assert_eq!((&state, position), (&replayed, 9));
    assert_eq!(state.to_bytes(9), old, "older releases must be able to read it");

    let kept = r#"{"born":1,"tick":1,"observed":[1.0,1.0],"linear":null,"shadow":null}"#;
    let kept: AppliedObservation = serde_json::from_str(kept).unwrap();
    assert_eq!(Some(kept), first);
    for state in [&mut state, &mut replayed] {
        state.adopt_rule(&lasting);
        state.observe(&lasting, &credit("a"), Some(kept), None);
    }
    assert_eq!(state, replayed);
    assert!((state.summarise_arms(&lasting)[0].weight - 1.0).abs() < 1e-6);
}
