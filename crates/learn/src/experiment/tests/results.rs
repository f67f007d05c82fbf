//! Differences, CUPED and verdicts.

use model::Moments;

use super::super::ExperimentVerdict::{Better, NoVerdict, Undecided, Worse};
use super::super::VerdictReason::{
    GuardrailCrossed, SampleRatioMismatch, TooFewUnits, ZeroInside, ZeroOutside,
};
use super::super::*;
use super::{add, add_errors, one_turn, parse, two_variants};

fn halves() -> TrafficShares {
    TrafficShares::from_weights(&[1.0, 1.0])
}

fn running_results(
    definition: &ExperimentDefinition,
    evidence: &ExperimentEvidence,
) -> ExperimentResults {
    compute_results(definition, ExperimentStatus::Running, evidence)
}

/// Takes units and successes of control and treatment.
fn split_evenly(
    definition: &ExperimentDefinition,
    control: (usize, usize),
    treatment: (usize, usize),
) -> ExperimentEvidence {
    let mut evidence = ExperimentEvidence::new(definition);
    add(&mut evidence, 0, control.0, control.1, &halves());
    add(&mut evidence, 1, treatment.0, treatment.1, &halves());
    evidence
}

fn conclude(
    metric: &str,
    control: (usize, usize),
    treatment: (usize, usize),
) -> (ExperimentVerdict, VerdictReason) {
    let definition = two_variants(metric);
    let evidence = split_evenly(&definition, control, treatment);
    let results = running_results(&definition, &evidence);
    (results.verdict, results.why)
}

#[test]
fn verdicts_respect_the_metric_direction() {
    let (better, worse) = (Better, Worse);
    assert_eq!(conclude("satisfaction", (2_000, 1_000), (2_000, 1_400)), (better, ZeroOutside));
    assert_eq!(conclude("error_rate", (2_000, 1_000), (2_000, 1_400)), (worse, ZeroOutside));
    assert_eq!(conclude("error_rate", (2_000, 1_000), (2_000, 600)), (better, ZeroOutside));
    let open = (Undecided, ZeroInside);
    assert_eq!(conclude("satisfaction", (2_000, 1_000), (2_000, 1_010)), open);
}

#[test]
fn no_verdict_with_too_few_units_or_sample_ratio_mismatch() {
    let few = (Undecided, TooFewUnits);
    assert_eq!(conclude("satisfaction", (99, 0), (99, 99)), few);
    assert_eq!(conclude("satisfaction", (101, 0), (101, 101)), (Better, ZeroOutside));
    let broken = (NoVerdict, SampleRatioMismatch);
    assert_eq!(conclude("satisfaction", (2_000, 1_000), (1_600, 1_400)), broken);
}

#[test]
fn empty_experiment_has_no_means() {
    let definition = two_variants("reward");
    let evidence = ExperimentEvidence::new(&definition);
    let seen = compute_results(&definition, ExperimentStatus::Draft, &evidence);
    assert!(seen.variants.iter().all(|v| v.mean.is_none() && v.interval.is_none()));
    assert!(seen.comparisons[0].difference.is_none() && seen.srm.p.is_none() && seen.srm.ok);
    assert_eq!((seen.verdict, seen.variants.len()), (Undecided, 2));
}

#[test]
fn p_value_agrees_with_the_interval() {
    for good in (1_000..1_200).step_by(5) {
        assert_p_value_agrees(good, 2);
        assert_p_value_agrees(good, 4);
    }
}

#[test]
fn more_variants_widen_every_interval() {
    let three = parse(
        r#"{"name":"x","unit":"user","metric":"satisfaction",
            "variants":[{"name":"a"},{"name":"b"},{"name":"c"}]}"#,
    );
    let mut evidence = ExperimentEvidence::new(&three);
    let shares = TrafficShares::from_definition(&three);
    for (variant, good) in [1_000, 1_400, 1_500].into_iter().enumerate() {
        add(&mut evidence, variant, 2_000, good, &shares);
    }
    let seen = running_results(&three, &evidence);
    assert_eq!((seen.verdict, seen.best.as_deref()), (Better, Some("c")));
    let wide = seen.comparisons[0].difference.unwrap();
    let narrow = {
        let definition = two_variants("satisfaction");
        let evidence = split_evenly(&definition, (2_000, 1_000), (2_000, 1_400));
        running_results(&definition, &evidence).comparisons[0].difference.unwrap()
    };
    assert_eq!(wide.estimate, narrow.estimate);
    assert!(wide.interval[0] < narrow.interval[0] && wide.interval[1] > narrow.interval[1]);
}

