//! Use detection by each kind of evidence.

mod corpus;
mod names;

use proptest::prelude::*;

use super::*;

fn found(answer: &str, items: &[ReturnedItem<'_>]) -> Vec<Use> {
    let rule = UsageRule::default();
    detect_use(&rule, &Written::read(&rule, answer, AnswerKind::Response), items)
}

fn item(entity_id: &str, rank: u32) -> ReturnedItem<'_> {
    ReturnedItem { entity_id, rank: Some(rank), ..ReturnedItem::default() }
}

fn words(uses: &[Use]) -> Vec<&'static str> {
    let word = |found: &Use| match found {
        Use::Used(evidence) => evidence.reason.as_word(),
        Use::Ignored => "ignored",
        Use::Unknown => "unknown",
    };
    uses.iter().map(word).collect()
}

#[test]
fn an_item_about_which_nothing_is_known_gives_no_signal() {
    let items = [item("a", 1), item("b", 2), ReturnedItem { content: Some(" "), ..item("c", 3) }];
    assert_eq!(words(&found("It rains.", &items)), ["unknown"; 3]);
    assert_eq!(words(&found("It rains [2].", &items)), ["unknown", "citation", "unknown"]);
    let named = ReturnedItem { name: Some("Rain gauge 7"), ..item("a", 1) };
    assert_eq!(words(&found("It snows.", &[named])), ["ignored"]);
}

#[test]
fn a_number_is_an_id_before_it_is_a_rank() {
    let mixed = [item("2", 1), item("b", 2), item("c", 3)];
    assert_eq!(words(&found("So it is [2].", &mixed)), ["citation", "unknown", "unknown"]);
    assert_eq!(words(&found("So it is [3].", &mixed)), ["unknown", "unknown", "citation"]);
    // Where every id is a number, a number is never a rank.
    let numbers = [item("17", 1), item("9", 2)];
    assert_eq!(words(&found("So it is [2].", &numbers)), ["unknown"; 2]);
    assert_eq!(words(&found("So it is [9].", &numbers)), ["unknown", "citation"]);
}

#[test]
fn evidence_points_at_what_was_written() {
    let answer = "As the SPAN-SAMPLER docs say: keep one in fifty [4].";
    let items = [
        ReturnedItem { name: Some("spanSampler"), ..item("x", 1) },
        item("y", 4),
        ReturnedItem { content: Some("Docs say: keep one in fifty, drop 49."), ..item("z", 9) },
    ];
    let shown: Vec<&str> = found(answer, &items)
        .iter()
        .filter_map(|found| match found {
            Use::Used(evidence) => Some(&answer[evidence.start..evidence.end]),
            Use::Ignored | Use::Unknown => None,
        })
        .collect();
    assert_eq!(shown, ["SPAN-SAMPLER", "[4]", "docs say: keep one in fifty"]);
}

/// Generates text with names, citations, links and code, and arbitrary strings.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("userService".to_owned()),
        Just(" [3]".to_owned()),
        Just("[doc-1](https://x.example/doc-1)".to_owned()),
        Just("```\nlet a = rows[2];\n```".to_owned()),
        Just("You asked about it. ".to_owned()),
        Just("straße 不是这个，谢谢。".to_owned()),
        Just("e\u{301}\u{202e}🙂".to_owned()),
        Just("import { a } from 'b';\n".to_owned()),
        Just("4.2 1,299.50 v1.2.3 ".to_owned()),
        "[a-zA-Z_. -]{0,40}",
        "\\PC{0,30}",
        any::<String>(),
    ];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_text_is_looked_through(answer in text(), name in text(), content in text(), id in text()) {
        let rule = UsageRule::default();
        for kind in [AnswerKind::Response, AnswerKind::Code] {
            let written = Written::read(&rule, &answer, kind);
            let known = ReturnedItem {
                entity_id: &id,
                name: Some(&name),
                content: Some(&content),
                rank: Some(3),
            };
            for found in detect_use(&rule, &written, &[known, item(&id, 0), known]) {
                if let Use::Used(evidence) = found {
                    prop_assert!(answer.get(evidence.start..evidence.end).is_some());
                    prop_assert!((0.0..=1.0).contains(&evidence.share), "{}", evidence.share);
                }
            }
        }
    }
}

#[test]
fn huge_texts_take_no_longer_than_they_are_long() {
    let rule = UsageRule::default();
    for part in [
        "é[", "a_B.c-", "不", "[1](", "http://", "word ", "\n- [2]", "4.", "''", "\n[1]", "x[1]",
        "Aa ",
    ] {
        let huge = part.repeat(60_000 / part.len());
        for kind in [AnswerKind::Response, AnswerKind::Code] {
            let written = Written::read(&rule, &huge, kind);
            let known = ReturnedItem {
                name: Some(&huge[..part.len()]),
                content: Some(&huge),
                ..item("x", 1)
            };
            detect_use(&rule, &written, &[known]);
        }
    }
}
