//! The seed's arithmetic, and what must hold for any signals.

use proptest::prelude::*;

use super::RelevanceSignal::{ExplicitNegative, ExplicitPositive, Ignored, Used};
use super::*;

fn counts(used: u32, ignored: u32, positive: u32, negative: u32) -> Counts {
    let mut returned = [0; BANDS];
    returned[0] = u64::from(used + ignored);
    let [used, ignored, positive, negative] = [used, ignored, positive, negative].map(u64::from);
    Tally { used, ignored, positive, negative, returned }.counts()
}

fn of(estimator: Estimator, known: &Known) -> Multiplier {
    multiplier(estimator, &CoecRule::default(), &RankTotals::default().examination(), known)
}

#[track_caller]
fn check(estimator: Estimator, [used, ignored, positive, negative]: [u32; 4], expected: f64) {
    let known = Known { entity: Some(counts(used, ignored, positive, negative)), pair: None };
    let found = of(estimator, &known).value;
    assert!((found - expected).abs() < 1e-12, "{found}, expected {expected}");
}

#[test]
fn the_seeds_arithmetic() {
    for (signals, expected) in [
        ([4, 0, 0, 0], 1.0),
        ([0, 4, 0, 0], 1.0),
        ([5, 0, 0, 0], 1.5),
        ([0, 5, 0, 0], 0.5),
        ([3, 2, 0, 0], 1.1),
        ([5, 0, 3, 0], 1.7),
        ([5, 0, 9, 0], 1.7),
        ([0, 5, 0, 3], 0.3),
        ([0, 5, 0, 9], 0.3),
        ([5, 0, 5, 0], 1.7),
        // Opinions alone are enough; the rate is then taken for average.
        ([0, 0, 5, 0], 1.3),
        ([0, 0, 0, 5], 0.55),
        ([2, 2, 1, 0], 1.1),
        ([0, 0, 0, 0], 1.0),
    ] {
        check(Estimator::Seed, signals, expected);
    }
}

#[test]
fn legacy_keeps_the_defect() {
    check(Estimator::Legacy, [5, 0, 0, 0], 1.5);
    check(Estimator::Legacy, [5, 0, 5, 0], 1.30);
    check(Estimator::Legacy, [4, 0, 0, 0], 1.0);
}

#[test]
fn reasons_can_be_read() {
    let known = Known { entity: Some(counts(4, 1, 2, 0)), pair: Some(counts(1, 0, 0, 1)) };
    assert_eq!(of(Estimator::Seed, &known).reason, "used 4 of 5, helpful 2");
    let coec = of(Estimator::Coec, &known);
    assert_eq!(
        coec.reason,
        "used 4 of 5, helpful 2, 1.5 expected; for this question used 1 of 1, unhelpful 1"
    );
    let (low, high) = coec.interval.unwrap();
    assert!(low < coec.value && coec.value < high, "{coec:?}");
    assert_eq!(of(Estimator::Coec, &Known::default()).reason, "nothing known");
}

#[test]
fn an_unhelpful_mark_lowers_an_item_at_once() {
    for estimator in [Estimator::Seed, Estimator::Legacy, Estimator::Coec] {
        let before = Known { entity: Some(counts(5, 0, 0, 0)), pair: Some(counts(2, 0, 0, 0)) };
        let after = Known { entity: Some(counts(5, 0, 0, 1)), pair: Some(counts(2, 0, 0, 1)) };
        let (before, after) = (of(estimator, &before).value, of(estimator, &after).value);
        assert!(after < before, "{estimator:?}: {before} {after}");
    }
}

#[test]
fn what_was_used_rises_above_what_was_ignored() {
    for estimator in [Estimator::Seed, Estimator::Legacy, Estimator::Coec] {
        let known = [counts(0, 5, 0, 0), Counts::default(), counts(5, 0, 0, 0)];
        let known = |at: usize| Known { entity: Some(known[at]), pair: None };
        let seen = RankTotals::default().examination();
        let order = rerank(estimator, &CoecRule::default(), &seen, &[1.0; 3], known);
        let order: Vec<usize> = order.iter().map(|r| r.index).collect();
        assert_eq!(order, [2, 1, 0], "{estimator:?}");
    }
}

#[test]
fn low_ranks_are_not_blamed_for_being_out_of_sight() {
    let mut totals = RankTotals::default();
    for rank in 1..=10 {
        let band = RankBand::from_rank(Some(rank));
        for turn in 0..1_000 {
            let used = turn < 600 / rank;
            let signal = if used { Used } else { Ignored };
            totals.add(ItemStanding::default().apply_signal(signal).1, band);
        }
    }
    let seen = totals.examination();
    let mut low = Counts { ignored: 5.0, ..Counts::default() };
    let mut high = low;
    low.returned[RankBand::from_rank(Some(10)).index()] = 5.0;
    high.returned[0] = 5.0;
    let rule = CoecRule::default();
    let value = |counts| {
        let known = Known { entity: Some(counts), pair: Some(counts) };
        multiplier(Estimator::Coec, &rule, &seen, &known).value
    };
    assert!(value(low) > value(high) + 0.2, "{} {}", value(low), value(high));
}

