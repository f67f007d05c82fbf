//! `uptake-fit TASK CORPUS OUT [DATA]`: fits the models of one task and prints their held-out
//! accuracy.
//!
//! `make models` runs the tasks in order, because later ones use earlier models.
#![expect(clippy::print_stdout, reason = "a command of ours")]

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use detect::Model;
use uptake_fit::train::{Example, fit};
use uptake_fit::{metrics, pairs, refusals, verdicts};

/// Training target of a row.
type Target = fn(&verdicts::VerdictRow) -> f32;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().context("which task: pair, refusal or verdict?")?;
    let corpus = PathBuf::from(arguments.next().context("where is the corpus?")?);
    let out = PathBuf::from(arguments.next().context("where do the models go?")?);
    let data = arguments.next().map(PathBuf::from);
    match task.as_str() {
        "pair" => {
            let (model, examples, held_out) = pairs::model(&corpus)?;
            keep(&out, "pair", &model)?;
            tell("pair", &model, &examples, &held_out);
        }
        "refusal" => {
            if data.is_none() {
                println!("without DATA the XSTest completions are left out: another model results");
            }
            let examples = refusals::examples(&refusals::rows(&corpus, data.as_deref())?);
            let (model, held_out) = fit(&examples, refusals::RECIPE);
            keep(&out, "refusal", &model)?;
            tell("refusal", &model, &examples, &held_out);
        }
        "verdict" => {
            let rows = verdicts::rows(&corpus)?;
            let targets: [(&str, Target); 2] =
                [("rejected", verdicts::dissatisfaction), ("accepted", verdicts::acceptance)];
            for (name, target) in targets {
                let examples = verdicts::examples(&rows, target);
                let (model, held_out) = fit(&examples, verdicts::RECIPE);
                keep(&out, name, &model)?;
                tell(name, &model, &examples, &held_out);
                by_part(&rows, target, &model, &held_out);
            }
        }
        other => bail!("there is no task {other}: pair, refusal or verdict"),
    }
    Ok(())
}

fn keep(out: &Path, name: &str, model: &Model) -> Result<()> {
    let path = out.join(format!("{name}.bin"));
    fs::write(&path, model.to_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

fn tell(name: &str, model: &Model, examples: &[Example], held_out: &[f32]) {
    let rows: Vec<(f64, f64, f64)> = held_out
        .iter()
        .zip(examples)
        .map(|(sum, e)| (probability(model, *sum), f64::from(e.target), f64::from(e.weight)))
        .collect();
    let labelled: Vec<(f64, bool)> = rows.iter().map(|r| (r.0, r.1 > 0.5)).collect();
    let at_half = metrics::working(labelled.iter().map(|r| (r.0 >= 0.5, r.1)));
    println!(
        "{name}: {} rows held out in turn: AUC {:.3}, F1 {:.3}, calibration error {:.3}",
        rows.len(),
        metrics::auc(&labelled),
        at_half.f1,
        metrics::calibration_error(&rows)
    );
}

fn by_part(rows: &[verdicts::VerdictRow], target: Target, model: &Model, held_out: &[f32]) {
    let mut parts: Vec<&str> = rows.iter().map(|r| r.part.as_str()).collect();
    parts.sort_unstable();
    parts.dedup();
    for part in parts {
        let scored: Vec<(f64, bool)> = rows
            .iter()
            .zip(held_out)
            .filter(|(row, _)| row.part == part)
            .map(|(row, sum)| (probability(model, *sum), target(row) > 0.5))
            .collect();
        let sure = metrics::working(scored.iter().map(|r| (r.0 >= 0.7, r.1)));
        println!(
            "  {part:14} AUC {:.3}; from 0.7: precision {:.2}, recall {:.2}, false alarms {:.3}",
            metrics::auc(&scored),
            sure.precision,
            sure.recall,
            sure.false_alarms
        );
    }
}

fn probability(model: &Model, sum: f32) -> f64 {
    f64::from(detect::sigmoid(model.slope * sum + model.offset))
}
