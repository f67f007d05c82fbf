//! Patterns of a fixed set of complaints, embedded with the built-in model.

mod complaints;
mod crowd;
mod scale;

use std::collections::{BTreeMap, BTreeSet};

use model::Contrast;

use super::*;
use complaints::{COMPLAINTS, Complaint};

/// A failed turn that owns its data.
#[derive(Clone)]
struct OwnedTurn {
    id: String,
    question: String,
    said: Option<String>,
    vectors: (Vec<f32>, Option<Vec<f32>>),
    contrast: Option<Contrast>,
    changes: Vec<AnswerChange>,
    error_type: Option<String>,
    model: &'static str,
    period: FailureWindow,
}

fn make_turn(id: &str, question: &str, said: Option<&str>) -> OwnedTurn {
    let vector = |text: &str| embed::built_in().embed(text).values().to_vec();
    OwnedTurn {
        id: id.to_owned(),
        question: question.to_owned(),
        said: said.map(str::to_owned),
        vectors: (vector(question), said.map(vector)),
        contrast: None,
        changes: Vec::new(),
        error_type: None,
        model: "m1",
        period: FailureWindow::Current,
    }
}

fn as_failed_turn(made: &OwnedTurn) -> FailedTurn<'_> {
    FailedTurn {
        turn_id: &made.id,
        question: &made.question,
        question_vector: Some(&made.vectors.0),
        remark: made.said.as_deref(),
        remark_vector: made.vectors.1.as_deref(),
        contrast: made.contrast.as_ref(),
        changes: &made.changes,
        kind: if made.error_type.is_some() { FailureKind::Error } else { FailureKind::Rejected },
        error_type: made.error_type.as_deref(),
        model: Some(made.model),
        prompt: None,
        strategy: None,
        when_ms: 0,
        window: made.period,
    }
}

fn find_patterns(made: &[OwnedTurn], totals: &AnsweredTotals) -> Vec<FailurePattern> {
    let turns: Vec<FailedTurn<'_>> = made.iter().map(as_failed_turn).collect();
    find_failure_patterns(&turns, totals, &PatternRule::default())
}

fn all_complaints() -> Vec<OwnedTurn> {
    let one = |(at, complaint): (usize, &Complaint)| {
        make_turn(&format!("t{at:03}"), complaint.question, complaint.said)
    };
    COMPLAINTS.iter().enumerate().map(one).collect()
}

#[test]
fn clustering_matches_manual_groups_of_complaints() {
    let patterns = find_patterns(&all_complaints(), &AnsweredTotals::default());
    let kind_of: BTreeMap<String, &str> =
        (0..).zip(COMPLAINTS).map(|(at, c)| (format!("t{at:03}"), c.group)).collect();
    let mut together = 0;
    for pattern in &patterns {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        pattern.turns.iter().for_each(|t| *kinds.entry(kind_of[t]).or_default() += 1);
        together += kinds.values().max().copied().unwrap_or_default();
    }
    let in_patterns: usize = patterns.iter().map(|pattern| pattern.turns.len()).sum();
    let grouped = COMPLAINTS.iter().filter(|c| c.group != "alone").count();
    let groups: BTreeSet<&str> = COMPLAINTS.iter().map(|c| c.group).collect();
    let seen: Vec<(&str, u32)> = patterns.iter().map(|p| (p.label.as_str(), p.count)).collect();
    assert!(together as f64 >= 0.9 * in_patterns as f64, "{together} of {in_patterns}: {seen:?}");
    assert!(in_patterns as f64 >= 0.85 * grouped as f64, "{in_patterns} of {grouped}: {seen:?}");
    assert!(patterns.len() <= groups.len() + 4, "{seen:?}");
}

#[test]
fn same_complaint_by_ten_users_is_one_pattern() {
    let patterns = find_patterns(&all_complaints(), &AnsweredTotals::default());
    let wants: Vec<String> = (0..)
        .zip(COMPLAINTS)
        .filter(|(_, c)| c.group == "completed orders")
        .map(|(at, _)| format!("t{at:03}"))
        .collect();
    let with = |p: &&FailurePattern| wants.iter().filter(|turn| p.turns.contains(turn)).count();
    let pattern = patterns.iter().max_by_key(with).unwrap();
    assert_eq!((with(&pattern), pattern.turns.len()), (wants.len(), wants.len()), "{pattern:?}");
    assert!(pattern.label.contains("completed"), "{}", pattern.label);
    assert!(pattern.examples.len() == 5 && pattern.share > 0.1);
}

