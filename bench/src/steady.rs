//! Open-loop load: requests at a fixed rate, independent of responses.

use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::Value;

use crate::fill;
use crate::server::{Server, now};

pub(crate) fn post(
    agent: &ureq::Agent,
    server: &Server,
    path: &str,
    body: &Value,
) -> anyhow::Result<Value> {
    let request = agent.post(format!("{}{path}", server.url)).header("X-API-Key", &server.key);
    let answer: Value = request.send_json(body)?.body_mut().read_json()?;
    Ok(answer)
}

/// Calls `one` at a fixed rate for some seconds, from several senders. `one` returns when the measured part
/// was done; latency counts from the scheduled time. Returns median and 99th percentile in milliseconds.
pub(crate) fn steadily(
    rate: usize,
    senders: usize,
    seconds: usize,
    one: impl Fn(&ureq::Agent, usize, usize) -> anyhow::Result<Instant> + Sync,
) -> anyhow::Result<(f64, f64)> {
    let begun = now();
    let send = |sender: usize| -> anyhow::Result<Vec<f64>> {
        let agent = fill::agent();
        let mut times = Vec::new();
        for n in (sender..rate * seconds).step_by(senders) {
            let due = begun + Duration::from_secs_f64(n as f64 / rate as f64);
            std::thread::sleep(due.saturating_duration_since(now()));
            let done = one(&agent, sender, n)?;
            times.push(done.saturating_duration_since(due).as_secs_f64() * 1000.0);
        }
        Ok(times)
    };
    let all = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..senders).map(|n| scope.spawn(move || send(n))).collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().ok().context("a sender panicked")??);
        }
        anyhow::Ok(all)
    })?;
    Ok(percentiles(all))
}

pub(crate) fn percentiles(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() * 99 / 100])
}
