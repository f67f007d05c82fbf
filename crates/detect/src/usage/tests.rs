//! The labelled corpus, and rows for what each reason must and must not see.

use std::path::Path;

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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../training/corpus");
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
    fn add(&mut self, rows: &[Row], failures: Option<&mut Vec<String>>) {
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
                    Use::Used(e) => format!("{} {:?}", e.reason.as_word(), &row.answer[e.start..e.end]),
                    Use::Ignored | Use::Unknown => "not seen".to_owned(),
                };
                wrong.push(format!("{}: {shown} ({})", row.id, row.why));
            }
        }
        if let Some(failures) = failures {
            *failures = wrong;
        }
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
    let (mut dev, mut test) = (Score::default(), Score::default());
    let mut failures = Vec::new();
    dev.add(&rows("use-dev.jsonl"), Some(&mut failures));
    test.add(&rows("use-a.jsonl"), None);
    test.add(&rows("use-b.jsonl"), None);
    for line in &failures {
        println!("dev {line}");
    }
    println!("use detection, dev: {}", dev.shown());
    println!("use detection, test: {}", test.shown());
    assert!(test.f1() >= 0.9, "{}", test.shown());
}
