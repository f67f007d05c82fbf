//! Differences, corrections and verdicts.

use model::Moments;

use super::super::*;
use super::{errors, one, put, read, two};

fn half() -> Shares {
    Shares::of(&[1.0, 1.0])
}

/// Units and successes of control and treatment → what is concluded.
fn check(metric: &str, control: (usize, usize), treatment: (usize, usize)) -> (Verdict, Why) {
    let definition = two(metric);
    let mut evidence = Evidence::new(&definition);
    put(&mut evidence, 0, control.0, control.1, &half());
    put(&mut evidence, 1, treatment.0, treatment.1, &half());
    let results = results(&definition, Status::Running, &evidence);
    (results.verdict, results.why)
}

#[test]
fn verdicts_know_which_way_is_good() {
    let (better, worse) = (Verdict::Better, Verdict::Worse);
    assert_eq!(check("satisfaction", (2_000, 1_000), (2_000, 1_400)), (better, Why::ZeroOutside));
    assert_eq!(check("error_rate", (2_000, 1_000), (2_000, 1_400)), (worse, Why::ZeroOutside));
    assert_eq!(check("error_rate", (2_000, 1_000), (2_000, 600)), (better, Why::ZeroOutside));
    let open = (Verdict::Undecided, Why::ZeroInside);
    assert_eq!(check("satisfaction", (2_000, 1_000), (2_000, 1_010)), open);
}

#[test]
fn nothing_is_concluded_from_a_handful_or_from_a_broken_split() {
    let few = (Verdict::Undecided, Why::TooFewUnits);
    assert_eq!(check("satisfaction", (99, 0), (99, 99)), few);
    assert_eq!(check("satisfaction", (101, 0), (101, 101)), (Verdict::Better, Why::ZeroOutside));
    let broken = (Verdict::NoVerdict, Why::SampleRatioMismatch);
    assert_eq!(check("satisfaction", (2_000, 1_000), (1_600, 1_400)), broken);
}

#[test]
fn an_empty_experiment_has_no_means() {
    let definition = two("reward");
    let seen = results(&definition, Status::Draft, &Evidence::new(&definition));
    assert!(seen.variants.iter().all(|v| v.mean.is_none() && v.interval.is_none()));
    assert!(seen.comparisons[0].difference.is_none() && seen.srm.p.is_none() && seen.srm.ok);
    assert_eq!((seen.verdict, seen.variants.len()), (Verdict::Undecided, 2));
}

#[test]
fn the_p_value_agrees_with_the_interval() {
    for good in (1_000..1_200).step_by(5) {
        agrees(good, 2);
        agrees(good, 4);
    }
}

#[test]
fn more_variants_make_every_comparison_stricter() {
    let three = read(
        r#"{"name":"x","unit":"user","metric":"satisfaction",
            "variants":[{"name":"a"},{"name":"b"},{"name":"c"}]}"#,
    );
    let mut evidence = Evidence::new(&three);
    let shares = Shares::of_weights(&three);
    for (variant, good) in [1_000, 1_400, 1_500].into_iter().enumerate() {
        put(&mut evidence, variant, 2_000, good, &shares);
    }
    let seen = results(&three, Status::Running, &evidence);
    assert_eq!((seen.verdict, seen.best.as_deref()), (Verdict::Better, Some("c")));
    let wide = seen.comparisons[0].difference.unwrap();
    let narrow = {
        let definition = two("satisfaction");
        let mut evidence = Evidence::new(&definition);
        put(&mut evidence, 0, 2_000, 1_000, &half());
        put(&mut evidence, 1, 2_000, 1_400, &half());
        results(&definition, Status::Running, &evidence).comparisons[0].difference.unwrap()
    };
    assert_eq!(wide.estimate, narrow.estimate);
    assert!(wide.interval[0] < narrow.interval[0] && wide.interval[1] > narrow.interval[1]);
}

