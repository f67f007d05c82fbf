//! Use detection by each kind of evidence.

mod code_names;
mod corpus;
mod names;
mod paraphrases;

use proptest::prelude::*;

use super::*;

fn detect_in_response(answer: &str, items: &[ReturnedItem<'_>]) -> Vec<ItemUse> {
    let rule = UsageRule::default();
    detect_item_use(&rule, &ParsedAnswer::parse(&rule, answer, AnswerKind::Response), items)
}

fn bare_item(entity_id: &str, rank: u32) -> ReturnedItem<'_> {
    ReturnedItem { entity_id, rank: Some(rank), ..ReturnedItem::default() }
}

fn result_names(uses: &[ItemUse]) -> Vec<&'static str> {
    let word = |found: &ItemUse| match found {
        ItemUse::Used(evidence) => evidence.reason.as_word(),
        ItemUse::Ignored => "ignored",
        ItemUse::Unknown => "unknown",
    };
    uses.iter().map(word).collect()
}

#[test]
fn item_without_name_and_content_is_unknown() {
    let items = [
        bare_item("a", 1),
        bare_item("b", 2),
        ReturnedItem { content: Some(" "), ..bare_item("c", 3) },
    ];
    assert_eq!(result_names(&detect_in_response("It rains.", &items)), ["unknown"; 3]);
    assert_eq!(
        result_names(&detect_in_response("It rains [2].", &items)),
        ["unknown", "citation", "unknown"]
    );
    let named = ReturnedItem { name: Some("Rain gauge 7"), ..bare_item("a", 1) };
    assert_eq!(result_names(&detect_in_response("It snows.", &[named])), ["ignored"]);
}

#[test]
fn cited_number_is_an_id_before_it_is_a_rank() {
    let mixed = [bare_item("2", 1), bare_item("b", 2), bare_item("c", 3)];
    assert_eq!(
        result_names(&detect_in_response("So it is [2].", &mixed)),
        ["citation", "unknown", "unknown"]
    );
    assert_eq!(
        result_names(&detect_in_response("So it is [3].", &mixed)),
        ["unknown", "unknown", "citation"]
    );
    // Where every id is a number, a number is never a rank.
    let numbers = [bare_item("17", 1), bare_item("9", 2)];
    assert_eq!(result_names(&detect_in_response("So it is [2].", &numbers)), ["unknown"; 2]);
    assert_eq!(
        result_names(&detect_in_response("So it is [9].", &numbers)),
        ["unknown", "citation"]
    );
}

#[test]
fn evidence_range_covers_the_matched_text() {
    let answer = "As the SPAN-SAMPLER docs say: keep one in fifty [4].";
    let items = [
        ReturnedItem { name: Some("spanSampler"), ..bare_item("x", 1) },
        bare_item("y", 4),
        ReturnedItem {
            content: Some("Docs say: keep one in fifty, drop 49."),
            ..bare_item("z", 9)
        },
    ];
    let shown: Vec<&str> = detect_in_response(answer, &items)
        .iter()
        .filter_map(|found| match found {
            ItemUse::Used(evidence) => Some(&answer[evidence.start..evidence.end]),
            ItemUse::Ignored | ItemUse::Unknown => None,
        })
        .collect();
    assert_eq!(shown, ["SPAN-SAMPLER", "[4]", "docs say: keep one in fifty"]);
}

fn arbitrary_text() -> impl Strategy<Value = String> {
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
    fn use_detection_accepts_any_text(answer in arbitrary_text(), name in arbitrary_text(), content in arbitrary_text(), id in arbitrary_text()) {
        let rule = UsageRule::default();
        for kind in [AnswerKind::Response, AnswerKind::Code] {
            let parsed = ParsedAnswer::parse(&rule, &answer, kind);
            let known = ReturnedItem {
                entity_id: &id,
                name: Some(&name),
                content: Some(&content),
                rank: Some(3),
            };
            for found in detect_item_use(&rule, &parsed, &[known, bare_item(&id, 0), known]) {
                if let ItemUse::Used(evidence) = found {
                    prop_assert!(answer.get(evidence.start..evidence.end).is_some());
                    prop_assert!((0.0..=1.0).contains(&evidence.share), "{}", evidence.share);
                }
            }
        }
    }
}

#[test]
fn huge_texts_are_processed_in_linear_time() {
    let rule = UsageRule::default();
    for part in [
        "é[", "a_B.c-", "不", "[1](", "http://", "word ", "\n- [2]", "4.", "''", "\n[1]", "x[1]",
        "Aa ",
    ] {
        let huge = part.repeat(60_000 / part.len());
        for kind in [AnswerKind::Response, AnswerKind::Code] {
            let parsed = ParsedAnswer::parse(&rule, &huge, kind);
            let known = ReturnedItem {
                name: Some(&huge[..part.len()]),
                content: Some(&huge),
                ..bare_item("x", 1)
            };
            detect_item_use(&rule, &parsed, &[known]);
        }
    }
}
