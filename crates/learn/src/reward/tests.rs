use model::{InteractionKind, UnitInterval, VerdictStatus};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn unit(value: f64) -> UnitInterval {
    UnitInterval::new(value).unwrap()
}

fn answer(failed: bool, seconds: f64) -> TurnSignal {
    TurnSignal::Answered(AnswerOutcome { failed, seconds: Some(seconds) })
}

fn verdict(message: u64, status: VerdictStatus, confidence: f64) -> TurnSignal {
    let judged = MessageVerdict { status, confidence: unit(confidence), moved_on: false };
    TurnSignal::Verdict { message, judged: Some(judged) }
}

fn export() -> TurnSignal {
    TurnSignal::Interaction { kind: InteractionKind::Export, dwell_ms: None }
}

fn rating(user: u64, given: f64) -> TurnSignal {
    TurnSignal::Rating { user, given: Some(unit(given)) }
}

fn rule(definition: serde_json::Value) -> RewardRule {
    RewardRule::new(serde_json::from_value(definition).unwrap()).unwrap()
}

fn collect(signals: &[TurnSignal]) -> TurnEvidence {
    let mut evidence = TurnEvidence::default();
    for (at, signal) in (1..).zip(signals) {
        evidence.record(at, signal);
    }
    evidence
}

#[track_caller]
fn check_under(rule: &RewardRule, signals: &[TurnSignal], expected: Option<(f64, f64)>) {
    let found = collect(signals).observation(rule).map(|o| (o.reward(), o.weight()));
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
    let same = match (found, expected) {
        (Some(a), Some(b)) => near(a.0, b.0) && near(a.1, b.1),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    assert!(same, "{signals:?}: {found:?}, expected {expected:?}");
}

#[track_caller]
fn check(signals: &[TurnSignal], expected: Option<(f64, f64)>) {
    check_under(&RewardRule::default(), signals, expected);
}

#[test]
fn first_implicit_match_wins() {
    use VerdictStatus::{Accepted, Neutral, Rejected};
    let retry = TurnSignal::Retry(unit(0.9));
    check(&[], None);
    check(&[answer(false, 2.0)], Some((0.9, 0.3)));
    check(&[answer(false, 10.0)], Some((0.9, 0.3)));
    check(&[answer(false, 20.0)], Some((0.7, 0.3)));
    check(&[answer(false, 30.5)], Some((0.5, 0.3)));
    check(&[answer(false, 2.0), verdict(1, Accepted, 0.8)], Some((1.0, 0.24)));
    check(&[answer(false, 2.0), verdict(1, Accepted, 0.8), retry], Some((0.3, 0.27)));
    check(&[retry, verdict(1, Rejected, 0.5)], Some((0.0, 0.15)));
    check(&[answer(true, 2.0), verdict(1, Accepted, 0.8)], Some((0.0, 0.3)));
    check(&[verdict(1, Neutral, 0.9)], None);
    assert_eq!(TurnEvidence::default().reward(&RewardRule::default()), 0.7);
}

#[test]
fn clear_verdict_outlives_a_later_neutral_one() {
    use VerdictStatus::{Accepted, Neutral, Rejected};
    check(&[verdict(1, Rejected, 0.8), verdict(2, Neutral, 0.9)], Some((0.0, 0.24)));
    check(&[verdict(1, Rejected, 0.8), verdict(2, Accepted, 0.9)], Some((1.0, 0.27)));
    let moved = MessageVerdict { status: Accepted, confidence: unit(0.9), moved_on: true };
    let moved = TurnSignal::Verdict { message: 2, judged: Some(moved) };
    check(&[verdict(1, Rejected, 0.8), moved], Some((0.0, 0.24)));
    let withdrawn = TurnSignal::Verdict { message: 1, judged: None };
    check(&[verdict(1, Rejected, 0.8), withdrawn], None);
    check(&[TurnSignal::Review(Some(Accepted)), verdict(1, Rejected, 0.8)], Some((1.0, 0.3)));
    check(&[TurnSignal::Review(Some(Neutral)), verdict(1, Rejected, 0.8)], None);
}

#[test]
fn explicit_fields_are_weighted_among_those_present() {
    let (met, quality) =
        (TurnSignal::MetExpectations(Some(true)), TurnSignal::Quality(Some(unit(0.95))));
    check(&[rating(1, 0.5)], Some((0.5, 0.7)));
    check(&[rating(1, 0.0), rating(2, 1.0), rating(1, 0.5)], Some((0.75, 0.7)));
    check(&[quality, rating(1, 1.0), met], Some((0.975, 0.7)));
    check(&[quality, met], Some(((0.5 * 0.95 + 0.2) / 0.7, 0.7)));
    let cleared = TurnSignal::Rating { user: 1, given: None };
    check(&[rating(1, 0.0), cleared], None);
    check(&[rating(1, 0.0), met, cleared], Some((1.0, 0.7)));
}

#[test]
fn correction_lowers_quality_until_a_score_is_given() {
    let quality = TurnSignal::Quality(Some(unit(0.9)));
    check(&[TurnSignal::Correction], Some((0.2, 0.7)));
    check(&[TurnSignal::Correction, quality], Some((0.9, 0.7)));
    check(&[quality, TurnSignal::Correction], Some((0.2, 0.7)));
    check(&[quality, TurnSignal::Correction, TurnSignal::Quality(None)], None);
}

#[test]
fn explicit_and_implicit_rewards_combine_to_full_weight() {
    check(&[answer(false, 1.0), rating(1, 0.0)], Some((0.3 * 0.9, 1.0)));
    let doubtful = verdict(1, VerdictStatus::Rejected, 0.5);
    check(&[doubtful, rating(1, 1.0)], Some((0.7, 1.0)));
    let disbelieved = verdict(1, VerdictStatus::Rejected, 0.0);
    check(&[disbelieved, rating(1, 1.0)], Some((1.0, 0.7)));
    check(&[disbelieved], None);
}

#[test]
fn overrides_rank_after_failures_and_before_other_rules() {
    let written = json!({"overrides": {"dwell_ms>=30000": 0.8, "export": 1.0, "regenerate": 0.1}});
    let rule = rule(written);
    let dwell =
        |ms: f64| TurnSignal::Interaction { kind: InteractionKind::DwellTime, dwell_ms: Some(ms) };
    let regenerate = TurnSignal::Interaction { kind: InteractionKind::Regenerate, dwell_ms: None };
    check_under(&rule, &[answer(false, 40.0), dwell(29_999.0)], Some((0.5, 0.3)));
    check_under(&rule, &[answer(false, 40.0), dwell(30_000.0)], Some((0.8, 0.3)));
    check_under(&rule, &[dwell(30_000.0), export()], Some((1.0, 0.3)));
    check_under(&rule, &[export(), regenerate], Some((0.1, 0.3)));
    check_under(&rule, &[TurnSignal::Retry(unit(0.9)), regenerate], Some((0.1, 0.3)));
    check_under(&rule, &[answer(true, 1.0), export()], Some((0.0, 0.3)));
}

#[test]
fn dwell_bounds_include_or_exclude_their_limit() {
    for (written, holds, fails) in [
        ("dwell_ms > 1000", 1_001.0, 1_000.0),
        ("dwell_ms<=1000", 1_000.0, 1_001.0),
        ("dwell_ms<1000", 999.0, 1_000.0),
    ] {
        let rule = rule(json!({"overrides": {(written): 0.8}}));
        let dwell = |ms: f64| TurnSignal::Interaction {
            kind: InteractionKind::DwellTime,
            dwell_ms: Some(ms),
        };
        check_under(&rule, &[answer(false, 2.0), dwell(holds)], Some((0.8, 0.3)));
        check_under(&rule, &[answer(false, 2.0), dwell(fails)], Some((0.9, 0.3)));
    }
}

#[test]
fn cost_and_latency_lower_the_reward_but_not_below_zero() {
    let costly = rule(json!({"cost_weight": 0.2, "cost_ref": 0.01, "latency_weight": 0.1}));
    check_under(&costly, &[answer(false, 5.0), TurnSignal::Cost(0.02)], Some((0.45, 0.3)));
    check_under(&costly, &[answer(false, 5.0), TurnSignal::Cost(1.0)], Some((0.0, 0.3)));
    check_under(&costly, &[answer(false, 5.0), TurnSignal::Cost(f64::NAN)], Some((0.85, 0.3)));
}

#[test]
fn invalid_reward_error_names_the_field() {
    for (definition, field) in [
        (json!({"explicit_weight": 1.5}), "reward.explicit_weight"),
        (json!({"explicit_weight": 0.0, "implicit_weight": 0.0}), "reward.explicit_weight"),
        (json!({"implicit_weight": -0.1}), "reward.implicit_weight"),
        (json!({"latency_seconds": [30, 10]}), "reward.latency_seconds"),
        (json!({"cost_ref": 0.0}), "reward.cost_ref"),
        (json!({"latency_weight": -1.0}), "reward.latency_weight"),
        (json!({"overrides": {"export": 2.0}}), "reward.overrides.export"),
        (json!({"overrides": {"stare": 1.0}}), "reward.overrides"),
        (json!({"overrides": {"dwell_ms=5": 1.0}}), "reward.overrides"),
        (json!({"overrides": {"dwell_ms>=x": 1.0}}), "reward.overrides"),
    ] {
        let written: RewardDefinition = serde_json::from_value(definition).unwrap();
        assert_eq!(RewardRule::new(written).unwrap_err().field, field);
    }
    assert!(serde_json::from_value::<RewardDefinition>(json!({"cost": 1})).is_err());
}

#[test]
fn out_of_range_rewards_and_weights_give_no_observation() {
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.01, 1.01];
    for value in bad {
        assert_eq!(Observation::new(value, 1.0), None, "{value}");
    }
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.01, 0.0, 2.01] {
        assert_eq!(Observation::new(0.5, value), None, "{value}");
    }
}