#[test]
fn patterns_ignore_turn_order_and_duplicate_turns() {
    let turns = all_complaints();
    let patterns = find_patterns(&turns, &AnsweredTotals::default());
    let mut turned: Vec<OwnedTurn> = turns.iter().rev().cloned().collect();
    assert_eq!(find_patterns(&turned, &AnsweredTotals::default()), patterns);
    turned.extend(turns.iter().take(20).cloned());
    assert_eq!(find_patterns(&turned, &AnsweredTotals::default()), patterns);
}

#[test]
fn pattern_id_is_stable_when_a_turn_joins() {
    let mut turns = all_complaints();
    let before = find_patterns(&turns, &AnsweredTotals::default());
    turns.push(make_turn("t999", "Orders per warehouse?", Some("only completed orders please")));
    let after = find_patterns(&turns, &AnsweredTotals::default());
    let pattern = after.iter().find(|p| p.turns.contains(&"t999".to_owned())).unwrap();
    let old = before.iter().find(|p| p.id == pattern.id).unwrap();
    assert_eq!(old.count + 1, pattern.count);
    let kept = before.iter().filter(|old| after.iter().any(|new| new.id == old.id)).count();
    assert!(kept + 1 >= before.len(), "{kept} of {}", before.len());
}

#[test]
fn errors_are_grouped_by_type() {
    let questions = ["revenue by month", "weather in Rome", "translate this", "who is the CEO"];
    let mut turns: Vec<OwnedTurn> = questions.map(|q| make_turn(q, q, None)).into();
    for (turn, error) in turns.iter_mut().zip(["Timeout", "timeout ", "TIMEOUT", "rate_limit"]) {
        turn.error_type = Some(error.to_owned());
    }
    let patterns = find_patterns(&turns, &AnsweredTotals::default());
    assert_eq!(patterns.len(), 1);
    assert_eq!((patterns[0].count, patterns[0].error_type.as_deref()), (3, Some("timeout")));
    assert_eq!((patterns[0].share, patterns[0].label.as_str()), (0.75, "timeout"));
}

#[test]
fn unrelated_turns_form_no_pattern() {
    let questions = ["reset my password", "recipe for lentil soup", "train to Berlin", "tax forms"];
    let turns = questions.map(|q| make_turn(q, q, Some("No, that's wrong")));
    assert_eq!(find_patterns(&turns, &AnsweredTotals::default()), []);
    assert_eq!(find_patterns(&[], &AnsweredTotals::default()), []);
    let nothing =
        [make_turn("a", "", None), make_turn("b", " ", Some("")), make_turn("c", "\u{0}", None)];
    assert_eq!(find_patterns(&nothing, &AnsweredTotals::default()), []);
}

#[test]
fn lifts_list_only_over_represented_values() {
    let mut turns: Vec<OwnedTurn> = (0..12)
        .map(|n| make_turn(&format!("t{n:02}"), &format!("convert {n} euros to dollars"), None))
        .collect();
    turns.iter_mut().take(10).for_each(|turn| turn.model = "small");
    let by = vec![
        (LiftDimension::Model, "m1".to_owned(), 800),
        (LiftDimension::Model, "small".to_owned(), 200),
    ];
    let totals =
        AnsweredTotals { now: 1_000, before: 1_000, by_dimension: by, ..AnsweredTotals::default() };
    let patterns = find_patterns(&turns, &totals);
    let lifts = &patterns[0].lifts;
    assert_eq!(lifts.len(), 1, "{lifts:?}");
    assert_eq!((lifts[0].dimension, lifts[0].value.as_str()), (LiftDimension::Model, "small"));
    let [low, high] = lifts[0].interval;
    assert!((lifts[0].lift - (10.0 / 12.0) / 0.2).abs() < 1e-9 && low > 2.0 && high < 6.0);
}

