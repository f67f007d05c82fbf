//! Dissatisfaction detection on sets that were not trained on (eurtad is easy by design).

use fit::metrics::{auc, auc_half_interval, binary_metrics};

use crate::rows::{Bench, held, is_true, of_set, ranked, said};

/// Sets and their target AUC.
const SETS: [(&str, Option<f64>); 5] = [
    ("uss-sgd", Some(0.80)),
    ("uss-redial", Some(0.75)),
    ("eurtad", None),
    ("dbdc3-dev", None),
    ("feedbackqa", None),
];

pub(crate) fn measure(bench: &Bench) -> anyhow::Result<()> {
    let rows = bench.rows("detect/verdict-dev.jsonl")?;
    println!("## Dissatisfaction (verdict-dev, none of it trained on)\n");
    println!("| set | mode | AUC ± 95% | precision | recall | F1 | false alarms | bar |");
    println!("|---|---|---|---|---|---|---|---|");
    let scored = ["seed", "rules", "model", "reader"]
        .map(|mode| bench.scored("verdict", mode, &rows).map(|scored| (mode, scored)));
    let scored = scored.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    for (set, bar) in SETS {
        for (mode, rows) in &scored {
            let rows = of_set(rows, set);
            let positive = rows.iter().filter(|row| is_true(row, "label")).count();
            let area = auc(&ranked(&rows));
            let around = auc_half_interval(area, positive, rows.len() - positive);
            let at = binary_metrics(said(&rows));
            let bar = match bar {
                Some(bar) if *mode == "model" => format!("≥ {bar} {}", held(area, bar)),
                Some(_) | None => String::new(),
            };
            println!(
                "| {set} | {mode} | {area:.3} ± {around:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {bar} |",
                at.precision, at.recall, at.f1, at.false_alarms
            );
        }
        same_alarms(&scored[0].1, &scored[2].1, set);
    }
    println!();
    Ok(())
}

/// Recall of the model at the false positive rate of the reference rules.
fn same_alarms(seed: &[serde_json::Value], model: &[serde_json::Value], set: &str) {
    let alarms = |rows: &[&serde_json::Value]| rows.iter().filter(|r| is_true(r, "pred")).count();
    let (seed, model) = (of_set(seed, set), of_set(model, set));
    let allowed = alarms(&seed);
    let mut order = model.clone();
    order.sort_by(|a, b| b["p"].as_f64().unwrap_or(0.0).total_cmp(&a["p"].as_f64().unwrap_or(0.0)));
    let found = order.iter().take(allowed).filter(|r| is_true(r, "label")).count();
    let all = model.iter().filter(|r| is_true(r, "label")).count().max(1);
    let of_seed = binary_metrics(said(&seed)).recall;
    let recall = found as f64 / all as f64;
    println!(
        "| {set} | model at the seed's {allowed} alarms | | {:.3} | {recall:.3} (seed {of_seed:.3}) | | | {} |",
        found as f64 / allowed.max(1) as f64,
        if recall >= of_seed { "beats the seed" } else { "BELOW the seed" }
    );
}
