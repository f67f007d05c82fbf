//! Accuracy on the labelled corpus.

use std::path::Path;

use serde::Deserialize;

use super::super::*;

#[derive(Deserialize)]
struct CorpusRow {
    id: String,
    entity_id: String,
    rank: u32,
    name: Option<String>,
    content: Option<String>,
    kind: String,
    answer: String,
    used: bool,
    why: String,
    #[serde(default)]
    beside: Vec<String>,
    #[serde(default)]
    others: Vec<OtherItem>,
}

#[derive(Deserialize)]
struct OtherItem {
    name: Option<String>,
    content: Option<String>,
}

fn read_rows(file: &str) -> Vec<CorpusRow> {
    // Relative to Cargo's test directory: a compiled-in path may belong to another clone.
    let folder = Path::new("../../training/corpus");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn parse_kind(word: &str) -> AnswerKind {
    match word {
        "response" => AnswerKind::Response,
        "code" => AnswerKind::Code,
        other => panic!("unknown answer kind {other}"),
    }
}

#[derive(Default)]
struct DetectionScore {
    hits: f64,
    false_alarms: f64,
    misses: f64,
}

impl DetectionScore {
    /// Scores the rows and returns descriptions of the misjudged ones.
    fn score_rows(&mut self, rows: &[CorpusRow]) -> Vec<String> {
        let mut wrong = Vec::new();
        let rule = UsageRule::default();
        for row in rows {
            let answer = ParsedAnswer::parse(&rule, &row.answer, parse_kind(&row.kind));
            let item = ReturnedItem {
                entity_id: &row.entity_id,
                name: row.name.as_deref(),
                content: row.content.as_deref(),
                rank: Some(row.rank),
            };
            let beside = row.beside.iter().zip(900..).map(|(name, rank)| ReturnedItem {
                entity_id: "beside",
                name: Some(name),
                content: None,
                rank: Some(rank),
            });
            let others = row.others.iter().zip(950..).map(|(other, rank)| ReturnedItem {
                entity_id: "other",
                name: other.name.as_deref(),
                content: other.content.as_deref(),
                rank: Some(rank),
            });
            let items: Vec<ReturnedItem<'_>> =
                std::iter::once(item).chain(beside).chain(others).collect();
            let found = detect_item_use(&rule, &answer, &items).remove(0);
            let is_used = matches!(found, ItemUse::Used(_));
            match (is_used, row.used) {
                (true, true) => self.hits += 1.0,
                (true, false) => self.false_alarms += 1.0,
                (false, true) => self.misses += 1.0,
                (false, false) => {}
            }
            if is_used != row.used {
                let shown = match &found {
                    ItemUse::Used(e) => {
                        format!("{} {:?}", e.reason.as_word(), &row.answer[e.start..e.end])
                    }
                    ItemUse::Ignored | ItemUse::Unknown => "not seen".to_owned(),
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

    fn f1_score(&self) -> f64 {
        2.0 * self.hits / (2.0 * self.hits + self.false_alarms + self.misses)
    }

    fn describe(&self) -> String {
        let (precision, recall, f1) = (self.precision(), self.recall(), self.f1_score());
        format!("precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}")
    }
}

/// The rule was tuned on the dev rows alone, so failures of the test rows stay hidden.
const CORPUS_SETS: [(&str, &[&str], bool); 3] = [
    ("dev", &["use-dev.jsonl", "use-dev-2.jsonl", "use-dev-3.jsonl"], true),
    ("first test", &["use-a.jsonl", "use-b.jsonl"], false),
    ("second test", &["use-c.jsonl"], false),
];

#[test]
#[expect(clippy::print_stdout, reason = "CI logs the accuracy")]
fn use_detection_reaches_f1_of_0_9_on_every_corpus_set() {
    for (what, files, is_dev) in CORPUS_SETS {
        let mut score = DetectionScore::default();
        for file in files {
            for line in score.score_rows(&read_rows(file)).iter().filter(|_| is_dev) {
                println!("{what} {line}");
            }
        }
        println!("use detection, {what}: {}", score.describe());
        assert!(score.f1_score() >= 0.9, "{what}: {}", score.describe());
    }
}

/// Half of the paraphrases are missed; those that are found have to be right.
#[test]
#[expect(clippy::print_stdout, reason = "CI logs the accuracy")]
fn paraphrases_are_found_with_a_precision_of_0_9() {
    let mut score = DetectionScore::default();
    score.score_rows(&read_rows("use-d.jsonl"));
    println!("use detection, paraphrases: {}", score.describe());
    assert!(score.precision() >= 0.9, "{}", score.describe());
    assert!(score.recall() >= 0.3, "{}", score.describe());
}
