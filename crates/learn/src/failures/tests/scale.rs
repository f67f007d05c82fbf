//! One complaint stays one pattern at any number of turns.

use super::crowd::make_crowd;
use super::*;

/// Number of patterns that contain the complaint, the largest pattern's share of it, and that
/// pattern's purity.
fn measure_complaint(patterns: &[FailurePattern], size: usize) -> (usize, f64, f64) {
    let own = |pattern: &FailurePattern| {
        pattern.turns.iter().filter(|turn| turn.starts_with('c')).count()
    };
    let with = patterns.iter().filter(|pattern| own(pattern) > 0).count();
    let largest = patterns.iter().max_by_key(|pattern| own(pattern)).unwrap();
    let held = own(largest) as f64;
    (with, held / size as f64, held / largest.turns.len() as f64)
}

fn check(size: usize, turns: &[OwnedTurn]) {
    let patterns = find_patterns(turns, &AnsweredTotals::default());
    let (with, held, pure) = measure_complaint(&patterns, size);
    let seen: Vec<(&str, u32)> = patterns.iter().map(|p| (p.label.as_str(), p.count)).collect();
    assert!(with <= 2 && held >= 0.9 && pure >= 0.9, "{size}: {with} {held} {pure} {seen:?}");
    assert!(patterns[0].label.contains("complet"), "{seen:?}");
    assert!(patterns.len() <= 2 + 12, "others are few too: {seen:?}");
}

#[test]
fn complaint_is_one_pattern_at_any_scale() {
    for size in [10, 30, 100, 300, 1_000] {
        check(size, &make_crowd(size));
    }
}

#[test]
fn complaint_is_one_pattern_without_corrections() {
    for size in [10, 30, 100, 1_000] {
        let mut turns = make_crowd(size);
        turns.iter_mut().for_each(|turn| turn.changes.clear());
        check(size, &turns);
    }
}

#[test]
fn corrections_with_different_values_for_a_column_stay_separate() {
    let mut turns = make_crowd(60);
    for turn in turns.iter_mut().filter(|turn| turn.id.starts_with('c')).skip(30) {
        let (old, new) = ("completed", "open");
        turn.said = turn.said.as_ref().map(|said| said.replace(old, new));
        let vector = embed::built_in().embed(turn.said.as_deref().unwrap_or_default());
        turn.vectors.1 = Some(vector.values().to_vec());
        let text = "Filter:  -> status = 'open'".to_owned();
        turn.changes = vec![AnswerChange { about: "status".to_owned(), text }];
        turn.id = turn.id.replace('c', "p");
    }
    for turn in turns.iter_mut().filter(|turn| turn.id.starts_with('c')) {
        let text = "Filter:  -> status = 'completed'".to_owned();
        turn.changes = vec![AnswerChange { about: "status".to_owned(), text }];
    }
    let patterns = find_patterns(&turns, &AnsweredTotals::default());
    for pattern in &patterns {
        let first = |letter: char| pattern.turns.iter().any(|turn| turn.starts_with(letter));
        assert!(!(first('c') && first('p')), "{} {:?}", pattern.label, pattern.turns);
    }
}

#[test]
fn patterns_of_a_thousand_turns_are_stable() {
    let turns = make_crowd(1_000);
    let patterns = find_patterns(&turns, &AnsweredTotals::default());
    // A stride coprime to the number of turns visits each turn once.
    let mixed: Vec<OwnedTurn> =
        (0..turns.len()).map(|n| turns[(n * 7) % turns.len()].clone()).rev().collect();
    assert_eq!(find_patterns(&mixed, &AnsweredTotals::default()), patterns);
    let mut more = turns;
    more.push(make_turn("c99999", "Refund rate in Oslo?", Some("completed orders only, please")));
    let after = find_patterns(&more, &AnsweredTotals::default());
    assert_eq!(after[0].id, patterns[0].id);
    assert_eq!(after[0].count, patterns[0].count + 1);
    let kept = patterns.iter().filter(|old| after.iter().any(|new| new.id == old.id)).count();
    assert_eq!(kept, patterns.len());
}

#[test]
fn long_texts_are_truncated_in_patterns() {
    let mut turns = make_crowd(30);
    for turn in &mut turns {
        turn.question.push_str(&" and so on and so forth".repeat(5_000));
        turn.said = turn.said.as_ref().map(|said| format!("{said}{}", "ä".repeat(120_000)));
        let side = Some("x".repeat(50_000));
        turn.contrast = Some(Contrast { wants: side.clone(), instead_of: side });
        turn.error_type = turn.id.ends_with('7').then(|| "e".repeat(90_000));
    }
    let patterns = find_patterns(&turns, &AnsweredTotals::default());
    assert!(patterns.iter().any(|pattern| pattern.error_type.is_some()));
    for pattern in patterns {
        let FailurePattern { label, topic, examples, contrasts, error_type, .. } = pattern;
        let examples = examples.into_iter().flat_map(|e| [Some(e.question), e.remark]).flatten();
        let sides = contrasts.into_iter().flat_map(|c| [c.wants, c.instead_of]).flatten();
        assert!(examples.chain(sides).all(|text| text.chars().count() <= 300));
        assert!(label.chars().count() <= 120 && topic.chars().count() <= 120);
        assert!(error_type.is_none_or(|name| name.chars().count() <= 120));
    }
}
