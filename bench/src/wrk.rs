//! Runs wrk and parses its output.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use crate::server::Server;

/// Result of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) per_second: f64,
    pub(crate) requests: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) cpu_ms_each: f64,
    /// Bytes that the server wrote to the disk, in KB per request.
    pub(crate) written_kb_each: f64,
}

/// Loads the server for `seconds`. A response other than 2xx is an error.
pub(crate) fn run(
    server: &Server,
    script: &str,
    connections: u32,
    seconds: u32,
) -> anyhow::Result<Load> {
    run_at(&server.url, server, script, connections, seconds)
}

/// The same through another address of the server.
pub(crate) fn run_at(
    url: &str,
    server: &Server,
    script: &str,
    connections: u32,
    seconds: u32,
) -> anyhow::Result<Load> {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("wrk");
    let threads = connections.min(2);
    let (before, written_before) = (server.cpu_seconds()?, server.written_bytes()?);
    let output = Command::new("wrk")
        .args(["--latency", &format!("-t{threads}"), &format!("-c{connections}")])
        .args(["-H", &format!("Authorization: Bearer {}", server.key)])
        .args([&format!("-d{seconds}s"), "--script"])
        .arg(scripts.join(script))
        .arg(url)
        // Scripts load their shared module from here.
        .env("LUA_PATH", scripts.join("?.lua"))
        .output()
        .context("cannot run wrk; is it installed?")?;
    let cpu = server.cpu_seconds()? - before;
    let written = server.written_bytes()? - written_before;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() || text.contains("Non-2xx") || text.contains("Socket errors") {
        bail!("wrk failed:\n{text}{}", String::from_utf8_lossy(&output.stderr));
    }
    let word_after = |label: &str| {
        text.lines().find_map(|line| line.trim().strip_prefix(label)?.split_whitespace().next())
    };
    let requests: f64 = text
        .lines()
        .find_map(|line| line.trim().split_once(" requests in ")?.0.parse().ok())
        .context("wrk counted no requests")?;
    let per_second = word_after("Requests/sec:").and_then(|text| text.parse().ok());
    let latency = |label: &str| word_after(label).and_then(milliseconds);
    Ok(Load {
        per_second: per_second.context("wrk gave no rate")?,
        requests,
        p50_ms: latency("50%").context("wrk gave no median")?,
        p99_ms: latency("99%").context("wrk gave no 99th percentile")?,
        cpu_ms_each: cpu * 1000.0 / requests,
        written_kb_each: written / 1000.0 / requests,
    })
}

/// The best run by rate: other load on the machine only makes it slower.
pub(crate) fn best_of(
    runs: u32,
    server: &Server,
    script: &str,
    connections: u32,
    seconds: u32,
) -> anyhow::Result<Load> {
    let mut best: Option<Load> = None;
    for _ in 0..runs {
        let load = run(server, script, connections, seconds)?;
        if best.is_none_or(|best| load.per_second > best.per_second) {
            best = Some(load);
        }
    }
    best.context("no run was asked for")
}

fn milliseconds(text: &str) -> Option<f64> {
    let (number, scale) = if let Some(number) = text.strip_suffix("us") {
        (number, 0.001)
    } else if let Some(number) = text.strip_suffix("ms") {
        (number, 1.0)
    } else {
        (text.strip_suffix('s')?, 1000.0)
    };
    Some(number.parse::<f64>().ok()? * scale)
}
