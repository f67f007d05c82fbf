//! Measures Uptake over HTTP, with wrk on the same machine. `bench/README.md` says what and how.

#![expect(clippy::print_stdout, reason = "the figures are the output")]

mod server;
mod wrk;
mod fill;
mod table;
mod writes;
mod reads;
mod life;
mod loops;
mod migrate;
mod routes;
mod rerank;
mod steady;
mod kafka;

use std::path::PathBuf;

use anyhow::Context;
use table::Table;

/// One part of the whole.
type Measure = fn(&server::Binary, &mut Table) -> anyhow::Result<()>;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let binary = PathBuf::from(arguments.next().context("usage: uptake-bench BINARY [SECTION]")?);
    let wanted = arguments.next();
    let sections: [(&str, Measure); 7] = [
        ("writes", writes::measure),
        ("reads", reads::measure),
        ("loop", loops::measure),
        ("route", routes::measure),
        ("rerank", rerank::measure),
        ("life", life::measure),
        ("migrate", migrate::measure),
    ];
    let binary = server::Binary::new(binary);
    let mut table = Table::default();
    if wanted.as_deref() == Some("kafka") {
        kafka::measure(&binary, &mut table).context("measuring kafka")?;
    }
    for (name, measure) in sections {
        if wanted.as_deref().is_none_or(|wanted| wanted == name) {
            measure(&binary, &mut table).with_context(|| format!("measuring {name}"))?;
        }
    }
    println!("\n{}", table.as_markdown());
    Ok(())
}