/// Good ones of 2 000 in the treatment, against 1 000 of 2 000, and how many variants there are.
fn agrees(good: usize, variants: usize) {
    let mut definition = two("satisfaction");
    for extra in 2..variants {
        let name = format!("extra {extra}");
        definition.variants.push(Variant { name, ..definition.variants[1].clone() });
    }
    let mut evidence = Evidence::new(&definition);
    let shares = Shares::of_weights(&definition);
    put(&mut evidence, 0, 2_000, 1_000, &shares);
    (1..variants).for_each(|variant| put(&mut evidence, variant, 2_000, good, &shares));
    let seen = results(&definition, Status::Running, &evidence);
    let difference = seen.comparisons[0].difference.unwrap();
    let excluded = difference.interval[0] > 0.0;
    assert_eq!(excluded, difference.p_always_valid < 0.05, "{good} {variants}: {difference:?}");
}

#[test]
fn a_treatment_that_breaks_a_guardrail_is_not_better() {
    let mut definition = two("satisfaction");
    definition.guardrails = vec![Guardrail { metric: Metric::ErrorRate, limit: 0.05 }];
    let mut evidence = Evidence::new(&definition);
    put(&mut evidence, 0, 2_000, 1_000, &half());
    put(&mut evidence, 1, 2_000, 1_400, &half());
    errors(&mut evidence, 1, 2_000, 300);
    let seen = results(&definition, Status::Running, &evidence);
    assert_eq!((seen.verdict, seen.why), (Verdict::Worse, Why::GuardrailCrossed));
    assert_eq!(seen.best, None);
}

/// Before and after move together; the treatment adds 0.2 and happens to have got the better half.
#[test]
fn the_time_before_explains_what_the_treatment_did_not_do() {
    let definition = two("cost");
    let mut evidence = Evidence::new(&definition);
    for unit in 0..2_000_u32 {
        let variant = (unit % 2) as usize;
        let before = f64::from(unit % 40) / 10.0 + 0.1 * variant as f64;
        let noise = f64::from((unit / 2 * 7_919) % 101) / 101.0 - 0.5;
        let value = before + noise + 0.2 * variant as f64;
        let place = evidence.expose(variant, &half());
        let totals = UnitTotals { value, count: 1.0, before: Some(before) };
        evidence.observe(place, None, Some(totals));
    }
    let seen = results(&definition, Status::Running, &evidence);
    let comparison = &seen.comparisons[0];
    let (plain, cuped) = (comparison.difference.unwrap(), comparison.cuped.unwrap());
    assert!((plain.estimate - 0.4).abs() < 0.01, "{plain:?}");
    assert!((cuped.estimate - 0.2).abs() < 0.01, "{cuped:?}");
    assert!(comparison.variance_reduction.unwrap() > 0.9);
    // Dearer is worse.
    assert_eq!(comparison.verdict, Verdict::Worse);
}

#[test]
fn strata_are_compared_within_themselves() {
    let definition = two("satisfaction");
    let mut evidence = Evidence::new(&definition);
    // Nothing differs, but the world got better while the treatment grew.
    put(&mut evidence, 0, 1_900, 380, &Shares::of(&[0.95, 0.05]));
    put(&mut evidence, 1, 100, 20, &Shares::of(&[0.95, 0.05]));
    evidence.open_stratum();
    put(&mut evidence, 0, 1_000, 800, &half());
    put(&mut evidence, 1, 1_000, 800, &half());
    let seen = results(&definition, Status::Running, &evidence);
    let difference = seen.comparisons[0].difference.unwrap();
    assert!(difference.estimate.abs() < 1e-9, "{difference:?}");
    assert!(seen.variants[1].mean.unwrap() - seen.variants[0].mean.unwrap() > 0.3);
}

