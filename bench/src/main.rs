//! Benchmarks Uptake over HTTP, with wrk on the same machine. See `bench/README.md`.

#![expect(clippy::print_stdout, reason = "the figures are the output")]

mod server;
mod wrk;
mod fill;
mod growth;
mod table;
mod writes;
mod reads;
mod startup;
mod loops;
mod page;
mod migrate;
mod routes;
mod rerank;
mod steady;
mod kafka;
mod nodes;
mod plot;
mod postgres;
mod rebuild;
mod retention;

use std::path::PathBuf;

use anyhow::{Context, bail};
use table::Table;

/// One section of the benchmark.
type Measure = fn(&server::Binary, &mut Table) -> anyhow::Result<()>;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let binary = PathBuf::from(arguments.next().context("usage: uptake-bench BINARY [SECTION]")?);
    let wanted = arguments.next();
    let sections: [(&str, Measure); 10] = [
        ("writes", writes::measure),
        ("reads", reads::measure),
        ("loop", loops::measure),
        ("route", routes::measure),
        ("rerank", rerank::measure),
        ("page", page::measure),
        ("life", startup::measure),
        ("growth", growth::measure),
        ("retention", retention::measure),
        ("rebuild", rebuild::measure),
    ];
    let binary = server::Binary::new(binary);
    let mut table = Table::default();
    // These need a binary with the feature `scaled` and external servers.
    match wanted.as_deref() {
        Some("kafka") => kafka::measure(&binary, &mut table).context("measuring kafka")?,
        Some("migrate") => migrate::measure(&binary, &mut table).context("measuring migrate")?,
        Some("nodes") => nodes::measure(&binary, &mut table).context("measuring nodes")?,
        Some("postgres") => postgres::measure(&binary, &mut table).context("measuring postgres")?,
        Some(other) if !sections.iter().any(|(name, _)| *name == other) => {
            let names = sections.map(|(name, _)| name).join(", ");
            bail!(
                "there is no section {other}, expected {names}, kafka, migrate, nodes or postgres"
            );
        }
        Some(_) | None => {}
    }
    for (name, measure) in sections {
        if wanted.as_deref().is_none_or(|wanted| wanted == name) {
            measure(&binary, &mut table).with_context(|| format!("measuring {name}"))?;
        }
    }
    println!("\n{}", table.as_markdown());
    Ok(())
}
