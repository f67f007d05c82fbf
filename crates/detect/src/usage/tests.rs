//! The labelled corpus, and rows for what each reason must and must not see.

use std::path::Path;

use proptest::prelude::*;
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Row {
    id: String,
    entity_id: String,
    rank: u32,
    name: Option<String>,
    content: Option<String>,
    kind: String,
    answer: String,
    used: bool,
    why: String,
}

fn rows(file: &str) -> Vec<Row> {
    // From where Cargo runs tests: a path that is compiled in may be of another clone.
    let folder = Path::new("../../training/corpus");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn kind_of(word: &str) -> AnswerKind {
    match word {
        "response" => AnswerKind::Response,
        "code" => AnswerKind::Code,
        other => panic!("kind {other}"),
    }
}

/// Right and wrong findings, and precision, recall and F1 from them.
#[derive(Default)]
struct Score {
    hits: f64,
    false_alarms: f64,
    misses: f64,
}

impl Score {
    /// Counts the rows and tells those that were judged wrongly.
    fn add(&mut self, rows: &[Row]) -> Vec<String> {
        let mut wrong = Vec::new();
        let rule = UsageRule::default();
        for row in rows {
            let answer = Written::read(&rule, &row.answer, kind_of(&row.kind));
            let item = ReturnedItem {
                entity_id: &row.entity_id,
                name: row.name.as_deref(),
                content: row.content.as_deref(),
                rank: Some(row.rank),
            };
            let found = detect_use(&rule, &answer, &[item]).remove(0);
            let is_used = matches!(found, Use::Used(_));
            match (is_used, row.used) {
                (true, true) => self.hits += 1.0,
                (true, false) => self.false_alarms += 1.0,
                (false, true) => self.misses += 1.0,
                (false, false) => {}
            }
            if is_used != row.used {
                let shown = match &found {
                    Use::Used(e) => {
                        format!("{} {:?}", e.reason.as_word(), &row.answer[e.start..e.end])
                    }
                    Use::Ignored | Use::Unknown => "not seen".to_owned(),
                };
                wrong.push(format!("{}: {shown} ({})", row.id, row.why));
            }
        }
        wrong
    }

    fn precision(&self) -> f64 {
        self.hits / (self.hits + self.false_alarms)
    }

    fn recall(&self) -> f64 {
        self.hits / (self.hits + self.misses)
    }

    fn f1(&self) -> f64 {
        2.0 * self.hits / (2.0 * self.hits + self.false_alarms + self.misses)
    }

    fn shown(&self) -> String {
        let (precision, recall, f1) = (self.precision(), self.recall(), self.f1());
        format!("precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}")
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are worth a line in the log of CI")]
fn use_is_found_in_the_test_corpus() {
    // The rule was chosen on the dev rows alone; the failures of the others are not shown.
    let (mut dev, mut test) = (Score::default(), Score::default());
    for file in ["use-dev.jsonl", "use-dev-2.jsonl"] {
        for line in dev.add(&rows(file)) {
            println!("dev {line}");
        }
    }
    for file in ["use-a.jsonl", "use-b.jsonl"] {
        test.add(&rows(file));
    }
    println!("use detection, dev: {}", dev.shown());
    println!("use detection, test: {}", test.shown());
    assert!(test.f1() >= 0.9, "{}", test.shown());
}

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

/// Texts with what the reasons look for, and anything at all.
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