#[test]
fn adaptive_shares_go_to_the_better_and_keep_a_floor() {
    let mut definition = two("error_rate");
    definition.adaptive = Some(Adaptive { min_share: Some(0.05) });
    let mut evidence = Evidence::new(&definition);
    assert_eq!(adaptive_shares(&definition, &evidence).as_slice(), [0.5, 0.5]);
    put(&mut evidence, 0, 500, 100, &half());
    put(&mut evidence, 1, 500, 40, &half());
    let shares = adaptive_shares(&definition, &evidence);
    assert!((shares.as_slice()[0] - 0.05).abs() < 1e-9, "{shares:?}");
    // The interval of each arm by itself is wider than that of the difference.
    let apart = results(&definition, Status::Running, &evidence).comparisons[0].difference;
    definition.adaptive = None;
    let joint = results(&definition, Status::Running, &evidence).comparisons[0].difference;
    let (apart, joint) = (apart.unwrap(), joint.unwrap());
    assert_eq!(apart.estimate, joint.estimate);
    assert!(apart.interval[0] < joint.interval[0] && apart.p_always_valid > joint.p_always_valid);
    assert_eq!(apart.p_always_valid < 0.05, apart.interval[1] < 0.0);
}

#[test]
fn shares_do_not_follow_a_handful() {
    let mut definition = two("error_rate");
    definition.adaptive = Some(Adaptive { min_share: Some(0.05) });
    let mut evidence = Evidence::new(&definition);
    put(&mut evidence, 0, 99, 0, &half());
    put(&mut evidence, 1, 99, 99, &half());
    assert_eq!(adaptive_shares(&definition, &evidence).as_slice(), [0.5, 0.5]);
    put(&mut evidence, 0, 1, 0, &half());
    put(&mut evidence, 1, 1, 1, &half());
    assert!(adaptive_shares(&definition, &evidence).as_slice()[0] > 0.9);
}

#[test]
fn units_that_are_all_alike_have_a_p_value_too() {
    let p = |control: usize, treatment: usize| {
        let definition = two("cost");
        let mut evidence = Evidence::new(&definition);
        put(&mut evidence, 0, 200, control, &half());
        put(&mut evidence, 1, 200, treatment, &half());
        let comparison = results(&definition, Status::Running, &evidence).comparisons.remove(0);
        (comparison.difference.unwrap().p_always_valid, comparison.verdict)
    };
    assert_eq!(p(200, 200), (1.0, Verdict::Undecided));
    assert_eq!(p(0, 200), (0.0, Verdict::Worse));
}

#[test]
fn sums_that_somebody_else_kept_count_as_if_they_had_been_observed() {
    let mut definition = two("satisfaction");
    definition.guardrails = vec![Guardrail { metric: Metric::ErrorRate, limit: 0.05 }];
    let mut seen = Evidence::new(&definition);
    seen.open_stratum();
    let mut told = seen.clone();
    let mut sums = Moments::default();
    for unit in 0..30 {
        let totals = UnitTotals { value: f64::from(unit % 3), count: 2.0, before: Some(0.5) };
        let place = seen.expose(1, &half());
        seen.observe(place, None, Some(totals));
        seen.observe_guardrail(0, 1, None, Some(totals));
        sums = sums.plus(&Moments::from_totals(totals));
    }
    let place = Place { variant: 1, stratum: 1 };
    told.expose_many(place, &half(), 30);
    told.add(place, &sums);
    told.add_guardrail(0, 1, &sums);
    assert_eq!(told, seen);
    // A place that does not exist is nothing to fall over.
    let nowhere = Place { variant: 1, stratum: 2 };
    told.expose_many(nowhere, &half(), 30);
    told.add(nowhere, &sums);
    told.add_guardrail(1, 1, &sums);
    assert_eq!(told, seen);
}

#[test]
fn what_was_seen_survives_being_written() {
    let definition = two("satisfaction");
    let mut evidence = Evidence::new(&definition);
    put(&mut evidence, 0, 50, 20, &half());
    let place = evidence.expose(1, &half());
    evidence.observe(place, None, Some(one(0.3)));
    let written = serde_json::to_value(&evidence).unwrap();
    assert_eq!(serde_json::from_value::<Evidence>(written).unwrap(), evidence);
    // A place that does not exist is nothing to fall over.
    let before = evidence.clone();
    evidence.observe(Place { variant: 7, stratum: 9 }, None, Some(one(1.0)));
    evidence.observe_guardrail(3, 0, None, Some(one(1.0)));
    assert_eq!(evidence, before);
}
