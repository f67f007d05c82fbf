//! Assignment of units to variants.

use proptest::prelude::*;

use super::super::*;
use super::parse;

fn four_variants(weights: [f64; 4]) -> ExperimentDefinition {
    let mut definition = parse(
        r#"{"name":"x","unit":"user","metric":"reward",
            "variants":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]}"#,
    );
    for (variant, weight) in definition.variants.iter_mut().zip(weights) {
        variant.weight = weight;
    }
    definition
}

/// Assignments are not stored: a change here moves every unit of every running experiment.
#[test]
fn assignments_are_stable_across_releases() {
    let salt = AssignmentSalt::new("experiment-1");
    let shares = TrafficShares::from_weights(&[1.0, 1.0, 1.0]);
    let got: Vec<usize> =
        (0..12).map(|unit| assign_variant(&salt, &format!("u{unit}"), &shares)).collect();
    assert_eq!(got, PINNED);
}

const PINNED: [usize; 12] = [1, 1, 2, 0, 0, 1, 2, 2, 0, 1, 0, 0];

#[test]
fn assignment_frequencies_match_the_weights() {
    let salt = AssignmentSalt::new("e");
    let shares = TrafficShares::from_weights(&[1.0, 2.0, 0.0, 7.0]);
    let mut counts = [0_u32; 4];
    for unit in 0..100_000 {
        counts[assign_variant(&salt, &unit.to_string(), &shares)] += 1;
    }
    for (count, share) in counts.iter().zip(shares.as_slice()) {
        let got = f64::from(*count) / 100_000.0;
        assert!((got - share).abs() < 0.006, "{counts:?}");
    }
    assert_eq!(counts[2], 0);
}

#[test]
fn assignments_of_experiments_are_independent() {
    let (one, other) = (AssignmentSalt::new("one"), AssignmentSalt::new("other"));
    let shares = TrafficShares::from_weights(&[1.0, 1.0]);
    let same = (0..10_000).filter(|unit: &u32| {
        let unit = unit.to_string();
        assign_variant(&one, &unit, &shares) == assign_variant(&other, &unit, &shares)
    });
    let same = same.count();
    assert!((4_800..5_200).contains(&same), "{same}");
}

#[test]
fn rollout_treats_no_unit_at_0_and_every_unit_at_100_percent() {
    let definition = four_variants([1.0; 4]);
    let salt = AssignmentSalt::new("e");
    for unit in 0..2_000 {
        let unit = unit.to_string();
        assert_eq!(assign_variant(&salt, &unit, &TrafficShares::from_percent(&definition, 0.0)), 0);
        assert_ne!(
            assign_variant(&salt, &unit, &TrafficShares::from_percent(&definition, 100.0)),
            0
        );
    }
}

proptest! {
    #[test]
    fn rollout_step_moves_units_from_the_control_only(
        unit in ".{0,80}",
        weights in prop::array::uniform4(0.01..9.0),
        mut percents in prop::array::uniform2(0.0..=100.0),
    ) {
        percents.sort_by(f64::total_cmp);
        let definition = four_variants(weights);
        let salt = AssignmentSalt::new("e");
        let [before, after] = percents
            .map(|percent| assign_variant(&salt, &unit, &TrafficShares::from_percent(&definition, percent)));
        prop_assert!(before == 0 || before == after, "{before} to {after}");
    }

    #[test]
    fn arbitrary_weights_give_valid_shares(weights in prop::collection::vec(prop::num::f64::ANY, 0..6)) {
        let shares = TrafficShares::from_weights(&weights);
        let variant = assign_variant(&AssignmentSalt::new("e"), "u", &shares);
        prop_assert!(variant < weights.len().max(1));
        let sum: f64 = shares.as_slice().iter().sum();
        prop_assert!((sum - 1.0).abs() < 1e-9 || !weights.iter().sum::<f64>().is_finite());
    }
}
