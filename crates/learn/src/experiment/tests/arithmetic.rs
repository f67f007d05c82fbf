//! Tallies, means, confidence sequences and sample-ratio tests.

use model::Moments;
use proptest::prelude::*;

use super::super::*;
use super::{one_turn, two_variants};

fn replace_unit(tally: &mut MetricTally, old: Option<UnitTotals>, new: Option<UnitTotals>) {
    if let Some(old) = old {
        tally.sums = tally.sums.minus(&Moments::from_totals(old));
    }
    if let Some(new) = new {
        tally.add_moments(&Moments::from_totals(new));
    }
}

fn tally(units: &[UnitTotals]) -> MetricTally {
    let mut tally = MetricTally::default();
    units.iter().for_each(|unit| replace_unit(&mut tally, None, Some(*unit)));
    tally
}

fn any_unit() -> impl Strategy<Value = UnitTotals> {
    (-50.0..50.0, 0.0..20.0, prop::option::of(-5.0..5.0)).prop_map(
        |(value, count, before): (f64, f64, Option<f64>)| UnitTotals {
            value,
            count: count.floor(),
            before,
        },
    )
}

proptest! {
    /// Includes removing a row before it was added.
    #[test]
    fn replaced_units_equal_a_fresh_tally(
        rows in prop::collection::vec((any_unit(), any_unit()), 1..40),
    ) {
        let mut changed = MetricTally::default();
        for (old, new) in &rows {
            replace_unit(&mut changed, Some(*old), Some(*new));
        }
        for (old, _) in rows.iter().rev() {
            replace_unit(&mut changed, None, Some(*old));
        }
        let fresh: Vec<UnitTotals> = rows.iter().map(|(_, new)| *new).collect();
        prop_assert_eq!(changed, tally(&fresh));
    }

    #[test]
    fn tally_survives_a_json_round_trip(units in prop::collection::vec(any_unit(), 0..20)) {
        let kept = tally(&units);
        let written = serde_json::to_value(kept).unwrap();
        prop_assert_eq!(serde_json::from_value::<MetricTally>(written).unwrap(), kept);
    }

    #[test]
    fn extreme_totals_give_finite_means(
        value in prop::num::f64::ANY, count in prop::num::f64::ANY, before in prop::num::f64::ANY,
    ) {
        let odd = UnitTotals { value, count, before: Some(before) };
        let tally = tally(&[odd, odd, one_turn(1.0)]);
        let mean = MeanEstimate::from_tally(&tally, Metric::Latency);
        prop_assert!(mean.is_none_or(|mean| mean.mean.is_finite() && mean.variance >= 0.0));
    }
}

#[test]
fn repeated_replacements_leave_no_trace() {
    let mut tally = MetricTally::default();
    let row = |n: u32| UnitTotals { value: f64::from(n) * 0.1, count: 3.0, before: Some(0.3) };
    replace_unit(&mut tally, None, Some(row(0)));
    for n in 0..200_000 {
        replace_unit(&mut tally, Some(row(n)), Some(row(n + 1)));
    }
    replace_unit(&mut tally, Some(row(200_000)), None);
    assert_eq!(tally, MetricTally::default());
}

#[test]
fn mean_by_turn_has_unit_level_variance() {
    let rows: Vec<UnitTotals> = [(1.0, 4.0), (0.0, 2.0), (3.0, 3.0), (2.0, 9.0)]
        .map(|(value, count)| UnitTotals { value, count, before: None })
        .to_vec();
    let mean = MeanEstimate::from_tally(&tally(&rows), Metric::Latency).unwrap();
    let ratio = 6.0 / 18.0;
    let residual = |row: &UnitTotals| (row.value - ratio * row.count).powi(2);
    let spread: f64 = rows.iter().map(residual).sum();
    // n/(n−1)·Σ(v − Rc)²/(Σc)²
    let expected = 4.0 / 3.0 * spread / (18.0 * 18.0);
    assert!((mean.mean - ratio).abs() < 1e-12 && (mean.variance - expected).abs() < 1e-9);
}

