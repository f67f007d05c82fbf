//! Benchmarks of the learning parts: `make bench-learning` runs it.

#![expect(clippy::print_stdout, reason = "the figures are the output")]

mod agreement;
mod clinc;
mod crowd;
mod examples;
mod experiments;
mod failures;
mod kmeans;
mod preferences;
mod stored;

use std::path::PathBuf;

use anyhow::bail;

const SECTIONS: [&str; 6] =
    ["experiments", "experiments_stored", "failures", "examples", "preferences", "stored"];

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(data) = arguments.next().map(PathBuf::from) else {
        bail!(
            "set UPTAKE_DATA to the folder of public data, which is not in this repository (bench/learning/README.md)"
        );
    };
    let section = arguments.next();
    let wanted = |name: &str| section.as_deref().is_none_or(|only| only == name);
    if let Some(other) = &section
        && !SECTIONS.contains(&other.as_str())
    {
        bail!("unknown section {other}, expected one of {}", SECTIONS.join(", "));
    }
    for name in SECTIONS {
        if wanted(name) {
            println!("# {name}");
            match name {
                "experiments" => experiments::measure(),
                "experiments_stored" => experiments::measure_stored()?,
                "failures" => failures::run(&data)?,
                "examples" => examples::measure(&data)?,
                "preferences" => preferences::measure()?,
                "stored" => stored::measure()?,
                _ => {}
            }
        }
    }
    Ok(())
}
