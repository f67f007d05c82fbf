//! Replay determinism: any split of the log gives the same bits.

use proptest::prelude::*;

use super::*;

/// One state change, as replayed from the log.
#[derive(Clone, Debug)]
enum Step {
    Chosen(usize),
    Spent(usize, f64, i64),
    Observed { turn: usize, now: Option<(f64, f64)>, hour: u64 },
    Reset,
    Adopt(usize),
    Discount(Option<Discount>),
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const TURNS: usize = 12;

fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    let seen = prop::option::of((0.0..=1.0, 0.01..=1.0));
    let step = prop_oneof![
        2 => (0..4usize).prop_map(Step::Chosen),
        2 => (0..4usize, 0.0..0.1, 0..3i64).prop_map(|(arm, cost, day)| Step::Spent(arm, cost, day)),
        20 => (0..TURNS, seen, 0..500u64)
            .prop_map(|(turn, now, hour)| Step::Observed { turn, now, hour: 490_000 + hour }),
        1 => Just(Step::Reset),
        1 => (2..=4usize).prop_map(Step::Adopt),
        1 => any_discount().prop_map(Step::Discount),
    ];
    prop::collection::vec(step, 0..60)
}

fn any_algorithm() -> impl Strategy<Value = Algorithm> {
    (0..ALL_ALGORITHMS.len()).prop_map(|index| ALL_ALGORITHMS[index])
}

fn any_discount() -> impl Strategy<Value = Option<Discount>> {
    prop_oneof![
        Just(None),
        Just(Some(Discount::Factor(0.97))),
        Just(Some(Discount::Days { half_life_days: 3.0 })),
    ]
}

/// Features, arm and shadow estimate of a turn; a pure function.
fn turn_inputs(turn: usize) -> ([f64; 3], &'static str, ShadowEstimate) {
    let part = |by: usize| ((turn * 7 + by * 3) % 11) as f64 / 5.0 - 1.0;
    let shadow = ShadowEstimate { offset: part(4) / 3.0, slope: part(5) };
    ([part(1), part(2), part(3)], NAMES[turn % 4], shadow)
}

struct Run {
    rule: RouterRule,
    state: RouterState,
    applied: Vec<Option<AppliedObservation>>,
}

impl Run {
    fn new(algorithm: Algorithm, discount: Option<Discount>) -> Self {
        let rule = rule(RouterDefinition { discount, ..router(algorithm, 4) });
        let state = RouterState::new(&rule);
        Self { rule, state, applied: vec![None; TURNS] }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Chosen(arm) => self.state.record_choice(NAMES[arm]),
            Step::Spent(arm, cost, day) => self.state.record_cost(NAMES[arm], cost, day),
            Step::Observed { turn, now, hour } => {
                let (features, arm, shadow) = turn_inputs(turn);
                let credit = Credit { arm, features: &features, shadow: Some(shadow), hour };
                let now = now.and_then(|(reward, weight)| Observation::new(reward, weight));
                let before = self.applied[turn];
                self.applied[turn] = self.state.observe(&self.rule, &credit, before, now);
            }
            Step::Reset => self.state.reset(&self.rule),
            Step::Adopt(arms) => {
                let definition = self.rule.definition();
                let arms = router(definition.algorithm, arms).arms;
                self.rule = rule(RouterDefinition { arms, ..definition.clone() });
                self.state.adopt_rule(&self.rule);
            }
            Step::Discount(discount) => {
                let definition = self.rule.definition().clone();
                self.rule = rule(RouterDefinition { discount, ..definition });
                self.state.adopt_rule(&self.rule);
            }
        }
    }

    fn restart(&mut self, position: u64) {
        let bytes = self.state.to_bytes(position);
        let (state, at) = RouterState::from_bytes(&bytes).unwrap();
        assert_eq!((at, &state), (position, &self.state));
        self.state = state;
    }

    fn bytes(&self) -> Vec<u8> {
        self.state.to_bytes(0)
    }
}