/// Compares `good` of 2,000 treated successes with 1,000 of 2,000 in the control.
fn assert_p_value_agrees(good: usize, variants: usize) {
    let mut definition = two_variants("satisfaction");
    for extra in 2..variants {
        let name = format!("extra {extra}");
        definition.variants.push(Variant { name, ..definition.variants[1].clone() });
    }
    let mut evidence = ExperimentEvidence::new(&definition);
    let shares = TrafficShares::from_definition(&definition);
    add(&mut evidence, 0, 2_000, 1_000, &shares);
    (1..variants).for_each(|variant| add(&mut evidence, variant, 2_000, good, &shares));
    let seen = running_results(&definition, &evidence);
    let difference = seen.comparisons[0].difference.unwrap();
    let excluded = difference.interval[0] > 0.0;
    assert_eq!(excluded, difference.p_always_valid < 0.05, "{good} {variants}: {difference:?}");
}

#[test]
fn treatment_beyond_a_guardrail_is_worse() {
    let mut definition = two_variants("satisfaction");
    definition.guardrails = vec![Guardrail { metric: Metric::ErrorRate, limit: 0.05 }];
    let mut evidence = split_evenly(&definition, (2_000, 1_000), (2_000, 1_400));
    add_errors(&mut evidence, 1, 2_000, 300);
    let seen = running_results(&definition, &evidence);
    assert_eq!((seen.verdict, seen.why), (Worse, GuardrailCrossed));
    assert_eq!(seen.best, None);
}

/// Pre-exposure values correlate with the metric and favour the treatment, which adds 0.2.
#[test]
fn cuped_removes_pre_exposure_differences() {
    let definition = two_variants("cost");
    let mut evidence = ExperimentEvidence::new(&definition);
    for unit in 0..2_000_u32 {
        let variant = (unit % 2) as usize;
        let before = f64::from(unit % 40) / 10.0 + 0.1 * variant as f64;
        let noise = f64::from((unit / 2 * 7_919) % 101) / 101.0 - 0.5;
        let value = before + noise + 0.2 * variant as f64;
        let place = evidence.record_exposure(variant, &halves());
        let totals = UnitTotals { value, count: 1.0, before: Some(before) };
        evidence.add_moments(place, &Moments::from_totals(totals));
    }
    let seen = running_results(&definition, &evidence);
    let comparison = &seen.comparisons[0];
    let (plain, cuped) = (comparison.difference.unwrap(), comparison.cuped.unwrap());
    assert!((plain.estimate - 0.4).abs() < 0.01, "{plain:?}");
    assert!((cuped.estimate - 0.2).abs() < 0.01, "{cuped:?}");
    assert!(comparison.variance_reduction.unwrap() > 0.9);
    // A higher cost is worse.
    assert_eq!(comparison.verdict, Worse);
}

#[test]
fn strata_are_compared_separately() {
    let definition = two_variants("satisfaction");
    let mut evidence = ExperimentEvidence::new(&definition);
    // No effect, but the base rate rises while the treatment share grows.
    add(&mut evidence, 0, 1_900, 380, &TrafficShares::from_weights(&[0.95, 0.05]));
    add(&mut evidence, 1, 100, 20, &TrafficShares::from_weights(&[0.95, 0.05]));
    evidence.open_stratum();
    add(&mut evidence, 0, 1_000, 800, &halves());
    add(&mut evidence, 1, 1_000, 800, &halves());
    let seen = running_results(&definition, &evidence);
    let difference = seen.comparisons[0].difference.unwrap();
    assert!(difference.estimate.abs() < 1e-9, "{difference:?}");
    assert!(seen.variants[1].mean.unwrap() - seen.variants[0].mean.unwrap() > 0.3);
}

