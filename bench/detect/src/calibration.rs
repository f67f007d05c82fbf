//! Calibration of confidences on our own rows, each judged by a model that has not seen it.

use fit::metrics::{binary_metrics, calibration_error};
use fit::train::{Example, Hyperparameters, fit_calibrated};
use fit::{refusals, verdicts};

use crate::rows::Bench;

pub(crate) fn measure(bench: &Bench) -> anyhow::Result<()> {
    println!("## Calibration (our corpus, five folds by context)\n");
    println!(
        "| model | rows | calibration error | from 0.7: right | recall | false alarms | bar |"
    );
    println!("|---|---|---|---|---|---|---|");
    let rows = verdicts::read_rows(&bench.corpus)?;
    line(
        "dissatisfied",
        &verdicts::build_examples(&rows, verdicts::rejection_target),
        verdicts::VERDICT_HYPERPARAMETERS,
    );
    line(
        "accepted",
        &verdicts::build_examples(&rows, verdicts::acceptance_target),
        verdicts::VERDICT_HYPERPARAMETERS,
    );
    let rows = refusals::read_rows(&bench.corpus, Some(&bench.data))?;
    line("refusal", &refusals::build_examples(&rows), refusals::REFUSAL_HYPERPARAMETERS);
    println!();
    Ok(())
}

fn line(name: &str, examples: &[Example], recipe: Hyperparameters) {
    let (model, sums) = fit_calibrated(examples, recipe);
    let rows: Vec<(f64, f64, f64)> = sums
        .iter()
        .zip(examples)
        .map(|(sum, e)| {
            let p = f64::from(detect::sigmoid(model.slope * sum + model.offset));
            (p, f64::from(e.target), f64::from(e.weight))
        })
        .collect();
    let error = calibration_error(&rows);
    let at = binary_metrics(rows.iter().map(|row| (row.0 >= 0.7, row.1 > 0.5)));
    let bar = if error <= 0.05 { "≤ 0.05 held" } else { "≤ 0.05 MISSED" };
    println!(
        "| {name} | {} | {error:.3} | {:.3} | {:.3} | {:.3} | {bar} |",
        rows.len(),
        at.precision,
        at.recall,
        at.false_alarms
    );
}
