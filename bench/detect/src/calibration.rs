//! Calibration of confidences on our own rows, each judged by a model that has not seen it.

use fit::measure::{calibration_error, working};
use fit::train::{Example, Recipe, fit};
use fit::{refusals, verdicts};

use crate::rows::Bench;

pub(crate) fn measure(bench: &Bench) -> anyhow::Result<()> {
    println!("## Calibration (our corpus, five folds by context)\n");
    println!(
        "| model | rows | calibration error | from 0.7: right | recall | false alarms | bar |"
    );
    println!("|---|---|---|---|---|---|---|");
    let rows = verdicts::rows(&bench.corpus)?;
    line("dissatisfied", &verdicts::examples(&rows, verdicts::dissatisfaction), verdicts::RECIPE);
    line("accepted", &verdicts::examples(&rows, verdicts::acceptance), verdicts::RECIPE);
    let rows = refusals::rows(&bench.corpus, Some(&bench.data))?;
    line("refusal", &refusals::examples(&rows), refusals::RECIPE);
    println!();
    Ok(())
}

fn line(name: &str, examples: &[Example], recipe: Recipe) {
    let (model, sums) = fit(examples, recipe);
    let rows: Vec<(f64, f64, f64)> = sums
        .iter()
        .zip(examples)
        .map(|(sum, e)| {
            let p = f64::from(detect::sigmoid(model.slope * sum + model.offset));
            (p, f64::from(e.target), f64::from(e.weight))
        })
        .collect();
    let error = calibration_error(&rows);
    let at = working(rows.iter().map(|row| (row.0 >= 0.7, row.1 > 0.5)));
    let bar = if error <= 0.05 { "≤ 0.05 held" } else { "≤ 0.05 MISSED" };
    println!(
        "| {name} | {} | {error:.3} | {:.3} | {:.3} | {:.3} | {bar} |",
        rows.len(),
        at.precision,
        at.recall,
        at.false_alarms
    );
}
