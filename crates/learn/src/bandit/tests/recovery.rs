//! A router with default settings leaves an arm whose reward fell.

use super::*;

const SEEDS: u64 = 40;

/// The observation of a liked or disliked turn.
type Signals = fn(bool) -> Option<Observation>;

/// Explicit rating only, implicit verdict only, and a rating beside a quick answer.
const SIGNALS: [(&str, Signals); 3] = [
    ("rating", |liked| observation(f64::from(u8::from(liked)), 0.7)),
    ("verdict", |liked| observation(f64::from(u8::from(liked)), 0.3)),
    ("rating and pace", |liked| observation(0.7 * f64::from(u8::from(liked)) + 0.27, 1.0)),
];

struct Simulation {
    rule: RouterRule,
    state: RouterState,
    random: Sampler,
}

impl Simulation {
    fn new(definition: RouterDefinition, seed: u64) -> Self {
        let rule = rule(definition);
        let state = RouterState::new(&rule);
        Self { rule, state, random: Sampler::new(seed) }
    }

    /// Chooses an arm and observes its turn; returns the arm.
    fn decide(&mut self, liking: &[f64; 3], signals: Signals) -> usize {
        let random = self.random.next_u64();
        let request = ChoiceRequest { features: &FEATURES, random, ..ChoiceRequest::default() };
        let arm = self.state.choose_arm(&self.rule, &request).arm;
        let liked = self.random.sample_uniform() < liking[arm];
        let id = &self.rule.arms()[arm].id;
        self.state.observe(&self.rule, &credit(id), None, signals(liked));
        arm
    }

    /// Mean liking of the chosen arms.
    fn run(&mut self, liking: &[f64; 3], signals: Signals, decisions: u32) -> f64 {
        let total: f64 = (0..decisions).map(|_| liking[self.decide(liking, signals)]).sum();
        total / f64::from(decisions)
    }
}

fn never_forget(algorithm: Algorithm) -> RouterDefinition {
    RouterDefinition { discount: Some(Discount::Factor(1.0)), ..router(algorithm, 3) }
}

#[test]
fn new_best_arm_gets_80_percent_within_250_decisions_of_a_collapse() {
    for algorithm in [Algorithm::Thompson, Algorithm::EpsilonGreedy] {
        for (name, signals) in SIGNALS {
            for before in [300, 2_000] {
                let mut share = 0.0;
                for seed in 0..SEEDS {
                    let mut run = Simulation::new(router(algorithm, 3), seed);
                    run.run(&[0.85, 0.65, 0.5], signals, before);
                    run.run(&[0.35, 0.65, 0.5], signals, 200);
                    let chosen = (0..50).map(|_| run.decide(&[0.35, 0.65, 0.5], signals));
                    let best = chosen.filter(|arm| *arm == 1).count();
                    share += best as f64 / 50.0 / SEEDS as f64;
                }
                assert!(share >= 0.8, "{algorithm:?}, {name}, after {before}: {share}");
            }
        }
    }
}

#[test]
fn detection_costs_less_than_3_points_of_a_stationary_reward() {
    for liking in [[0.85, 0.65, 0.5], [0.6, 0.55, 0.5]] {
        for (name, signals) in SIGNALS {
            let mean = |definition: &RouterDefinition| {
                let run =
                    |seed| Simulation::new(definition.clone(), seed).run(&liking, signals, 3_000);
                (0..SEEDS).map(run).sum::<f64>() / SEEDS as f64
            };
            let (with, without) =
                (mean(&router(Algorithm::Thompson, 3)), mean(&never_forget(Algorithm::Thompson)));
            assert!(with > without - 0.01, "{liking:?}, {name}: {with}, {without}");
        }
    }
}

#[test]
fn explicit_discount_and_contextual_algorithms_detect_no_falls() {
    let off = [
        never_forget(Algorithm::Thompson),
        RouterDefinition {
            discount: Some(Discount::Factor(0.999)),
            ..never_forget(Algorithm::Ucb1)
        },
        router(Algorithm::LinTs, 3),
        router(Algorithm::Hybrid, 3),
    ];
    for definition in off {
        let mut run = Simulation::new(definition, 1);
        run.run(&[0.9; 3], SIGNALS[0].1, 300);
        run.run(&[0.1; 3], SIGNALS[0].1, 300);
        let falls = run.state.summarise_arms(&run.rule).iter().map(|arm| arm.falls).sum::<u64>();
        assert_eq!(falls, 0, "{:?}", run.rule.definition());
    }
}

/// A good start of `a`, then a collapse. Returns the records of all turns.
fn collapse(state: &mut RouterState, rule: &RouterRule) -> Vec<Option<AppliedObservation>> {
    let turn = |n: u32| {
        let reward = if n < 100 { 1.0 } else { 0.0 };
        state.observe(rule, &credit("a"), None, observation(reward, 0.7))
    };
    (0..140).map(turn).collect()
}

#[test]
fn late_signals_of_dropped_turns_change_nothing() {
    let rule = rule(router(Algorithm::Thompson, 2));
    let mut state = RouterState::new(&rule);
    let turns = collapse(&mut state, &rule);
    let fallen = state.summarise_arms(&rule)[0].clone();
    assert!(fallen.falls == 1 && fallen.mean < 0.1 && fallen.observations == 140, "{fallen:?}");
    let (mut state, _) = RouterState::from_bytes(&state.to_bytes(5)).unwrap();
    state.observe(&rule, &credit("a"), turns[3], observation(0.2, 1.0));
    assert_eq!(state.summarise_arms(&rule)[0], fallen);
    for turn in turns {
        state.observe(&rule, &credit("a"), turn, None);
    }
    assert_eq!(state.summarise_arms(&rule)[0].weight, 0.0, "{:?}", state.arms[0]);
    assert_eq!(state.arms[0].observations, 0);
}

#[test]
fn fall_is_detected_after_a_checkpoint_without_windows() {
    let rule = rule(router(Algorithm::Thompson, 2));
    let mut state = RouterState::new(&rule);
    for _ in 0..100 {
        state.observe(&rule, &credit("a"), None, observation(0.9, 1.0));
    }
    state.arms.iter_mut().for_each(|arm| arm.window = Default::default());
    let old = state.to_bytes(1);
    assert_eq!(old[4..6], [1, 0], "the version of earlier releases");
    let (mut state, _) = RouterState::from_bytes(&old).unwrap();
    for _ in 0..40 {
        state.observe(&rule, &credit("a"), None, observation(0.1, 1.0));
    }
    let arm = &state.summarise_arms(&rule)[0];
    assert!(arm.falls == 1 && arm.mean < 0.2, "{arm:?}");
}
