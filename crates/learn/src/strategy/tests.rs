use proptest::prelude::*;
// Two globs have this name.
use proptest::strategy::Strategy;

use model::TurnId;

use super::*;
use RankMode::{Formula, Tiered};
use VerdictStatus::{Accepted, Neutral, Rejected};

fn candidate(turn: &str, status: VerdictStatus, quality: Option<f64>) -> StrategyCandidate<TurnId> {
    StrategyCandidate {
        turn: TurnId::new(turn).unwrap(),
        status,
        quality: quality.and_then(UnitInterval::new),
        similarity: 0.8,
        silent: false,
        ts: Timestamp::from_micros(0),
        has_strategy: true,
    }
}

fn check(mode: RankMode, candidates: &[StrategyCandidate<TurnId>], expected: &str) {
    let mut reversed = candidates.to_vec();
    reversed.reverse();
    for given in [candidates.to_vec(), reversed] {
        let order: Vec<String> =
            rank_strategies(mode, given).iter().map(|c| c.turn.to_string()).collect();
        assert_eq!(order.join(" "), expected, "{mode:?}");
    }
}

#[test]
fn satisfaction_combines_validator_and_user_verdict() {
    use ValidationOutcome::{Approve, Fail, Retry, Revise};
    let rows = [
        (Some(Approve), 1.0, 0.5),
        (Some(Revise), 0.8, 0.3),
        (Some(Retry), 0.6, 0.1),
        (Some(Fail), 0.0, -0.5),
        (None, 0.5, 0.0),
    ];
    for (outcome, accepted, neutral) in rows {
        assert_eq!(compute_satisfaction(outcome, Accepted), accepted, "{outcome:?}");
        assert_eq!(compute_satisfaction(outcome, Neutral), neutral, "{outcome:?}");
        assert_eq!(compute_satisfaction(outcome, Rejected), -1.0, "{outcome:?}");
    }
}

#[test]
fn ranking_scores_match_the_specification() {
    let rows = [
        (Accepted, Some(0.9), "0.74"),
        (Accepted, Some(0.4), "0.44"),
        (Accepted, Some(0.3), "0.38"),
        (Neutral, Some(0.9), "0.54"),
        (Neutral, None, "0.3"),
        (Rejected, Some(1.0), "0.2"),
    ];
    for (status, quality, expected) in rows {
        let score = compute_ranking_score(quality.and_then(UnitInterval::new), status);
        assert_eq!(score.to_string(), expected);
    }
}

#[test]
fn specification_table_ranks_in_both_modes() {
    let table = [
        candidate("a", Accepted, Some(0.9)),
        candidate("e", Accepted, Some(0.4)),
        candidate("b", Accepted, Some(0.3)),
        candidate("c", Neutral, Some(0.9)),
        candidate("d", Neutral, None),
        candidate("f", Rejected, Some(1.0)),
    ];
    check(Tiered, &table, "a e b c d");
    check(Formula, &table, "a c e b d");
}

#[test]
fn silent_neutral_turns_rank_in_the_last_tier() {
    let silent = |turn, status, quality| StrategyCandidate {
        silent: true,
        ..candidate(turn, status, Some(quality))
    };
    let turns = [
        silent("quiet", Neutral, 1.0),
        candidate("spoken", Neutral, Some(0.1)),
        silent("kept", Accepted, 0.0),
    ];
    check(Tiered, &turns, "kept spoken quiet");
    check(Formula, &turns, "quiet kept spoken");
}

#[test]
fn turns_without_a_strategy_rank_last_in_their_tier() {
    let bare = StrategyCandidate { has_strategy: false, ..candidate("bare", Accepted, Some(1.0)) };
    let turns =
        [bare, candidate("told", Accepted, Some(0.1)), candidate("plain", Neutral, Some(0.9))];
    check(Tiered, &turns, "told bare plain");
    check(Formula, &turns, "bare plain told");
}

#[test]
fn ranking_ties_go_to_similarity_then_recency_then_id() {
    let row = |turn, similarity, secs| StrategyCandidate {
        similarity,
        ts: Timestamp::from_micros(0).plus_secs(secs),
        ..candidate(turn, Neutral, None)
    };
    let turns = [row("d", 0.7, 9), row("c", 0.8, 1), row("b", 0.8, 2), row("a", 0.8, 1)];
    for mode in [Tiered, Formula] {
        check(mode, &turns, "b a c d");
    }
}

#[test]
fn strategy_is_avoided_after_as_many_rejections_as_acceptances() {
    let chart = |kind: &str| {
        let params = serde_json::json!({ "kind": kind }).as_object().cloned().unwrap();
        model::Strategy { name: "chart".to_owned(), params }
    };
    let (pie, bar) = (chart("pie"), chart("bar"));
    let rows: [(&[(VerdictStatus, f64)], bool); 5] = [
        (&[], false),
        (&[(Rejected, 0.8)], true),
        (&[(Rejected, 0.8), (Accepted, 0.9)], true),
        (&[(Rejected, 0.8), (Accepted, 0.9), (Accepted, 1.0)], false),
        (&[(Rejected, 0.8), (Accepted, 0.6), (Accepted, 0.69)], true),
    ];
    for (judged, expected) in rows {
        let to_use = |(status, confidence): &(VerdictStatus, f64)| StrategyUse {
            strategy: Some(&pie),
            status: *status,
            confidence: UnitInterval::new(*confidence).unwrap(),
        };
        let uses: Vec<StrategyUse<'_>> = judged.iter().map(to_use).collect();
        assert_eq!(is_rejected_strategy(&pie, &uses), expected, "{judged:?}");
        assert!(!is_rejected_strategy(&bar, &uses), "other parameters");
    }
}

fn any_candidates() -> impl Strategy<Value = Vec<StrategyCandidate<TurnId>>> {
    let status = prop_oneof![Just(Accepted), Just(Neutral), Just(Rejected)];
    let quality = prop::option::of(prop_oneof![Just(0.5), 0.0..=1.0]);
    let similarity = prop_oneof![Just(0.8), -1.0..=1.0];
    let row = (status, quality, similarity, any::<bool>(), 0..3_i64, any::<bool>());
    prop::collection::vec(row, 0..20).prop_map(|rows| {
        let numbered = rows.into_iter().enumerate();
        numbered
            .map(|(n, (status, quality, similarity, silent, secs, has_strategy))| {
                StrategyCandidate {
                    similarity,
                    silent,
                    ts: Timestamp::from_micros(0).plus_secs(secs),
                    has_strategy,
                    ..candidate(&format!("t{n}"), status, quality)
                }
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn ranking_keeps_all_candidates_in_any_input_order(
        (given, shuffled) in any_candidates().prop_flat_map(|c| (Just(c.clone()), Just(c).prop_shuffle())),
    ) {
        for mode in [Tiered, Formula] {
            let ranked = rank_strategies(mode, given.clone());
            prop_assert_eq!(&ranked, &rank_strategies(mode, shuffled.clone()));
            let mut names: Vec<&TurnId> = ranked.iter().map(|c| &c.turn).collect();
            let mut kept: Vec<&TurnId> =
                given.iter().filter(|c| c.status != Rejected).map(|c| &c.turn).collect();
            names.sort();
            kept.sort();
            prop_assert_eq!(names, kept);
        }
    }
}
