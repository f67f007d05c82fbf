//! Benchmarks the detectors on public data, next to the reference rules. `make bench-detect` runs it.
//!
//! Rows go through `uptake score`, as a user would send them. Only costs are measured in process.

#![expect(clippy::print_stdout, reason = "the figures are the output")]

mod rows;
mod verdicts;
mod refusals;
mod pairs;
mod calibration;
mod cost;
mod scan;
mod written;

use std::path::PathBuf;

use anyhow::{Context, bail};

use rows::Bench;

fn main() -> anyhow::Result<()> {
    let usage = "usage: uptake-bench-detect BINARY CORPUS DATA";
    let mut arguments = std::env::args().skip(1);
    let binary = PathBuf::from(arguments.next().context(usage)?);
    let corpus = PathBuf::from(arguments.next().context(usage)?);
    let Some(data) = arguments.next().map(PathBuf::from) else {
        bail!(
            "set UPTAKE_DATA to the folder of public data, which is not in this repository (bench/detect/README.md)"
        );
    };
    let bench = Bench { binary, corpus, data };
    verdicts::measure(&bench)?;
    written::measure(&bench)?;
    refusals::measure(&bench)?;
    pairs::measure(&bench)?;
    calibration::measure(&bench)?;
    cost::measure(&bench)?;
    scan::measure(&bench)
}