#[test]
fn odd_scores_do_no_harm() {
    let scores = [f64::NAN, 1.0, f64::INFINITY, -1.0, f64::NEG_INFINITY, -1.0];
    let better = |at: usize| Known { entity: (at == 5).then(|| counts(5, 0, 0, 0)), pair: None };
    let seen = RankTotals::default().examination();
    let order = rerank(Estimator::Seed, &CoecRule::default(), &seen, &scores, better);
    let order: Vec<usize> = order.iter().map(|r| r.index).collect();
    assert_eq!(order, [2, 1, 5, 3, 4, 0]);
}

fn signal() -> impl Strategy<Value = RelevanceSignal> {
    prop_oneof![Just(Used), Just(Ignored), Just(ExplicitPositive), Just(ExplicitNegative)]
}

/// All signals in order: what stands, and the counters that follow.
fn told(signals: &[RelevanceSignal], band: RankBand) -> (ItemStanding, Tally, RankTotals) {
    let (mut standing, mut tally) = (ItemStanding::default(), Tally::default());
    let mut totals = RankTotals::default();
    for signal in signals {
        let (next, delta) = standing.apply_signal(*signal);
        standing = next;
        tally.add(delta, band);
        totals.add(delta, band);
    }
    (standing, tally, totals)
}

proptest! {
    #[test]
    fn counters_are_those_of_what_stands(signals in prop::collection::vec(signal(), 0..20), rank in 0u32..80) {
        let band = RankBand::from_rank(Some(rank));
        let (standing, tally, totals) = told(&signals, band);
        let once = |yes: bool| u64::from(yes);
        prop_assert_eq!(tally.used, once(signals.contains(&Used)));
        prop_assert_eq!(tally.ignored, once(signals.contains(&Ignored) && !signals.contains(&Used)));
        let last = signals.iter().rev().find(|s| matches!(s, ExplicitPositive | ExplicitNegative));
        prop_assert_eq!(tally.positive, once(last == Some(&ExplicitPositive)));
        prop_assert_eq!(tally.negative, once(last == Some(&ExplicitNegative)));
        prop_assert_eq!(tally.total_returns(), tally.returned.iter().sum::<u64>());
        prop_assert_eq!(totals.returned[band.index()], tally.total_returns());
        // Taking it back leaves nothing.
        let mut emptied = tally;
        emptied.add(standing.removal(), band);
        prop_assert_eq!(emptied, Tally::default());
    }

    #[test]
    fn repeats_and_the_order_of_usage_change_nothing(
        signals in prop::collection::vec(signal(), 0..12),
        again in any::<prop::sample::Index>(),
    ) {
        let (standing, _, _) = told(&signals, RankBand::UNKNOWN);
        if !signals.is_empty() {
            let repeated = signals[again.index(signals.len())];
            let usage = matches!(repeated, Used | Ignored);
            let (next, delta) = standing.apply_signal(repeated);
            prop_assert!(!usage || (next == standing && delta.is_zero()));
        }
        let mut turned: Vec<_> = signals.clone();
        turned.sort_by_key(|s| matches!(s, ExplicitPositive | ExplicitNegative));
        prop_assert_eq!(told(&turned, RankBand::UNKNOWN).0, standing);
        turned.sort_by_key(|s| !matches!(s, Ignored));
        prop_assert_eq!(told(&turned, RankBand::UNKNOWN).0.usage, standing.usage);
    }

    #[test]
    fn multipliers_stay_in_range(
        entity in prop::array::uniform4(0u32..1_000),
        pair in prop::array::uniform4(0u32..1_000),
        totals in prop::collection::vec((1u32..60, signal()), 0..60),
    ) {
        let mut all = RankTotals::default();
        for (rank, signal) in totals {
            all.add(ItemStanding::default().apply_signal(signal).1, RankBand::from_rank(Some(rank)));
        }
        let seen = all.examination();
        let [a, b, c, d] = entity;
        let [e, f, g, h] = pair;
        let known = Known { entity: Some(counts(a, b, c, d)), pair: Some(counts(e, f, g, h)) };
        for (estimator, low, high) in
            [(Estimator::Seed, 0.3, 1.7), (Estimator::Legacy, 0.3, 1.7), (Estimator::Coec, 0.08, 6.0)]
        {
            let found = multiplier(estimator, &CoecRule::default(), &seen, &known);
            prop_assert!((low..=high).contains(&found.value), "{:?} {:?}", estimator, found);
            if let Some((least, most)) = found.interval {
                prop_assert!(least <= found.value && found.value <= most);
            }
        }
    }

    #[test]
    fn any_scores_are_ranked(scores in prop::collection::vec(any::<f64>(), 0..40)) {
        let seen = RankTotals::default().examination();
        let ranked = rerank(Estimator::Coec, &CoecRule::default(), &seen, &scores, |_| Known::default());
        let mut places: Vec<usize> = ranked.iter().map(|r| r.index).collect();
        // Unknown items keep score and order.
        let same = ranked.iter().all(|r| r.multiplier.value == 1.0 && r.score.to_bits() == r.original_score.to_bits());
        prop_assert!(same);
        prop_assert!(ranked.windows(2).all(|w| w[0].score >= w[1].score || w[1].score.is_nan()));
        places.sort_unstable();
        prop_assert_eq!(places, (0..scores.len()).collect::<Vec<_>>());
    }
}
