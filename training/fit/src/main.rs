//! `uptake-fit TASK CORPUS OUT [DATA]`: fits the models of one task and prints their held-out
//! accuracy.
//!
//! `make models` runs the tasks in order, because later ones use earlier models. `reader-rows` writes
//! the rows for training/reader; `blend` reads them and the reader's scores from the same folder.
#![expect(clippy::print_stdout, reason = "command-line tool")]

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use detect::WideDeepModel;
use uptake_fit::train::{Example, fit_calibrated};
use uptake_fit::{metrics, pairs, readings, refusals, restatements, verdicts};

type RowTarget = fn(&verdicts::VerdictRow) -> f32;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().context(
        "missing argument TASK: learnt-pair, pair, refusal, verdict, reader-rows or blend",
    )?;
    let corpus = PathBuf::from(
        arguments.next().context("missing argument CORPUS: folder of the training corpus")?,
    );
    let out = PathBuf::from(
        arguments.next().context("missing argument OUT: folder for the model files")?,
    );
    let data = arguments.next().map(PathBuf::from);
    match task.as_str() {
        "evaluate-reader" => readings::evaluate(&corpus)?,
        "blend" => {
            let text =
                readings::fit_blend(&corpus.join("rows.jsonl"), &corpus.join("folds.jsonl"))?;
            let path = out.join("blend.txt");
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        "learnt-pair" => {
            let (model, examples, held_out) = pairs::fit_learnt_pair_model(&corpus)?;
            save_model(&out, "pair", &model)?;
            print_summary("learnt-pair", &model, &examples, &held_out);
        }
        "pair" => fit_pair(&corpus, &out)?,
        "refusal" => {
            if data.is_none() {
                println!(
                    "warning: without DATA the XSTest completions are missing and the model differs"
                );
            }
            let examples =
                refusals::build_examples(&refusals::read_rows(&corpus, data.as_deref())?);
            let (model, held_out) = fit_calibrated(&examples, refusals::REFUSAL_HYPERPARAMETERS);
            save_model(&out, "refusal", &model)?;
            print_summary("refusal", &model, &examples, &held_out);
        }
        "verdict" => fit_verdict(&corpus, &out)?,
        "reader-rows" => {
            let rows = readings::write_rows(&corpus, &out, data.as_deref())?;
            println!("{rows} rows for the reader");
        }
        other => {
            bail!(
                "unknown task {other}: expected learnt-pair, pair, refusal, verdict, reader-rows or blend"
            )
        }
    }
    Ok(())
}

fn fit_pair(corpus: &Path, out: &Path) -> Result<()> {
    let (model, examples, held_out) = restatements::fit_restatement_model(corpus)?;
    save_model(out, "restatement", &model)?;
    print_summary("restatement", &model, &examples, &held_out);
    let path = out.join("pair-blend.txt");
    fs::write(&path, pairs::fit_blend(corpus)?)
        .with_context(|| format!("cannot write {}", path.display()))
}

fn fit_verdict(corpus: &Path, out: &Path) -> Result<()> {
    let rows = verdicts::read_rows(corpus)?;
    let targets: [(&str, RowTarget); 2] =
        [("rejected", verdicts::rejection_target), ("accepted", verdicts::acceptance_target)];
    for (name, target) in targets {
        let examples = verdicts::build_examples(&rows, target);
        let (model, held_out) = fit_calibrated(&examples, verdicts::VERDICT_HYPERPARAMETERS);
        save_model(out, name, &model)?;
        print_summary(name, &model, &examples, &held_out);
        print_part_summaries(&rows, target, &model, &held_out);
    }
    Ok(())
}

fn save_model(out: &Path, name: &str, model: &WideDeepModel) -> Result<()> {
    let path = out.join(format!("{name}.bin"));
    fs::write(&path, model.to_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

fn print_summary(name: &str, model: &WideDeepModel, examples: &[Example], held_out: &[f32]) {
    let rows: Vec<(f64, f64, f64)> = held_out
        .iter()
        .zip(examples)
        .map(|(sum, e)| {
            (calibrated_probability(model, *sum), f64::from(e.target), f64::from(e.weight))
        })
        .collect();
    let labelled: Vec<(f64, bool)> = rows.iter().map(|r| (r.0, r.1 > 0.5)).collect();
    let at_half = metrics::binary_metrics(labelled.iter().map(|r| (r.0 >= 0.5, r.1)));
    println!(
        "{name}: {} rows held out in turn: AUC {:.3}, F1 {:.3}, calibration error {:.3}",
        rows.len(),
        metrics::auc(&labelled),
        at_half.f1,
        metrics::calibration_error(&rows)
    );
}

fn print_part_summaries(
    rows: &[verdicts::VerdictRow],
    target: RowTarget,
    model: &WideDeepModel,
    held_out: &[f32],
) {
    let mut parts: Vec<&str> = rows.iter().map(|r| r.part.as_str()).collect();
    parts.sort_unstable();
    parts.dedup();
    for part in parts {
        let scored: Vec<(f64, bool)> = rows
            .iter()
            .zip(held_out)
            .filter(|(row, _)| row.part == part)
            .map(|(row, sum)| (calibrated_probability(model, *sum), target(row) > 0.5))
            .collect();
        let confident = metrics::binary_metrics(scored.iter().map(|r| (r.0 >= 0.7, r.1)));
        println!(
            "  {part:14} AUC {:.3}; from 0.7: precision {:.2}, recall {:.2}, false alarms {:.3}",
            metrics::auc(&scored),
            confident.precision,
            confident.recall,
            confident.false_alarms
        );
    }
}

fn calibrated_probability(model: &WideDeepModel, sum: f32) -> f64 {
    f64::from(detect::sigmoid(model.slope * sum + model.offset))
}
