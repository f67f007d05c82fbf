//! Formula tables and properties for arbitrary signals.

use proptest::prelude::*;

use super::RelevanceSignal::{ExplicitNegative, ExplicitPositive, Ignored, Used};
use super::*;

fn counts(used: u32, ignored: u32, positive: u32, negative: u32) -> ItemTally {
    let mut returned = [0; BANDS];
    returned[0] = u64::from(used + ignored);
    let [used, ignored, positive, negative] = [used, ignored, positive, negative].map(u64::from);
    ItemTally { used, ignored, positive, negative, returned }
}

fn multiplier_for(estimator: Estimator, known: &ItemEvidence) -> ScoreMultiplier {
    compute_multiplier(
        estimator,
        &CoecRule::default(),
        &RankTotals::default().estimate_examination(),
        known,
    )
}

#[track_caller]
fn check(estimator: Estimator, [used, ignored, positive, negative]: [u32; 4], expected: f64) {
    let known =
        ItemEvidence { entity: Some(counts(used, ignored, positive, negative)), pair: None };
    let found = multiplier_for(estimator, &known).value;
    assert!((found - expected).abs() < 1e-12, "{found}, expected {expected}");
}

#[test]
fn seed_multipliers_match_the_formula() {
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
        // Opinions alone suffice; the use rate is then taken as average.
        ([0, 0, 5, 0], 1.3),
        ([0, 0, 0, 5], 0.55),
        ([2, 2, 1, 0], 1.1),
        ([0, 0, 0, 0], 1.0),
    ] {
        check(Estimator::Seed, signals, expected);
    }
}

#[test]
fn legacy_counts_opinions_as_returns() {
    check(Estimator::Legacy, [5, 0, 0, 0], 1.5);
    check(Estimator::Legacy, [5, 0, 5, 0], 1.30);
    check(Estimator::Legacy, [4, 0, 0, 0], 1.0);
}

#[test]
fn reasons_describe_the_counters() {
    let known = ItemEvidence { entity: Some(counts(4, 1, 2, 0)), pair: Some(counts(1, 0, 0, 1)) };
    assert_eq!(multiplier_for(Estimator::Seed, &known).reason, "used 4 of 5, helpful 2");
    let coec = multiplier_for(Estimator::Coec, &known);
    assert_eq!(
        coec.reason,
        "used 4 of 5, helpful 2, 1.5 expected; for this question used 1 of 1, unhelpful 1"
    );
    let (low, high) = coec.interval.unwrap();
    assert!(low < coec.value && coec.value < high, "{coec:?}");
    assert_eq!(multiplier_for(Estimator::Coec, &ItemEvidence::default()).reason, "nothing known");
}

#[test]
fn unhelpful_mark_lowers_the_multiplier() {
    for estimator in [Estimator::Seed, Estimator::Legacy, Estimator::Coec] {
        let before =
            ItemEvidence { entity: Some(counts(5, 0, 0, 0)), pair: Some(counts(2, 0, 0, 0)) };
        let after =
            ItemEvidence { entity: Some(counts(5, 0, 0, 1)), pair: Some(counts(2, 0, 0, 1)) };
        let (before, after) =
            (multiplier_for(estimator, &before).value, multiplier_for(estimator, &after).value);
        assert!(after < before, "{estimator:?}: {before} {after}");
    }
}

#[test]
fn used_items_rank_above_ignored_items() {
    for estimator in [Estimator::Seed, Estimator::Legacy, Estimator::Coec] {
        let known = [counts(0, 5, 0, 0), ItemTally::default(), counts(5, 0, 0, 0)];
        let known = |at: usize| ItemEvidence { entity: Some(known[at]), pair: None };
        let seen = RankTotals::default().estimate_examination();
        let order = rerank(estimator, &CoecRule::default(), &seen, &[1.0; 3], known);
        let order: Vec<usize> = order.iter().map(|r| r.index).collect();
        assert_eq!(order, [2, 1, 0], "{estimator:?}");
    }
}

#[test]
fn unexamined_low_ranks_are_penalised_less() {
    let mut totals = RankTotals::default();
    for rank in 1..=10 {
        let band = RankBand::from_rank(Some(rank));
        for turn in 0..1_000 {
            let used = turn < 600 / rank;
            let signal = if used { Used } else { Ignored };
            totals.add_delta(ItemStanding::default().apply_signal(signal).1, band);
        }
    }
    let seen = totals.estimate_examination();
    let mut low = ItemTally { ignored: 5, ..ItemTally::default() };
    let mut high = low;
    low.returned[RankBand::from_rank(Some(10)).index()] = 5;
    high.returned[0] = 5;
    let rule = CoecRule::default();
    let value = |counts| {
        let known = ItemEvidence { entity: Some(counts), pair: Some(counts) };
        compute_multiplier(Estimator::Coec, &rule, &seen, &known).value
    };
    assert!(value(low) > value(high) + 0.2, "{} {}", value(low), value(high));
}

