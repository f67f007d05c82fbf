//! Cost as a store grows from 10⁴ to 10⁶ turns: a plot per figure, and its growth factor.

use std::path::Path;

use anyhow::Context;

use crate::plot::Curve;
use crate::server::{Binary, Server, now};
use crate::steady::percentiles;
use crate::table::Table;
use crate::table::Target::None;
use crate::{fill, loops, plot, wrk};

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
const REQUESTS: usize = 200;
const YEAR: &str = "start=2026-01-01T00:00:00Z&end=2026-12-31T00:00:00Z";

pub(crate) fn measure(binary: &Binary, table: &mut Table) -> anyhow::Result<()> {
    let (mut folder, mut filled) = (tempfile::tempdir()?, 0);
    let mut curves: Vec<Curve> = Vec::new();
    for size in SIZES {
        loops::import(binary, &folder, filled, size)?;
        filled = size;
        // Background work after the import is done before measuring.
        let server = binary.start_in(folder)?;
        loops::wait_until_complete(&server)?;
        loops::wait_until_settled(&server)?;
        let server = binary.start_in(server.stop()?)?;
        for (name, unit, figure) in at_size(&server, size)? {
            table.add(&format!("{name}, {size} turns"), figure, unit, None);
            match curves.iter_mut().find(|curve| curve.name == name) {
                Some(curve) => curve.points.push((size as f64, figure)),
                Option::None => {
                    curves.push(Curve { name, unit, points: vec![(size as f64, figure)] });
                }
            }
        }
        folder = server.stop()?;
    }
    for curve in &curves {
        let (first, last) = curve.points.first().zip(curve.points.last()).context("no points")?;
        let what = format!("{}, at 10⁶ / at 10⁴ turns", curve.name);
        table.add(&what, last.1 / first.1, "×", None);
    }
    plot::write(&Path::new(env!("CARGO_MANIFEST_DIR")).join("plots"), &curves)
}

type Figure = (&'static str, &'static str, f64);

/// Every figure at one size, after a restart.
fn at_size(server: &Server, size: usize) -> anyhow::Result<Vec<Figure>> {
    let started = server.started_in.as_secs_f64() * 1000.0;
    loops::wait_until_complete(server)?;
    let mut figures = vec![
        ("start to ready", "ms", started),
        ("memory with the index read in", "MB", server.megabytes()?),
        ("disk", "MB", server.data_megabytes()?),
    ];
    let views = [
        ("overview page, p50", "/".to_owned()),
        ("list of conversations, p50", "/conversations".to_owned()),
        ("timeline of a conversation, p50", format!("/conversations/c{}", size / 40)),
        ("turns with feedbacks, p50", turns_of(size / 40)),
        ("quality over a year, p50", format!("/api/v1/feedback/quality/default?{YEAR}&bucket=day")),
    ];
    for (name, path) in views {
        figures.push((name, "ms", median(server, &path)?));
    }
    figures.push(("strategy search, p50", "ms", loops::search(server)?.0));
    let opened = loops::open_steadily(server, size, 0)?;
    figures.push(("turn with context and strategies at 200/s, p50", "ms", opened.0));
    let single = wrk::best_of(3, server, "event.lua", 1, 3)?;
    figures.push(("durable event, 1 connection, p50", "ms", single.p50_ms));
    let turns = wrk::best_of(3, server, "turn.lua", 64, 4)?;
    figures.push(("turn with answer, server CPU each", "ms", turns.cpu_ms_each));
    Ok(figures)
}

fn turns_of(conversation: usize) -> String {
    format!("/conversations/default/default/c{conversation}/turns-with-feedbacks?days=3650")
}

/// Median of repeated identical requests; later ones may be cached.
fn median(server: &Server, path: &str) -> anyhow::Result<f64> {
    let (agent, url) = (fill::agent(), format!("{}{path}", server.url));
    let mut times = Vec::with_capacity(REQUESTS);
    for _ in 0..REQUESTS {
        let begun = now();
        let request = agent.get(&url).header("X-API-Key", &server.key);
        request.call().with_context(|| url.clone())?.body_mut().read_to_vec()?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(percentiles(times).0)
}