pub(crate) fn any_signal() -> impl Strategy<Value = TurnSignal> {
    let unit = (0.0..=1.0).prop_map(|value| UnitInterval::new(value).unwrap());
    let status = prop_oneof![
        Just(VerdictStatus::Rejected),
        Just(VerdictStatus::Accepted),
        Just(VerdictStatus::Neutral)
    ];
    let judged = (status.clone(), unit.clone(), any::<bool>())
        .prop_map(|(status, confidence, moved_on)| MessageVerdict { status, confidence, moved_on });
    let kind = (1u8..=9).prop_map(|code| InteractionKind::from_code(code).unwrap());
    prop_oneof![
        (any::<bool>(), prop::option::of(0.0..60.0))
            .prop_map(|(failed, seconds)| TurnSignal::Answered(AnswerOutcome { failed, seconds })),
        (0.0..0.1).prop_map(TurnSignal::Cost),
        (0u64..3, prop::option::of(judged))
            .prop_map(|(message, judged)| TurnSignal::Verdict { message, judged }),
        prop::option::of(status).prop_map(TurnSignal::Review),
        unit.clone().prop_map(TurnSignal::Retry),
        (kind, prop::option::of(0.0..1e5))
            .prop_map(|(kind, dwell_ms)| TurnSignal::Interaction { kind, dwell_ms }),
        (0u64..3, prop::option::of(unit.clone()))
            .prop_map(|(user, given)| TurnSignal::Rating { user, given }),
        prop::option::of(unit).prop_map(TurnSignal::Quality),
        Just(TurnSignal::Correction),
        prop::option::of(any::<bool>()).prop_map(TurnSignal::MetExpectations),
    ]
}

