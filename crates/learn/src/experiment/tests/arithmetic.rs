//! Tallies, means, sequences, corrections, sample ratios.

use proptest::prelude::*;

use super::super::*;
use super::{one, two};

fn tally(units: &[UnitTotals]) -> Tally {
    let mut tally = Tally::default();
    units.iter().for_each(|unit| tally.replace(None, Some(*unit)));
    tally
}

fn unit() -> impl Strategy<Value = UnitTotals> {
    (-50.0..50.0, 0.0..20.0, prop::option::of(-5.0..5.0)).prop_map(
        |(value, count, before): (f64, f64, Option<f64>)| UnitTotals {
            value,
            count: count.floor(),
            before,
        },
    )
}

proptest! {
    /// Also the row that is taken out first and put in later.
    #[test]
    fn changes_leave_what_a_fresh_count_gives(
        rows in prop::collection::vec((unit(), unit()), 1..40),
    ) {
        let mut changed = Tally::default();
        for (old, new) in &rows {
            changed.replace(Some(*old), Some(*new));
        }
        for (old, _) in rows.iter().rev() {
            changed.replace(None, Some(*old));
        }
        let fresh: Vec<UnitTotals> = rows.iter().map(|(_, new)| *new).collect();
        prop_assert_eq!(changed, tally(&fresh));
    }

    #[test]
    fn a_tally_survives_being_written(units in prop::collection::vec(unit(), 0..20)) {
        let kept = tally(&units);
        let written = serde_json::to_value(kept).unwrap();
        prop_assert_eq!(serde_json::from_value::<Tally>(written).unwrap(), kept);
    }

    #[test]
    fn no_number_breaks_anything(
        value in prop::num::f64::ANY, count in prop::num::f64::ANY, before in prop::num::f64::ANY,
    ) {
        let odd = UnitTotals { value, count, before: Some(before) };
        let tally = tally(&[odd, odd, one(1.0)]);
        let mean = Mean::of(&tally, Metric::Latency);
        prop_assert!(mean.is_none_or(|mean| mean.mean.is_finite() && mean.variance >= 0.0));
    }
}

#[test]
fn many_changes_leave_no_trace() {
    let mut tally = Tally::default();
    let row = |n: u32| UnitTotals { value: f64::from(n) * 0.1, count: 3.0, before: Some(0.3) };
    tally.replace(None, Some(row(0)));
    for n in 0..200_000 {
        tally.replace(Some(row(n)), Some(row(n + 1)));
    }
    tally.replace(Some(row(200_000)), None);
    assert_eq!(tally, Tally::default());
}

#[test]
fn a_mean_by_turn_has_its_variance_by_unit() {
    let rows: Vec<UnitTotals> = [(1.0, 4.0), (0.0, 2.0), (3.0, 3.0), (2.0, 9.0)]
        .map(|(value, count)| UnitTotals { value, count, before: None })
        .to_vec();
    let mean = Mean::of(&tally(&rows), Metric::Latency).unwrap();
    let ratio = 6.0 / 18.0;
    let residual = |row: &UnitTotals| (row.value - ratio * row.count).powi(2);
    let spread: f64 = rows.iter().map(residual).sum();
    // n/(n−1)·Σ(v − Rc)²/(Σc)²
    let expected = 4.0 / 3.0 * spread / (18.0 * 18.0);
    assert!((mean.mean - ratio).abs() < 1e-12 && (mean.variance - expected).abs() < 1e-9);
}

#[test]
fn a_share_that_was_never_seen_is_not_ruled_out() {
    let none = tally(&vec![one(0.0); 100]);
    let mean = Mean::of(&none, Metric::ErrorRate).unwrap();
    assert!(mean.mean == 0.0 && mean.deviation() > 0.009, "{mean:?}");
    assert_eq!(Mean::of(&none, Metric::Cost).unwrap().variance, 0.0);
}

#[test]
fn by_unit_every_unit_counts_once() {
    let mut definition = two("reward");
    definition.by = By::Unit;
    let totals = UnitTotals { value: 6.0, count: 8.0, before: Some(0.5) };
    let counted = definition.counted(totals);
    assert_eq!((counted.value, counted.count, counted.before), (0.75, 1.0, Some(0.5)));
    assert_eq!(definition.counted(UnitTotals::default()), UnitTotals::default());
}

/// Worked out apart, by the formula as it is written.
#[test]
fn the_reach_of_a_sequence_is_that_of_the_formula() {
    let sequence = Sequence::new(0.05, TUNED_FOR);
    let rows = [
        (100.0, 6.694_388_617_066_039),
        (5_000.0, 3.035_208_990_376_253_4),
        (100_000.0, 3.336_857_533_786_6),
    ];
    for (units, expected) in rows {
        let got = sequence.reach(units);
        assert!((got - expected).abs() < 1e-9, "{units}: {got}");
    }
}

#[test]
fn one_side_reaches_less_far_than_two_at_the_usual_error() {
    let (one, two) = (Sequence::one_sided(0.05, TUNED_FOR), Sequence::new(0.05, TUNED_FOR));
    for units in [100.0, 1_000.0, 5_000.0, 100_000.0, 1e6] {
        assert!(one.reach_of_bound(units) < two.reach(units), "{units}");
    }
}

proptest! {
    #[test]
    fn p_is_where_the_interval_just_touches(units in 2.0..1e6, alpha in 0.001..0.2_f64) {
        let sequence = Sequence::new(alpha, TUNED_FOR);
        let p = sequence.p(sequence.reach(units), units);
        prop_assert!((p - alpha).abs() < 1e-9 * alpha.max(1e-3), "{p}");
    }
}

fn exposed(counts: [u32; 2], weights: &[f64]) -> SampleRatio {
    let mut exposures = Exposures::new(2);
    let shares = Shares::of(weights);
    for (variant, count) in counts.into_iter().enumerate() {
        (0..count).for_each(|_| exposures.add(variant, &shares));
    }
    exposures.test()
}

#[test]
fn uneven_counts_are_noticed() {
    let even = exposed([5_050, 4_950], &[1.0, 1.0]);
    assert!(even.ok && (even.p.unwrap() - 0.317_310_507_862_914_1).abs() < 1e-6, "{even:?}");
    assert!(!exposed([5_200, 4_800], &[1.0, 1.0]).ok);
    assert!(exposed([9_000, 1_000], &[9.0, 1.0]).ok);
    assert!(!exposed([9_000, 1_000], &[8.0, 2.0]).ok);
    assert!(!exposed([10, 1], &[1.0, 0.0]).ok);
    assert_eq!(exposed([5, 0], &[1.0, 1.0]), SampleRatio { p: None, ok: true });
}

#[test]
fn expected_counts_follow_shares_that_change() {
    let mut exposures = Exposures::new(2);
    for (percent, counts) in [(0.05, [950, 50]), (0.5, [500, 500])] {
        let shares = Shares::of(&[1.0 - percent, percent]);
        for (variant, count) in counts.into_iter().enumerate() {
            (0..count).for_each(|_| exposures.add(variant, &shares));
        }
    }
    let test = exposures.test();
    assert!(test.ok && test.p.unwrap() > 0.99, "{test:?}");
}
