//! Report requests at 10⁴, 10⁵ and 10⁶ reactions.

use serde_json::Value;

use crate::fill;
use crate::server::{Binary, Server, now};
use crate::table::Table;
use crate::table::Target::{None, Under};

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
const REQUESTS: usize = 1000;
const WINDOW: &str = "start=2026-01-01T00:00:00Z&end=2026-12-31T00:00:00Z";
const PERIOD: &str = "/conversations/default/default/feedback/conversations-in-period";

pub(crate) fn measure(binary: &Binary, table: &mut Table) -> anyhow::Result<()> {
    let server = binary.start()?;
    let (mut filled, mut worst) = (0, Vec::new());
    for size in SIZES {
        fill::send(&server, filled, size, 1000, fill::rating)?;
        filled = size;
        worst.push(at_size(&server, size, table)?);
    }
    for (at, name) in NAMES.iter().enumerate() {
        let figures: Vec<f64> = worst.iter().map(|one| one[at]).collect();
        let (low, high) = figures
            .iter()
            .fold((f64::MAX, 0.0_f64), |(low, high), figure| (low.min(*figure), high.max(*figure)));
        table.add(&format!("{name}, largest / smallest median"), high / low, "×", Under(2.0));
    }
    Ok(())
}

const NAMES: [&str; 5] = [
    "period page of 100",
    "period page of 100 with turns",
    "period page of 100, twentieth page",
    "period page of 100, past window, filtered",
    "turns with feedbacks",
];

/// Medians of each report at one size; p99 goes into the table.
fn at_size(server: &Server, size: usize, table: &mut Table) -> anyhow::Result<[f64; 5]> {
    let agent = fill::agent();
    let deep = deep_cursor(&agent, server)?;
    let past = "start=2026-01-01T00:00:00Z&end=2026-01-03T12:00:00Z&origin=user&reaction=not_ok";
    let paths: [Box<dyn Fn(usize) -> String>; 5] = [
        Box::new(|_| format!("{PERIOD}?{WINDOW}")),
        Box::new(|_| format!("{PERIOD}?{WINDOW}&include_turns=true")),
        Box::new(move |_| format!("{PERIOD}?{WINDOW}&cursor={deep}")),
        Box::new(move |_| format!("{PERIOD}?{past}")),
        Box::new(move |n| {
            let conversation = (n * 7919) % (size / 10);
            format!("/conversations/default/default/c{conversation}/turns-with-feedbacks?days=3650")
        }),
    ];
    let mut medians = [0.0; 5];
    for ((path, name), median) in paths.iter().zip(NAMES).zip(&mut medians) {
        let (p50, p99) = ask(&agent, server, path)?;
        *median = p50;
        table.add(&format!("{name}, {size} reactions, p50"), p50, "ms", None);
        table.add(&format!("{name}, {size} reactions, p99"), p99, "ms", Under(10.0));
    }
    Ok(medians)
}

/// The cursor after the nineteenth page, or the last one.
fn deep_cursor(agent: &ureq::Agent, server: &Server) -> anyhow::Result<String> {
    let mut cursor = String::new();
    for _ in 0..19 {
        let url = format!("{}{PERIOD}?{WINDOW}&cursor={cursor}", server.url);
        let page: Value =
            agent.get(url).header("X-API-Key", &server.key).call()?.body_mut().read_json()?;
        match page["next_cursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            Option::None => break,
        }
    }
    Ok(cursor)
}

fn ask(
    agent: &ureq::Agent,
    server: &Server,
    path: &dyn Fn(usize) -> String,
) -> anyhow::Result<(f64, f64)> {
    let mut times = Vec::with_capacity(REQUESTS);
    for n in 0..REQUESTS {
        let url = format!("{}{}", server.url, path(n));
        let begun = now();
        agent.get(url).header("X-API-Key", &server.key).call()?.body_mut().read_to_vec()?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    Ok((times[REQUESTS / 2], times[REQUESTS * 99 / 100]))
}