#[test]
fn latest_ratings_are_kept_in_any_arrival_order() {
    fn collect_at<'a>(given: impl Iterator<Item = &'a (u64, TurnSignal)>) -> TurnEvidence {
        let mut evidence = TurnEvidence::default();
        given.for_each(|(at, signal)| evidence.record(*at, signal));
        evidence
    }
    let most = turn_evidence::MAX_RATINGS as u64;
    let rating_at = |user: u64| (user, rating(user, if user > 2 * most { 1.0 } else { 0.0 }));
    let given: Vec<(u64, TurnSignal)> = (1..=3 * most).map(rating_at).collect();
    let whole = collect_at(given.iter());
    assert_eq!(whole.explicit_reward(), Some(1.0));
    assert_eq!(collect_at(given.iter().rev()), whole);
    let mut again = whole.clone();
    again.record(1, &given[0].1);
    assert_eq!(again, whole, "a repeat of a dropped rating");
    again.record(3 * most + 1, &rating(1, 0.0));
    assert!(
        again.explicit_reward().is_some_and(|mean| mean < 1.0),
        "a later rating of the same user"
    );
}

proptest! {
    #[test]
    fn evidence_is_independent_of_order_and_repetition(
        signals in prop::collection::vec(any_signal(), 0..12),
        again in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let whole = collect(&signals);
        let mut other = TurnEvidence::default();
        for (at, signal) in (1u64..).zip(&signals).collect::<Vec<_>>().into_iter().rev() {
            other.record(at, signal);
        }
        for index in again.iter().filter(|_| !signals.is_empty()) {
            let at = index.index(signals.len());
            other.record(at as u64 + 1, &signals[at]);
        }
        prop_assert_eq!(&other, &whole);
        let stored = serde_json::to_string(&whole).unwrap();
        prop_assert_eq!(&serde_json::from_str::<TurnEvidence>(&stored).unwrap(), &whole);
    }

    #[test]
    fn observation_is_always_in_range(
        signals in prop::collection::vec(any_signal(), 0..12),
    ) {
        let rule = rule(json!({"cost_weight": 0.5, "latency_weight": 0.5}));
        let evidence = collect(&signals);
        prop_assert!((0.0..=1.0).contains(&evidence.reward(&rule)));
        if let Some(observation) = evidence.observation(&rule) {
            prop_assert!((0.0..=1.0).contains(&observation.reward()));
            prop_assert!(observation.weight() > 0.0 && observation.weight() <= 1.0);
        }
    }
}