#[test]
fn adaptive_shares_favour_the_better_arm_and_keep_a_floor() {
    let mut definition = two_variants("error_rate");
    definition.adaptive = Some(AdaptiveAllocation { min_share: Some(0.05) });
    let mut evidence = ExperimentEvidence::new(&definition);
    assert_eq!(adaptive_shares(&definition, &evidence).as_slice(), [0.5, 0.5]);
    add(&mut evidence, 0, 500, 100, &halves());
    add(&mut evidence, 1, 500, 40, &halves());
    let shares = adaptive_shares(&definition, &evidence);
    assert!((shares.as_slice()[0] - 0.05).abs() < 1e-9, "{shares:?}");
    let separate = running_results(&definition, &evidence).comparisons[0].difference;
    definition.adaptive = None;
    let joint = running_results(&definition, &evidence).comparisons[0].difference;
    let (separate, joint) = (separate.unwrap(), joint.unwrap());
    assert_eq!(separate.estimate, joint.estimate);
    assert!(
        separate.interval[0] < joint.interval[0] && separate.p_always_valid > joint.p_always_valid
    );
    assert_eq!(separate.p_always_valid < 0.05, separate.interval[1] < 0.0);
}

#[test]
fn adaptive_shares_ignore_too_few_units() {
    let mut definition = two_variants("error_rate");
    definition.adaptive = Some(AdaptiveAllocation { min_share: Some(0.05) });
    let mut evidence = split_evenly(&definition, (99, 0), (99, 99));
    assert_eq!(adaptive_shares(&definition, &evidence).as_slice(), [0.5, 0.5]);
    add(&mut evidence, 0, 1, 0, &halves());
    add(&mut evidence, 1, 1, 1, &halves());
    assert!(adaptive_shares(&definition, &evidence).as_slice()[0] > 0.9);
}

#[test]
fn identical_units_have_a_p_value() {
    let p = |control: usize, treatment: usize| {
        let definition = two_variants("cost");
        let evidence = split_evenly(&definition, (200, control), (200, treatment));
        let comparison = running_results(&definition, &evidence).comparisons.remove(0);
        (comparison.difference.unwrap().p_always_valid, comparison.verdict)
    };
    assert_eq!(p(200, 200), (1.0, Undecided));
    assert_eq!(p(0, 200), (0.0, Worse));
}

#[test]
fn added_moments_equal_observed_units() {
    let mut definition = two_variants("satisfaction");
    definition.guardrails = vec![Guardrail { metric: Metric::ErrorRate, limit: 0.05 }];
    let mut seen = ExperimentEvidence::new(&definition);
    seen.open_stratum();
    let mut added = seen.clone();
    let mut sums = Moments::default();
    for unit in 0..30 {
        let totals = UnitTotals { value: f64::from(unit % 3), count: 2.0, before: Some(0.5) };
        let place = seen.record_exposure(1, &halves());
        seen.add_moments(place, &Moments::from_totals(totals));
        seen.add_guardrail_moments(0, 1, &Moments::from_totals(totals));
        sums = sums.plus(&Moments::from_totals(totals));
    }
    let place = UnitPlacement { variant: 1, stratum: 1 };
    added.record_exposures(place, &halves(), 30);
    added.add_moments(place, &sums);
    added.add_guardrail_moments(0, 1, &sums);
    assert_eq!(added, seen);
    // Unknown placements are ignored.
    let nowhere = UnitPlacement { variant: 1, stratum: 2 };
    added.record_exposures(nowhere, &halves(), 30);
    added.add_moments(nowhere, &sums);
    added.add_guardrail_moments(1, 1, &sums);
    assert_eq!(added, seen);
}

#[test]
fn evidence_survives_a_json_round_trip() {
    let definition = two_variants("satisfaction");
    let mut evidence = ExperimentEvidence::new(&definition);
    add(&mut evidence, 0, 50, 20, &halves());
    let place = evidence.record_exposure(1, &halves());
    evidence.add_moments(place, &Moments::from_totals(one_turn(0.3)));
    let written = serde_json::to_value(&evidence).unwrap();
    assert_eq!(serde_json::from_value::<ExperimentEvidence>(written).unwrap(), evidence);
    // Unknown placements are ignored.
    let before = evidence.clone();
    evidence.add_moments(
        UnitPlacement { variant: 7, stratum: 9 },
        &Moments::from_totals(one_turn(1.0)),
    );
    evidence.add_guardrail_moments(3, 0, &Moments::from_totals(one_turn(1.0)));
    assert_eq!(evidence, before);
}
