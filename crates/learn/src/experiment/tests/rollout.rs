use super::super::*;
use super::{add, add_errors, two_variants};

fn definition_with_rollout() -> ExperimentDefinition {
    let mut definition = two_variants("satisfaction");
    definition.guardrails = vec![Guardrail { metric: Metric::ErrorRate, limit: 0.05 }];
    definition.rollout =
        Some(Rollout { steps: vec![5.0, 50.0, 100.0], margin: 0.1, min_units: 100 });
    definition
}

/// Evidence at the first step, with 5% treated.
fn first_step_evidence(
    treated: usize,
    good: usize,
) -> (ExperimentDefinition, RolloutState, ExperimentEvidence) {
    let definition = definition_with_rollout();
    let state = RolloutState::start(&definition).unwrap();
    let mut evidence = ExperimentEvidence::new(&definition);
    add(&mut evidence, 0, treated * 19, treated * 19 * 8 / 10, &state.current_shares(&definition));
    add(&mut evidence, 1, treated, good, &state.current_shares(&definition));
    (definition, state, evidence)
}

#[test]
fn rollout_advances_when_the_treatment_is_not_worse() {
    let (definition, state, evidence) = first_step_evidence(1_000, 800);
    let taken = next_step(&definition, &state, &evidence).unwrap();
    assert_eq!((taken.from, taken.to), (5.0, 50.0));
    let StepReason::NotWorse { treatments } = &taken.reason else { panic!("{taken:?}") };
    assert!(treatments[0].gain_at_least > -0.1 && treatments[0].treatment_units == 1_000);
    let state = state.apply_step(&taken);
    assert_eq!(state, RolloutState { percent: 50.0, rolled_back: false });
    assert_eq!(state.current_shares(&definition).as_slice(), [0.5, 0.5]);
}

#[test]
fn rollout_stays_without_evidence_of_its_own_step() {
    // Worse than the margin, then too few units, then a sample-ratio mismatch.
    for (treated, good) in [(1_000, 650), (99, 99)] {
        let (definition, state, evidence) = first_step_evidence(treated, good);
        assert_eq!(next_step(&definition, &state, &evidence), None, "{treated} {good}");
    }
    let (definition, state, mut evidence) = first_step_evidence(1_000, 800);
    add(&mut evidence, 1, 400, 320, &state.current_shares(&definition));
    assert_eq!(next_step(&definition, &state, &evidence), None);
    // Units of the previous step do not count for the next.
    let (definition, state, mut evidence) = first_step_evidence(1_000, 800);
    let taken = next_step(&definition, &state, &evidence).unwrap();
    let state = state.apply_step(&taken);
    evidence.open_stratum();
    assert_eq!(next_step(&definition, &state, &evidence), None);
    add(&mut evidence, 0, 100, 80, &state.current_shares(&definition));
    add(&mut evidence, 1, 100, 80, &state.current_shares(&definition));
    assert_eq!(next_step(&definition, &state, &evidence).unwrap().to, 100.0);
}

#[test]
fn rollout_respects_lower_is_better_metrics() {
    let (mut definition, state, evidence) = first_step_evidence(1_000, 800);
    definition.metric = Metric::Latency;
    assert!(next_step(&definition, &state, &evidence).is_some());
    let (_, _, evidence) = first_step_evidence(1_000, 1_000);
    assert_eq!(next_step(&definition, &state, &evidence), None);
}

#[test]
fn crossed_guardrail_rolls_back_permanently() {
    let (definition, state, mut evidence) = first_step_evidence(1_000, 800);
    add_errors(&mut evidence, 0, 1_000, 500);
    add_errors(&mut evidence, 1, 99, 99);
    // The control's errors do not count, and 99 units are too few.
    assert_eq!(next_step(&definition, &state, &evidence).unwrap().to, 50.0);
    add_errors(&mut evidence, 1, 900, 50);
    let taken = next_step(&definition, &state, &evidence).unwrap();
    assert_eq!((taken.from, taken.to), (5.0, 0.0));
    let StepReason::GuardrailCrossed { bound, limit, units, metric, .. } = &taken.reason else {
        panic!("{taken:?}")
    };
    assert!(*bound > *limit && *units == 999 && *metric == Metric::ErrorRate);
    let state = state.apply_step(&taken);
    assert_eq!(state, RolloutState { percent: 0.0, rolled_back: true });
    assert_eq!(next_step(&definition, &state, &evidence), None);
    let written = serde_json::to_value(&taken).unwrap();
    assert_eq!(written["why"], "guardrail_crossed");
    assert_eq!(written["evidence"]["limit"], 0.05);
    assert_eq!(serde_json::from_value::<RolloutStep>(written).unwrap(), taken);
}

#[test]
fn guardrail_limit_is_a_minimum_for_higher_is_better_metrics() {
    let (mut definition, state, mut evidence) = first_step_evidence(1_000, 800);
    definition.guardrails[0] = Guardrail { metric: Metric::QualityScore, limit: 0.5 };
    add_errors(&mut evidence, 1, 1_000, 900);
    assert_eq!(next_step(&definition, &state, &evidence).unwrap().to, 50.0);
    add_errors(&mut evidence, 1, 2_000, 100);
    assert_eq!(next_step(&definition, &state, &evidence).unwrap().to, 0.0);
}

#[test]
fn experiment_without_rollout_never_steps() {
    let (mut definition, state, evidence) = first_step_evidence(1_000, 800);
    definition.rollout = None;
    assert_eq!(next_step(&definition, &state, &evidence), None);
    assert_eq!(RolloutState::start(&definition), None);
}
