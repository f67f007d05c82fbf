//! Benchmarks routing and off-policy evaluation on public data. `make bench-routing` runs it.

#![expect(clippy::print_stdout, reason = "the figures are the output")]

mod table;
mod mean;
mod rewards;
mod drift;
mod cost;
mod off_policy;

use std::path::PathBuf;

use anyhow::{Context, bail};

/// Runs per algorithm, each with its own row order and random draws.
const SEEDS: u64 = 30;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(data) = arguments.next().map(PathBuf::from) else {
        bail!(
            "set UPTAKE_DATA to the folder of public data, which is not in this repository (bench/routing/README.md)"
        );
    };
    let seeds = arguments.next().map_or(Ok(SEEDS), |seeds| seeds.parse());
    let seeds: u64 = seeds.context("the number of seeds")?;
    cost::measure();
    off_policy::measure(&data)?;
    rewards::measure(&data, seeds)?;
    drift::measure(&data, seeds)
}
