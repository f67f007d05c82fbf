//! Verdicts on dialogues written for this benchmark, of which nothing was trained on.

use std::fs;

use anyhow::Context;
use fit::dialogues::read_test_rows;
use fit::metrics::{auc, binary_metrics, calibration_error};
use serde_json::{Value, json};

use crate::rows::Bench;

const FILE: &str = "bench/detect/written.jsonl";

pub(crate) fn measure(bench: &Bench) -> anyhow::Result<()> {
    let text = fs::read_to_string(FILE).with_context(|| format!("cannot read {FILE}"))?;
    let rows: Vec<Value> =
        text.lines().map(serde_json::from_str).collect::<Result<_, _>>().context(FILE)?;
    measure_rows(bench, FILE, &rows)?;
    let rows: Vec<Value> = read_test_rows(&bench.corpus)?
        .into_iter()
        .map(|row| {
            json!({"prev_user": row.prev_user, "assistant": row.assistant, "user": row.user,
                "kind": row.part, "lang": row.lang, "expected": row.status})
        })
        .collect();
    measure_rows(bench, "dialogues-test.jsonl of the corpus", &rows)
}

fn measure_rows(bench: &Bench, name: &str, rows: &[Value]) -> anyhow::Result<()> {
    println!("## Written dialogues ({} rows, {name})\n", rows.len());
    println!("| kind | mode | rows | AUC | precision | recall | F1 | alarms on accepted |");
    println!("|---|---|---|---|---|---|---|---|");
    let scored = ["model", "reader"]
        .map(|mode| bench.scored("verdict", mode, rows).map(|scored| (mode, scored)));
    let scored = scored.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    for (mode, rows) in &scored {
        print_line("all", mode, &rows.iter().collect::<Vec<_>>());
    }
    for field in ["kind", "lang"] {
        let mut names: Vec<&str> = rows.iter().filter_map(|row| row[field].as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            for (mode, rows) in &scored {
                let own: Vec<&Value> = rows.iter().filter(|row| row[field] == name).collect();
                print_line(name, mode, &own);
            }
        }
    }
    for (mode, rows) in &scored {
        let points: Vec<(f64, f64, f64)> =
            rows.iter().map(|row| (p(row), f64::from(u8::from(is_rejected(row))), 1.0)).collect();
        println!("\ncalibration error of mode {mode}: {:.3}", calibration_error(&points));
    }
    println!();
    Ok(())
}

/// The label is `expected`, because `score` writes its own `status`.
fn is_rejected(row: &Value) -> bool {
    row["expected"] == "rejected"
}

fn p(row: &Value) -> f64 {
    row["p"].as_f64().unwrap_or(0.0)
}

fn print_line(name: &str, mode: &str, rows: &[&Value]) {
    let judged = |row: &Value| row["status"] == "rejected";
    let area = auc(&rows.iter().map(|row| (p(row), is_rejected(row))).collect::<Vec<_>>());
    let at = binary_metrics(rows.iter().map(|row| (judged(row), is_rejected(row))));
    let accepted: Vec<&&Value> = rows.iter().filter(|row| row["expected"] == "accepted").collect();
    let alarms = accepted.iter().filter(|row| judged(row)).count();
    println!(
        "| {name} | {mode} | {} | {area:.3} | {:.3} | {:.3} | {:.3} | {alarms} of {} |",
        rows.len(),
        at.precision,
        at.recall,
        at.f1,
        accepted.len()
    );
}