proptest! {
    #[test]
    fn state_from_any_checkpoint_is_bit_identical(
        steps in any_steps(),
        algorithm in any_algorithm(),
        discount in any_discount(),
        restarts in prop::collection::btree_set(0..60usize, 0..5),
    ) {
        let mut whole = Run::new(algorithm, discount);
        let mut cut = Run::new(algorithm, discount);
        for (at, step) in steps.iter().enumerate() {
            if restarts.contains(&at) {
                cut.restart(at as u64);
            }
            whole.step(step);
            cut.step(step);
        }
        prop_assert_eq!(whole.bytes(), cut.bytes());
        prop_assert_eq!(whole.applied, cut.applied);
    }

    #[test]
    fn thompson_state_is_independent_of_turn_order(
        turns in prop::collection::vec((0.0..=1.0, 0.01..=1.0, 0..4usize), 0..40),
        order in any::<u64>(),
    ) {
        let run = |turns: &[(f64, f64, usize)], discount: Option<Discount>| {
            let rule = rule(RouterDefinition { discount, ..router(Algorithm::Thompson, 4) });
            let mut state = RouterState::new(&rule);
            for (reward, weight, arm) in turns {
                let now = Observation::new(*reward, *weight);
                state.observe(&rule, &credit(NAMES[*arm]), None, now);
            }
            state
        };
        let mut shuffled = turns.clone();
        let mut draws = Sampler::new(order);
        for last in (1..shuffled.len()).rev() {
            shuffled.swap(last, (draws.next_u64() % (last as u64 + 1)) as usize);
        }
        let lasting = Some(Discount::Factor(1.0));
        prop_assert_eq!(run(&turns, lasting).to_bytes(0), run(&shuffled, lasting).to_bytes(0));
        let (one, other) = (run(&turns, None), run(&shuffled, None));
        for (one, other) in one.arms.iter().zip(&other.arms) {
            // A fall depends on the order of the turns, and without one the sums do not.
            if one.window.falls == 0 && other.window.falls == 0 {
                prop_assert_eq!(one.sums, other.sums);
            }
        }
    }

    #[test]
    fn repeated_observation_changes_nothing(
        steps in any_steps(),
        algorithm in any_algorithm(),
        discount in any_discount(),
    ) {
        let mut run = Run::new(algorithm, discount);
        for step in &steps {
            run.step(step);
            if let Step::Observed { .. } = step {
                let (bytes, applied) = (run.bytes(), run.applied.clone());
                run.step(step);
                prop_assert_eq!(run.bytes(), bytes);
                prop_assert_eq!(&run.applied, &applied);
            }
        }
    }

    #[test]
    fn sums_stay_consistent_and_withdrawn_turns_leave_no_weight(
        steps in any_steps(),
        algorithm in any_algorithm(),
        discount in any_discount(),
    ) {
        let mut run = Run::new(algorithm, discount);
        let withdrawn = (0..TURNS).map(|turn| Step::Observed { turn, now: None, hour: 490_500 });
        for step in steps.into_iter().chain(withdrawn) {
            run.step(&step);
            for arm in &run.state.arms {
                prop_assert!(arm.sums.is_consistent(), "{:?}: {:?}", step, arm);
            }
        }
        for arm in &run.state.arms {
            prop_assert!(arm.sums.weight() < 1e-3 && arm.observations == 0, "{:?}", arm);
        }
    }

    #[test]
    fn withdrawn_turn_restores_the_means(
        turns in prop::collection::vec((0.0..=1.0, 0.01..=1.0), 1..30),
        algorithm in any_algorithm(),
    ) {
        let rule = rule(router(algorithm, 2));
        let mut state = RouterState::new(&rule);
        for (reward, weight) in &turns {
            let now = Observation::new(*reward, *weight);
            let applied = state.observe(&rule, &credit("a"), None, now);
            let with_all = state.observe(&rule, &credit("a"), applied, None);
            prop_assert_eq!(with_all.and_then(|applied| applied.observation()), None);
        }
        let fresh = RouterState::new(&rule);
        let means = |state: &RouterState| -> Vec<f64> {
            let request = request();
            state.choose_arm(&rule, &request).scores.iter().map(|score| score.mean).collect()
        };
        for (after, before) in means(&state).into_iter().zip(means(&fresh)) {
            prop_assert!((after - before).abs() < 1e-6, "{} {}", after, before);
        }
    }

    #[test]
    fn damaged_checkpoints_are_rejected(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        algorithm in any_algorithm(),
        at in any::<prop::sample::Index>(),
        flip in 1..=255u8,
        cut in any::<prop::sample::Index>(),
    ) {
        prop_assert!(RouterState::from_bytes(&bytes).is_err());
        let good = Run::new(algorithm, None).bytes();
        let mut changed = good.clone();
        changed[at.index(good.len())] ^= flip;
        prop_assert!(RouterState::from_bytes(&changed).is_err());
        prop_assert!(RouterState::from_bytes(&good[..cut.index(good.len())]).is_err());
    }
}

#[test]
fn linear_arms_depend_on_turn_order_by_less_than_1e_6() {
    let rule = rule(router(Algorithm::LinTs, 1));
    let run = |turns: &mut dyn Iterator<Item = usize>| {
        let mut state = RouterState::new(&rule);
        for turn in turns {
            let (features, _, _) = turn_inputs(turn);
            let reward = (turn % 5) as f64 / 4.0;
            let credit = Credit { arm: "a", features: &features, shadow: None, hour: 0 };
            state.observe(&rule, &credit, None, observation(reward, 0.3));
        }
        let request = request();
        state.choose_arm(&rule, &request).scores[0]
    };
    let (there, back) = (run(&mut (0..1500)), run(&mut (0..1500).rev()));
    assert!((there.mean - back.mean).abs() < 1e-6);
    assert!((there.draw - back.draw).abs() < 1e-6);
}
