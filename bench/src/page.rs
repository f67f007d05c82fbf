//! The web pages at 10⁶ events: server time per view, transferred bytes, first paint, and the time to load
//! demo data.

mod crowd;
mod paint;
mod weight;

use std::time::Duration;

use anyhow::{bail, ensure};

use crate::fill;
use crate::loops::wait_until_settled;
use crate::server::{Binary, Server, now};
use crate::steady::percentiles;
use crate::table::Table;
use crate::table::Target::{None, Under};

const EVENTS: usize = 1_000_000;
const REQUESTS: usize = 100;
/// Number of demo loads; the fastest is reported.
const LOADS: usize = 3;

/// The views. The conversation is one of the crowd's.
const VIEWS: [&str; 17] = [
    "/",
    "/?days=1",
    "/?days=7",
    "/?days=90",
    "/conversations",
    "/conversations?order=worst",
    "/conversations?q=the",
    "/conversations?q=revenue+region&show=rejected",
    "/conversations?q=revenue+by+region+in+march&by=meaning",
    "/conversations/demo-conversation-0700-4",
    "/failures",
    "/routing",
    "/retrieval",
    "/experiments",
    "/data",
    "/system",
    "/help",
];

pub(crate) fn measure(binary: &Binary, table: &mut Table) -> anyhow::Result<()> {
    let month = demo(binary, table)?;
    let (folder, count) = crowd::fill(binary, month.path(), EVENTS)?;
    table.add("page: events in the store", count as f64, "", None);
    let server = binary.start_in(folder)?;
    wait_until_settled(&server)?;
    let agent = fill::agent();
    // A first visit to each view, without caches.
    let mut firsts = Vec::new();
    for view in VIEWS {
        firsts.push(ask(&agent, &server, view)?.0);
    }
    let waited = wait_for_patterns(&agent, &server)?;
    table.add("page: patterns of failures looked for beside requests", waited, "s", None);
    for (view, first) in VIEWS.into_iter().zip(firsts) {
        one_view(&agent, &server, (view, first), table)?;
    }
    weight::widget(&agent, &server, table)?;
    paint::measure(&server, &VIEWS, table)
}

fn one_view(
    agent: &ureq::Agent,
    server: &Server,
    (view, first): (&str, f64),
    table: &mut Table,
) -> anyhow::Result<()> {
    let mut times = Vec::with_capacity(REQUESTS);
    let mut page = String::new();
    let before = server.cpu_seconds()?;
    for _ in 0..REQUESTS {
        let (took, body) = ask(agent, server, view)?;
        times.push(took);
        page = body;
    }
    // CPU time of the server, independent of other load on the machine.
    let cpu = (server.cpu_seconds()? - before) * 1000.0 / REQUESTS as f64;
    let (p50, p99) = percentiles(times);
    table.add(&format!("page {view}, server CPU each"), cpu, "ms", Under(50.0));
    table.add(&format!("page {view}, first request"), first, "ms", None);
    table.add(&format!("page {view}, p50"), p50, "ms", None);
    table.add(&format!("page {view}, p99"), p99, "ms", Under(50.0));
    weight::page(agent, server, (view, &page), table)
}

/// A view and its milliseconds.
fn ask(agent: &ureq::Agent, server: &Server, view: &str) -> anyhow::Result<(f64, String)> {
    let request = agent.get(format!("{}{view}", server.url)).header("X-API-Key", &server.key);
    let begun = now();
    let body = request.call()?.body_mut().read_to_string()?;
    let took = begun.elapsed().as_secs_f64() * 1000.0;
    ensure!(body.contains("<h1"), "{view} is no page");
    Ok((took, body))
}

/// Seconds until the page shows patterns.
fn wait_for_patterns(agent: &ureq::Agent, server: &Server) -> anyhow::Result<f64> {
    let begun = now();
    while begun.elapsed() < Duration::from_secs(120) {
        if ask(agent, server, "/failures")?.1.contains("class=\"card pattern\"") {
            return Ok(begun.elapsed().as_secs_f64());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    bail!("no patterns within two minutes")
}

/// Loads demo data into empty folders, and returns one of them.
fn demo(binary: &Binary, table: &mut Table) -> anyhow::Result<tempfile::TempDir> {
    let (mut best, mut last) = (f64::MAX, tempfile::tempdir()?);
    for _ in 0..LOADS {
        last = tempfile::tempdir()?;
        let begun = now();
        let done = binary.command(&["demo", "--data"]).arg(last.path()).output()?;
        ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        best = best.min(begun.elapsed().as_secs_f64());
    }
    table.add(&format!("demo data loaded, best of {LOADS}"), best, "s", Under(5.0));
    Ok(last)
}
