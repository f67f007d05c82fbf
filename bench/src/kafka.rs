//! Lag of Kafka publishing under load. Needs a binary with the feature `scaled`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use testkit::servers::{Kafka, Postgres};

use crate::fill;
use crate::server::{Binary, Server, now};
use crate::steady::{post, steadily};
use crate::table::Table;
use crate::table::Target::{None, Under};
use crate::wrk;

const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

pub(crate) fn measure(binary: &Binary, table: &mut Table) -> anyhow::Result<()> {
    let kafka = Kafka::start()?;
    let postgres = Postgres::start()?;
    let database = postgres.database()?;
    for (engine, address) in [("SQLite", ""), ("Postgres", database.url())] {
        let prefix = kafka.prefix();
        let settings = [
            ("UPTAKE__KAFKA__BROKERS", kafka.bootstrap()),
            ("UPTAKE__KAFKA__PREFIX", &prefix),
            ("UPTAKE__STORE__POSTGRES", address),
        ];
        let server = binary.start_with(&settings)?;
        measure_on(engine, &server, table)?;
    }
    Ok(())
}

fn measure_on(engine: &str, server: &Server, table: &mut Table) -> anyhow::Result<()> {
    wrk::run(server, "event.lua", 64, 2)?; // warm up, and the topics are made
    watched(server, || Ok(()))?;
    let steady = |rate: usize| {
        watched(server, || {
            steadily(rate, 8, 10, |agent, _, n| {
                post(agent, server, "/api/v1/feedback", &serde_json::from_str(&fill::metric(n))?)?;
                Ok(now())
            })
        })
    };
    let (_, lag) = steady(1000)?;
    let what = format!("{engine}: single events at 1 000/s, worst lag of Kafka");
    table.add(&what, lag.worst_seconds, "s", Under(1.0));
    let (load, lag) = watched(server, || wrk::run(server, "event.lua", 64, 10))?;
    let what = format!("{engine}: single events, 64 connections, with Kafka");
    table.add(&what, load.per_second, "/s", None);
    table.add(&format!("{what}, worst lag"), lag.worst_seconds, "s", Under(1.0));
    table.add(&format!("{what}, until it is gone"), lag.drained_in, "s", None);
    let sent = 100_000;
    let (took, lag) =
        watched(server, || fill::send(server, 1_000_000, 1_000_000 + sent, 1000, fill::rating))?;
    let what = format!("{engine}: ratings in batches of 1 000, with Kafka");
    table.add(&what, sent as f64 / took.as_secs_f64(), "/s", None);
    table.add(&format!("{what}, worst lag"), lag.worst_seconds, "s", Under(1.0));
    table.add(&format!("{what}, until it is gone"), lag.drained_in, "s", None);
    table.add(&format!("{engine}: memory afterwards"), server.megabytes()?, "MB", None);
    Ok(())
}

/// Events that are not published yet.
struct Lag {
    worst_seconds: f64,
    /// Time to publish everything after the last event.
    drained_in: f64,
}

fn watched<T>(
    server: &Server,
    work: impl FnOnce() -> anyhow::Result<T>,
) -> anyhow::Result<(T, Lag)> {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| -> anyhow::Result<Lag> {
            let (mut worst_seconds, mut ended) = (0.0_f64, Option::None);
            loop {
                let events = metric(server, "uptake_kafka_lag_events")?;
                let seconds = metric(server, "uptake_kafka_lag_seconds")?;
                worst_seconds = worst_seconds.max(seconds.unwrap_or(0.0));
                if done.load(Ordering::SeqCst) {
                    let ended = *ended.get_or_insert_with(now);
                    if events == Some(0.0) {
                        let drained_in = ended.elapsed().as_secs_f64();
                        return Ok(Lag { worst_seconds, drained_in });
                    }
                }
                std::thread::sleep(BETWEEN_LOOKS);
            }
        });
        let result = work();
        done.store(true, Ordering::SeqCst);
        let lag = watching.join().ok().context("the watcher panicked")??;
        Ok((result?, lag))
    })
}

/// `None` before this node has requested the lease.
fn metric(server: &Server, name: &str) -> anyhow::Result<Option<f64>> {
    let request = fill::agent().get(format!("{}/metrics", server.url));
    let page = request.header("X-API-Key", &server.key).call()?.body_mut().read_to_string()?;
    let value = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    Ok(value.map(str::parse).transpose()?)
}