#[test]
fn lifts_are_sorted_by_lower_bound() {
    let turns: Vec<OwnedTurn> =
        (0..12).map(|n| make_turn(&format!("t{n:02}"), "convert euros to dollars", None)).collect();
    let failed: Vec<FailedTurn<'_>> = turns
        .iter()
        .map(|made| FailedTurn { model: Some("small"), prompt: Some("v2"), ..as_failed_turn(made) })
        .collect();
    let by = vec![
        (LiftDimension::Model, "small".to_owned(), 400),
        (LiftDimension::Prompt, "v2".to_owned(), 50),
    ];
    let totals =
        AnsweredTotals { now: 1_000, before: 1_000, by_dimension: by, ..AnsweredTotals::default() };
    let patterns = find_failure_patterns(&failed, &totals, &PatternRule::default());
    let told: Vec<LiftDimension> = patterns[0].lifts.iter().map(|lift| lift.dimension).collect();
    assert_eq!(told, [LiftDimension::Prompt, LiftDimension::Model], "{:?}", patterns[0].lifts);
}

#[test]
fn turn_limit_keeps_the_newest_turns() {
    let turns: Vec<OwnedTurn> =
        (0..6).map(|n| make_turn(&format!("t{n}"), "convert euros to dollars", None)).collect();
    let failed: Vec<FailedTurn<'_>> = (0_i64..)
        .zip(&turns)
        .map(|(when_ms, made)| FailedTurn { when_ms, ..as_failed_turn(made) })
        .collect();
    let rule = PatternRule { max_turns: 4, ..PatternRule::default() };
    let mut patterns = find_failure_patterns(&failed, &AnsweredTotals::default(), &rule);
    patterns[0].turns.sort_unstable();
    assert_eq!((patterns.len(), patterns[0].share), (1, 1.0));
    assert_eq!(patterns[0].turns, ["t2", "t3", "t4", "t5"]);
}

#[test]
fn trend_is_relative_to_answered_turns_and_significant() {
    let check = |now: usize, before: usize, answered: (u64, u64), direction: FailureDirection| {
        let turns: Vec<OwnedTurn> = (0..now + before)
            .map(|n| {
                let mut turn =
                    make_turn(&format!("t{n:03}"), &format!("convert {n} euros to dollars"), None);
                turn.period =
                    if n < now { FailureWindow::Current } else { FailureWindow::Previous };
                turn
            })
            .collect();
        let totals =
            AnsweredTotals { now: answered.0, before: answered.1, ..AnsweredTotals::default() };
        let trend = find_patterns(&turns, &totals)[0].trend;
        let counts = (trend.now, trend.before, trend.difference);
        assert_eq!(counts, (now as u32, before as u32, now as i64 - before as i64));
        assert_eq!(trend.direction, direction, "{now} {before} {answered:?}");
    };
    check(20, 4, (100, 100), FailureDirection::Rising);
    check(4, 20, (100, 100), FailureDirection::Falling);
    check(6, 4, (100, 100), FailureDirection::Steady);
    check(20, 4, (500, 100), FailureDirection::Steady);
}

#[test]
fn contrasts_merge_spelling_variants() {
    let mut turns: Vec<OwnedTurn> =
        (0..3).map(|n| make_turn(&format!("t{n}"), "find laptops for me", None)).collect();
    let wants = ["gaming laptops", "Gaming laptop", "gaming laptops"];
    for (turn, wants) in turns.iter_mut().zip(wants) {
        let contrast = |text: &str| Some(text.to_owned());
        turn.contrast =
            Some(Contrast { wants: contrast(wants), instead_of: contrast("business laptops") });
    }
    let patterns = find_patterns(&turns, &AnsweredTotals::default());
    let contrasts = &patterns[0].contrasts;
    assert_eq!(contrasts.len(), 1);
    assert_eq!((contrasts[0].wants.as_deref(), contrasts[0].count), (Some("gaming laptops"), 3));
}

#[test]
fn contrasts_with_other_numbers_or_swapped_sides_stay_separate() {
    let mut turns: Vec<OwnedTurn> =
        (0..6).map(|n| make_turn(&format!("t{n}"), "show the sales report", None)).collect();
    let sides = [
        ("sales of 2021", "sales of 2020"),
        ("sales of 2022", "sales of 2020"),
        ("under 500", "all"),
        ("under 2000", "all"),
        ("net", "gross"),
        ("gross", "net"),
    ];
    for (turn, (wants, instead_of)) in turns.iter_mut().zip(sides) {
        let side = |text: &str| Some(text.to_owned());
        turn.contrast = Some(Contrast { wants: side(wants), instead_of: side(instead_of) });
    }
    let patterns = find_patterns(&turns, &AnsweredTotals::default());
    let counts: Vec<u32> = patterns[0].contrasts.iter().map(|contrast| contrast.count).collect();
    assert_eq!(counts, [1; 6]);
}