#[test]
fn reranking_handles_nan_and_infinite_scores() {
    let scores = [f64::NAN, 1.0, f64::INFINITY, -1.0, f64::NEG_INFINITY, -1.0];
    let better =
        |at: usize| ItemEvidence { entity: (at == 5).then(|| counts(5, 0, 0, 0)), pair: None };
    let seen = RankTotals::default().estimate_examination();
    let order = rerank(Estimator::Seed, &CoecRule::default(), &seen, &scores, better);
    let order: Vec<usize> = order.iter().map(|r| r.index).collect();
    assert_eq!(order, [2, 1, 5, 3, 4, 0]);
}

fn any_signal() -> impl Strategy<Value = RelevanceSignal> {
    prop_oneof![Just(Used), Just(Ignored), Just(ExplicitPositive), Just(ExplicitNegative)]
}

fn apply_signals(
    signals: &[RelevanceSignal],
    band: RankBand,
) -> (ItemStanding, ItemTally, RankTotals) {
    let (mut standing, mut tally) = (ItemStanding::default(), ItemTally::default());
    let mut totals = RankTotals::default();
    for signal in signals {
        let (next, delta) = standing.apply_signal(*signal);
        standing = next;
        tally.add_delta(delta, band);
        totals.add_delta(delta, band);
    }
    (standing, tally, totals)
}

proptest! {
    #[test]
    fn counters_match_the_final_standing(signals in prop::collection::vec(any_signal(), 0..20), rank in 0u32..80) {
        let band = RankBand::from_rank(Some(rank));
        let (standing, tally, totals) = apply_signals(&signals, band);
        let once = |yes: bool| u64::from(yes);
        prop_assert_eq!(tally.used, once(signals.contains(&Used)));
        prop_assert_eq!(tally.ignored, once(signals.contains(&Ignored) && !signals.contains(&Used)));
        let last = signals.iter().rev().find(|s| matches!(s, ExplicitPositive | ExplicitNegative));
        prop_assert_eq!(tally.positive, once(last == Some(&ExplicitPositive)));
        prop_assert_eq!(tally.negative, once(last == Some(&ExplicitNegative)));
        prop_assert_eq!(tally.total_returns(), tally.returned.iter().sum::<u64>());
        prop_assert_eq!(totals.returned[band.index()], tally.total_returns());
        // Removal leaves no trace.
        let mut emptied = tally;
        emptied.add_delta(standing.removal(), band);
        prop_assert_eq!(emptied, ItemTally::default());
    }

    #[test]
    fn repeated_or_reordered_usage_changes_nothing(
        signals in prop::collection::vec(any_signal(), 0..12),
        again in any::<prop::sample::Index>(),
    ) {
        let (standing, _, _) = apply_signals(&signals, RankBand::UNKNOWN);
        if !signals.is_empty() {
            let repeated = signals[again.index(signals.len())];
            let usage = matches!(repeated, Used | Ignored);
            let (next, delta) = standing.apply_signal(repeated);
            prop_assert!(!usage || (next == standing && delta.is_zero()));
        }
        let mut turned: Vec<_> = signals.clone();
        turned.sort_by_key(|s| matches!(s, ExplicitPositive | ExplicitNegative));
        prop_assert_eq!(apply_signals(&turned, RankBand::UNKNOWN).0, standing);
        turned.sort_by_key(|s| !matches!(s, Ignored));
        prop_assert_eq!(apply_signals(&turned, RankBand::UNKNOWN).0.usage, standing.usage);
    }

    #[test]
    fn multipliers_stay_in_range(
        entity in prop::array::uniform4(0u32..1_000),
        pair in prop::array::uniform4(0u32..1_000),
        totals in prop::collection::vec((1u32..60, any_signal()), 0..60),
    ) {
        let mut all = RankTotals::default();
        for (rank, signal) in totals {
            all.add_delta(ItemStanding::default().apply_signal(signal).1, RankBand::from_rank(Some(rank)));
        }
        let seen = all.estimate_examination();
        let [a, b, c, d] = entity;
        let [e, f, g, h] = pair;
        let known = ItemEvidence { entity: Some(counts(a, b, c, d)), pair: Some(counts(e, f, g, h)) };
        for (estimator, low, high) in
            [(Estimator::Seed, 0.3, 1.7), (Estimator::Legacy, 0.3, 1.7), (Estimator::Coec, 0.08, 6.0)]
        {
            let found = compute_multiplier(estimator, &CoecRule::default(), &seen, &known);
            prop_assert!((low..=high).contains(&found.value), "{:?} {:?}", estimator, found);
            if let Some((least, most)) = found.interval {
                prop_assert!(least <= found.value && found.value <= most);
            }
        }
    }

    #[test]
    fn reranking_accepts_any_scores(scores in prop::collection::vec(any::<f64>(), 0..40)) {
        let seen = RankTotals::default().estimate_examination();
        let ranked = rerank(Estimator::Coec, &CoecRule::default(), &seen, &scores, |_| ItemEvidence::default());
        let mut places: Vec<usize> = ranked.iter().map(|r| r.index).collect();
        // Unknown items keep score and order.
        let same = ranked.iter().all(|r| r.multiplier.value == 1.0 && r.score.to_bits() == r.original_score.to_bits());
        prop_assert!(same);
        prop_assert!(ranked.windows(2).all(|w| w[0].score >= w[1].score || w[1].score.is_nan()));
        places.sort_unstable();
        prop_assert_eq!(places, (0..scores.len()).collect::<Vec<_>>());
    }
}
