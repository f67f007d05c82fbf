//! Detection of repeated questions, and the correlation of vectors with human similarity scores.

use anyhow::Context;
use fit::metrics::{auc, auc_half_interval, binary_metrics, spearman_correlation};
use serde_json::{Value, json};

use crate::rows::{Bench, held, is_true, of_set, ranked};

const SETS: [(&str, Option<f64>); 3] =
    [("qqp", Some(0.81)), ("clinc150-train", Some(0.96)), ("mrpc-train", Some(0.75))];

pub(crate) fn measure(bench: &Bench) -> anyhow::Result<()> {
    let rows = bench.rows("detect/pairs-dev.jsonl")?;
    println!("## The same question (pairs-dev, none of it trained on)\n");
    println!("| set | score | AUC ± 95% | from 0.85: recall | false alarms | bar |");
    println!("|---|---|---|---|---|---|");
    let cosine = bench.scored("pair", "seed", &rows)?;
    let ours = bench.scored("pair", "model", &rows)?;
    for (set, bar) in SETS {
        for (name, scored) in [("cosine", &cosine), ("pair score", &ours)] {
            let rows = of_set(scored, set);
            let positive = rows.iter().filter(|row| is_true(row, "label")).count();
            let area = auc(&ranked(&rows));
            let around = auc_half_interval(area, positive, rows.len() - positive);
            let at = binary_metrics(ranked(&rows).iter().map(|(p, is)| (*p >= 0.85, *is)));
            let bar = match bar {
                Some(bar) if name == "pair score" => format!("≥ {bar} {}", held(area, bar)),
                Some(_) | None => String::new(),
            };
            println!(
                "| {set} | {name} | {area:.3} ± {around:.3} | {:.3} | {:.3} | {bar} |",
                at.recall, at.false_alarms
            );
        }
    }
    println!();
    sentences(bench)
}

fn sentences(bench: &Bench) -> anyhow::Result<()> {
    let rows = bench.rows("detect/sts-dev.jsonl")?;
    let texts = |field: &str| -> Vec<Value> {
        rows.iter().map(|row| json!({"text": row[field]})).collect()
    };
    let vectors = |field: &str| bench.scored("embed", "model", &texts(field));
    let (a, b) = (vectors("a")?, vectors("b")?);
    println!("| STS-B | Spearman of the cosine | bar |");
    println!("|---|---|---|");
    for (set, bar) in [("stsb-dev", Some(0.82)), ("stsb-train", None)] {
        let pairs = rows
            .iter()
            .zip(a.iter().zip(&b))
            .filter(|(row, _)| row["set"] == set)
            .map(|(row, (a, b))| {
                let gold = row["score"].as_f64().context("a row without score")?;
                Ok((dot(a, b)?, gold))
            })
            .collect::<anyhow::Result<Vec<(f64, f64)>>>()?;
        let rho = spearman_correlation(&pairs);
        let bar = bar.map_or(String::new(), |bar| format!("≥ {bar} {}", held(rho, bar)));
        println!("| {set} | {rho:.3} | {bar} |");
    }
    println!();
    Ok(())
}

fn dot(a: &Value, b: &Value) -> anyhow::Result<f64> {
    let numbers = |row: &Value| -> anyhow::Result<Vec<f64>> {
        let list = row["vector"].as_array().context("a row came back without vector")?;
        Ok(list.iter().filter_map(Value::as_f64).collect())
    };
    Ok(numbers(a)?.iter().zip(numbers(b)?).map(|(x, y)| x * y).sum())
}
