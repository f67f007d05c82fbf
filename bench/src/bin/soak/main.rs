//! `soak BINARY SECONDS [RATE]`: mixed load at 70% of the server's limit with kills, a full disk and clock
//! jumps. At the end no acknowledged write may be lost or duplicated, memory must be flat, and every
//! projection must match the log. Exits with 1 otherwise. See `bench/README.md`.

#![expect(clippy::print_stdout, reason = "the report is the output")]

mod node;
mod load;
mod faults;
mod memory;
mod check;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;

use load::{Load, Pace};
use node::Node;

/// Duration of the search for the limit.
const LIMIT_SECS: u64 = 8;
/// Share of the limit that the load uses.
const SHARE: f64 = 0.7;
/// Share of the time at the end without kills, so that one process lives long enough to judge its memory.
const UNDISTURBED: f64 = 0.4;

/// The violations found so far.
type Violations = Vec<String>;

fn main() -> anyhow::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let binary = arguments.next().context("usage: soak BINARY SECONDS [REQUESTS_PER_SECOND]")?;
    let seconds: u64 = arguments.next().context("SECONDS is missing")?.parse()?;
    let rate: Option<f64> = arguments.next().map(|text| text.parse()).transpose()?;
    let rate = match rate {
        Some(rate) => rate,
        None => SHARE * limit(Path::new(&binary))?,
    };
    let found = soak(Path::new(&binary), Duration::from_secs(seconds), rate)?;
    if found.is_empty() {
        println!("\nnothing lost, nothing duplicated, memory flat, projections equal a rebuild");
        return Ok(ExitCode::SUCCESS);
    }
    println!("\n{} violations:", found.len());
    found.iter().take(50).for_each(|violation| println!("- {violation}"));
    Ok(ExitCode::FAILURE)
}

/// Requests per second without pacing.
fn limit(binary: &Path) -> anyhow::Result<f64> {
    let node = Node::start(binary)?;
    let load = Load::new(&node.url);
    load.prepare()?;
    let begun = now();
    load.during(Pace::AsFastAsItGoes, || std::thread::sleep(Duration::from_secs(LIMIT_SECS)));
    let rate = load.requests() as f64 / begun.elapsed().as_secs_f64();
    println!("limit            {rate:8.0} requests/s, in {LIMIT_SECS} s without faults");
    Ok(rate)
}

fn soak(binary: &Path, time: Duration, rate: f64) -> anyhow::Result<Violations> {
    let mut node = Node::start(binary)?;
    let load = Load::new(&node.url);
    load.prepare()?;
    println!(
        "rate             {rate:8.0} requests/s for {} s, {} senders",
        time.as_secs(),
        load::SENDERS
    );
    let mut memory = memory::Samples::default();
    let mut faults = faults::Faults::default();
    let begun = now();
    let injected = load.during(Pace::Rate(rate), || {
        faults.inject(&mut node, &load, &mut memory, begun, time, time.mul_f64(1.0 - UNDISTURBED))
    });
    injected?;
    let secs = begun.elapsed().as_secs_f64();
    println!(
        "served           {:8} requests, {:.0}/s; sent again {}, answered 503 {}",
        load.requests(),
        load.requests() as f64 / secs,
        load.repeated(),
        load.refused()
    );
    println!("faults           {faults}");
    let mut violations = load.unexpected();
    violations.extend(faults.violations());
    violations.extend(memory.judge());
    // Once more, right after the last response.
    node.kill()?;
    node.restart()?;
    violations.extend(check::read_back(&node, &load)?);
    violations.extend(check::rebuild(node)?);
    Ok(violations)
}

/// The only place here that reads the clock.
#[expect(clippy::disallowed_methods, reason = "it runs for a given time")]
fn now() -> Instant {
    Instant::now()
}
