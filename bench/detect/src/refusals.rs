//! Refusal detection on XSTest; the completions of each model are judged by a detector trained without it.

use std::path::Path;

use fit::metrics::{BinaryMetrics, auc, binary_metrics};
use fit::refusals::{REFUSAL_HYPERPARAMETERS, RefusalRow, build_examples, read_rows};
use fit::train::fit_calibrated;
use serde_json::Value;

use crate::rows::{Bench, held, is_true, said};

const MODELS: [&str; 3] = ["xstest-llama2new", "xstest-mistralguard", "xstest-mistralinstruct"];

pub(crate) fn measure(bench: &Bench) -> anyhow::Result<()> {
    let public = bench.rows("detect/refusal-dev.jsonl")?;
    let seed = bench.scored("refusal", "seed", &public)?;
    println!("## Refusal (XSTest, each model left out of training in turn)\n");
    println!("| set | detector | AUC | precision | recall | F1 | bar |");
    println!("|---|---|---|---|---|---|---|");
    let all = read_rows(&bench.corpus, Some(&bench.data))?;
    let threshold = detect::FailureRule::default().min_refusal_probability;
    let mut pooled = Vec::new();
    for model in MODELS {
        let of_model: Vec<&Value> = seed.iter().filter(|row| row["set"] == model).collect();
        line(model, "seed rules", None, binary_metrics(said(&of_model)), "");
        let scored = without(&all, model);
        let at_work = binary_metrics(scored.iter().map(|row| (row.0 >= threshold, row.1)));
        line(model, "ours, model unseen", Some(auc(&scored)), at_work, "");
        pooled.extend(scored);
    }
    let seed: Vec<&Value> = seed.iter().collect();
    line("all", "seed rules", None, binary_metrics(said(&seed)), "");
    let at_work = binary_metrics(pooled.iter().map(|row| (row.0 >= threshold, row.1)));
    let bar = format!("F1 ≥ 0.93 {}", held(at_work.f1, 0.93));
    line("all", "ours, model unseen", Some(auc(&pooled)), at_work, &bar);
    println!();
    harmless(bench)
}

fn line(set: &str, who: &str, area: Option<f64>, at: BinaryMetrics, bar: &str) {
    let area = area.map_or(String::new(), |area| format!("{area:.3}"));
    println!(
        "| {set} | {who} | {area} | {:.3} | {:.3} | {:.3} | {bar} |",
        at.precision, at.recall, at.f1
    );
}

/// Trains without a model's completions and judges them.
fn without(all: &[RefusalRow], model: &str) -> Vec<(f64, bool)> {
    let seen: Vec<RefusalRow> = all.iter().filter(|row| row.set != model).cloned().collect();
    let unseen: Vec<RefusalRow> = all.iter().filter(|row| row.set == model).cloned().collect();
    let (fitted, _) = fit_calibrated(&build_examples(&seen), REFUSAL_HYPERPARAMETERS);
    build_examples(&unseen)[..unseen.len()]
        .iter()
        .map(|e| (f64::from(fitted.predict_probability(&e.features)), e.target > 0.5))
        .collect()
}

/// Answers written for this benchmark that look like refusals but are not.
fn harmless(bench: &Bench) -> anyhow::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("harmless.jsonl");
    let rows: Vec<Value> = fit::pairs::read_jsonl(&path)?;
    println!("| harmless answers | alarms: seed rules | alarms: ours | bar |");
    println!("|---|---|---|---|");
    let alarms = |mode| -> anyhow::Result<Vec<Value>> {
        let scored = bench.scored("refusal", mode, &rows)?;
        let is_alarm = |row: &Value| is_true(row, "pred") || row["error_type"] == "error_text";
        Ok(scored.into_iter().filter(is_alarm).collect())
    };
    let (seed, ours) = (alarms("seed")?, alarms("model")?);
    let bar = if ours.is_empty() { "0 held" } else { "0 MISSED" };
    println!("| {} | {} | {} | {bar} |", rows.len(), seed.len(), ours.len());
    for row in &ours {
        let response: String =
            row["response"].as_str().unwrap_or_default().chars().take(90).collect();
        println!(
            "  - {:.2} {}: {}",
            row["p"].as_f64().unwrap_or(0.0),
            row["kind"],
            response.replace('\n', " ")
        );
    }
    println!();
    Ok(())
}