#[test]
fn zero_proportion_keeps_a_positive_standard_error() {
    let none = tally(&vec![one_turn(0.0); 100]);
    let mean = MeanEstimate::from_tally(&none, Metric::ErrorRate).unwrap();
    assert!(mean.mean == 0.0 && mean.standard_error() > 0.009, "{mean:?}");
    assert_eq!(MeanEstimate::from_tally(&none, Metric::Cost).unwrap().variance, 0.0);
}

#[test]
fn metric_by_unit_counts_each_unit_once() {
    let mut definition = two_variants("reward");
    definition.by = MetricBy::Unit;
    let totals = UnitTotals { value: 6.0, count: 8.0, before: Some(0.5) };
    let counted = totals.weighted_by(definition.by);
    assert_eq!((counted.value, counted.count, counted.before), (0.75, 1.0, Some(0.5)));
    assert_eq!(UnitTotals::default().weighted_by(definition.by), UnitTotals::default());
}

/// Reference values computed independently from the formula.
#[test]
fn half_width_matches_the_formula() {
    let sequence = ConfidenceSequence::new(0.05, TUNED_FOR_UNITS);
    let rows = [
        (100.0, 6.694_388_617_066_039),
        (5_000.0, 3.035_208_990_376_253_4),
        (100_000.0, 3.336_857_533_786_6),
    ];
    for (units, expected) in rows {
        let got = sequence.half_width(units);
        assert!((got - expected).abs() < 1e-9, "{units}: {got}");
    }
}

#[test]
fn one_sided_bound_is_narrower_than_two_sided() {
    let (one, two) = (
        ConfidenceSequence::one_sided(0.05, TUNED_FOR_UNITS),
        ConfidenceSequence::new(0.05, TUNED_FOR_UNITS),
    );
    for units in [100.0, 1_000.0, 5_000.0, 100_000.0, 1e6] {
        assert!(one.bound_width(units) < two.half_width(units), "{units}");
    }
}

proptest! {
    #[test]
    fn p_value_equals_alpha_at_the_interval_bound(units in 2.0..1e6, alpha in 0.001..0.2_f64) {
        let sequence = ConfidenceSequence::new(alpha, TUNED_FOR_UNITS);
        let p = sequence.p_value(sequence.half_width(units), units);
        prop_assert!((p - alpha).abs() < 1e-9 * alpha.max(1e-3), "{p}");
    }
}

fn expose(counts: [u32; 2], weights: &[f64]) -> SampleRatioTest {
    let mut exposures = ExposureCounts::new(2);
    let shares = TrafficShares::from_weights(weights);
    for (variant, count) in counts.into_iter().enumerate() {
        (0..count).for_each(|_| exposures.add_units(variant, &shares, 1));
    }
    exposures.test_ratio()
}

#[test]
fn sample_ratio_mismatch_is_detected() {
    let even = expose([5_050, 4_950], &[1.0, 1.0]);
    assert!(even.ok && (even.p.unwrap() - 0.317_310_507_862_914_1).abs() < 1e-6, "{even:?}");
    assert!(!expose([5_200, 4_800], &[1.0, 1.0]).ok);
    assert!(expose([9_000, 1_000], &[9.0, 1.0]).ok);
    assert!(!expose([9_000, 1_000], &[8.0, 2.0]).ok);
    assert!(!expose([10, 1], &[1.0, 0.0]).ok);
    assert_eq!(expose([5, 0], &[1.0, 1.0]), SampleRatioTest { p: None, ok: true });
}

#[test]
fn expected_counts_follow_changing_shares() {
    let mut exposures = ExposureCounts::new(2);
    for (percent, counts) in [(0.05, [950, 50]), (0.5, [500, 500])] {
        let shares = TrafficShares::from_weights(&[1.0 - percent, percent]);
        for (variant, count) in counts.into_iter().enumerate() {
            (0..count).for_each(|_| exposures.add_units(variant, &shares, 1));
        }
    }
    let test = exposures.test_ratio();
    assert!(test.ok && test.p.unwrap() > 0.99, "{test:?}");
}
