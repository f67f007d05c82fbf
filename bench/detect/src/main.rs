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
mod held_out;

use std::path::PathBuf;

use anyhow::{Context, bail};

use rows::Bench;

fn main() -> anyhow::Result<()> {
    let usage = "usage: uptake-bench-detect BINARY CORPUS DATA [SECTION]";
    let mut arguments = std::env::args().skip(1);
    let binary = PathBuf::from(arguments.next().context(usage)?);
    let corpus = PathBuf::from(arguments.next().context(usage)?);
    let Some(data) = arguments.next().map(PathBuf::from) else {
        bail!(
            "set UPTAKE_DATA to the folder of public data, which is not in this repository (bench/detect/README.md)"
        );
    };
    let section = arguments.next();
    let bench = Bench { binary, corpus, data };
    let chosen: Vec<_> = SECTIONS
        .iter()
        .filter(|(name, _)| section.as_deref().is_none_or(|section| section == *name))
        .collect();
    if chosen.is_empty() {
        let names: Vec<&str> = SECTIONS.iter().map(|(name, _)| *name).collect();
        bail!("unknown section: expected one of {}", names.join(", "));
    }
    chosen.into_iter().try_for_each(|(_, measure)| measure(&bench))
}

type Measure = fn(&Bench) -> anyhow::Result<()>;

const SECTIONS: [(&str, Measure); 8] = [
    ("verdicts", verdicts::measure),
    ("written", written::measure),
    ("held-out", held_out::measure),
    ("refusals", refusals::measure),
    ("pairs", pairs::measure),
    ("calibration", calibration::measure),
    ("cost", cost::measure),
    ("scan", scan::measure),
];
