//! Benchmarks relevance feedback on public data with simulated clicks. `make bench-relevance` runs it.

#![expect(clippy::print_stdout, reason = "the figures are the output")]

mod set;
mod cranfield;
mod lightgbm;
mod clicks;
mod memory;
mod ranking;
mod clusters;
mod cost;

use std::path::PathBuf;

use anyhow::{Context, bail};

/// Runs, each with its own split of queries and its own readers.
const SEEDS: u64 = 10;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(data) = arguments.next().map(PathBuf::from) else {
        bail!(
            "set UPTAKE_DATA to the folder of public data, which is not in this repository (bench/relevance/README.md)"
        );
    };
    let seeds = arguments.next().map_or(Ok(SEEDS), |seeds| seeds.parse());
    let seeds: u64 = seeds.context("the number of seeds")?;
    cost::measure();
    clusters::measure(&data)?;
    let folder = data.join("relevance");
    let sets = [
        cranfield::read(&folder.join("cranfield"))?,
        lightgbm::read(&folder.join("lightgbm_rank"))?,
    ];
    ranking::measure(&sets, seeds);
    Ok(())
}
