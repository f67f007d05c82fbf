//! Who gets which variant.

use proptest::prelude::*;

use super::super::*;
use super::read;

fn four(weights: [f64; 4]) -> ExperimentDefinition {
    let mut definition = read(
        r#"{"name":"x","unit":"user","metric":"reward",
            "variants":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]}"#,
    );
    for (variant, weight) in definition.variants.iter_mut().zip(weights) {
        variant.weight = weight;
    }
    definition
}

/// Assignments are kept by nobody: other numbers here move every unit of every running experiment.
#[test]
fn assignments_never_change_between_releases() {
    let salt = Salt::of("experiment-1");
    let shares = Shares::of(&[1.0, 1.0, 1.0]);
    let got: Vec<usize> = (0..12).map(|unit| assign(&salt, &format!("u{unit}"), &shares)).collect();
    assert_eq!(got, PINNED);
}

const PINNED: [usize; 12] = [1, 1, 2, 0, 0, 1, 2, 2, 0, 1, 0, 0];

#[test]
fn shares_come_out_as_the_weights_say() {
    let salt = Salt::of("e");
    let shares = Shares::of(&[1.0, 2.0, 0.0, 7.0]);
    let mut counts = [0_u32; 4];
    for unit in 0..100_000 {
        counts[assign(&salt, &unit.to_string(), &shares)] += 1;
    }
    for (count, share) in counts.iter().zip(shares.as_slice()) {
        let got = f64::from(*count) / 100_000.0;
        assert!((got - share).abs() < 0.006, "{counts:?}");
    }
    assert_eq!(counts[2], 0);
}

#[test]
fn experiments_do_not_share_their_assignments() {
    let (one, other) = (Salt::of("one"), Salt::of("other"));
    let shares = Shares::of(&[1.0, 1.0]);
    let same = (0..10_000).filter(|unit: &u32| {
        let unit = unit.to_string();
        assign(&one, &unit, &shares) == assign(&other, &unit, &shares)
    });
    let same = same.count();
    assert!((4_800..5_200).contains(&same), "{same}");
}

#[test]
fn nobody_at_0_and_everybody_at_100_percent() {
    let definition = four([1.0; 4]);
    let salt = Salt::of("e");
    for unit in 0..2_000 {
        let unit = unit.to_string();
        assert_eq!(assign(&salt, &unit, &Shares::at_percent(&definition, 0.0)), 0);
        assert_ne!(assign(&salt, &unit, &Shares::at_percent(&definition, 100.0)), 0);
    }
}

proptest! {
    #[test]
    fn a_step_up_moves_units_from_the_control_only(
        unit in ".{0,80}",
        weights in prop::array::uniform4(0.01..9.0),
        mut percents in prop::array::uniform2(0.0..=100.0),
    ) {
        percents.sort_by(f64::total_cmp);
        let definition = four(weights);
        let salt = Salt::of("e");
        let [before, after] = percents
            .map(|percent| assign(&salt, &unit, &Shares::at_percent(&definition, percent)));
        prop_assert!(before == 0 || before == after, "{before} to {after}");
    }

    #[test]
    fn any_weights_make_shares(weights in prop::collection::vec(prop::num::f64::ANY, 0..6)) {
        let shares = Shares::of(&weights);
        let variant = assign(&Salt::of("e"), "u", &shares);
        prop_assert!(variant < weights.len().max(1));
        let sum: f64 = shares.as_slice().iter().sum();
        prop_assert!((sum - 1.0).abs() < 1e-9 || !weights.iter().sum::<f64>().is_finite());
    }
}
