//! The conversation loop at 10⁵ and 10⁶ stored turns: opening turns with context and strategies at a
//! fixed rate, strategy search, memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fill;
use crate::server::{Binary, Server, now};
use crate::steady::{percentiles, post, steadily};
use crate::table::Table;
use crate::table::Target::{None, Under};

/// Turns, target p99 of opening a turn and of a search in milliseconds, target memory in megabytes.
const SIZES: [(usize, f64, f64, f64); 2] =
    [(100_000, 10.0, 3.0, 150.0), (1_000_000, 20.0, 8.0, 450.0)];
const SEARCHES: usize = 500;
/// Turns opened per second, by this many senders, for this many seconds.
const RATE: usize = 200;
const SENDERS: usize = 8;
const SECONDS: usize = 15;
const RUNS: usize = 3;

pub(crate) fn measure(binary: &Binary, table: &mut Table) -> anyhow::Result<()> {
    let (mut folder, mut filled) = (tempfile::tempdir()?, 0);
    for (size, open_ms, search_ms, megabytes) in SIZES {
        let begun = now();
        import(binary, &folder, filled, size)?;
        let rate = (size - filled) as f64 / begun.elapsed().as_secs_f64();
        filled = size;
        table.add(&format!("turns imported, up to {size}"), rate, "/s", None);
        let server = binary.start_in(folder)?;
        let waited = wait_until_complete(&server)?;
        table.add(&format!("index read in after start, {size} turns"), waited, "s", None);
        let settled = wait_until_settled(&server)?;
        table.add(&format!("sessions of the import ended, {size} turns"), settled, "s", None);
        let what = format!("memory with the index read in, {size} turns");
        table.add(&what, server.megabytes()?, "MB", Under(megabytes));
        let (p50, p99) = search(&server)?;
        table.add(&format!("strategy search, {size} turns, p50"), p50, "ms", None);
        table.add(&format!("strategy search, {size} turns, p99"), p99, "ms", Under(search_ms));
        figures(&server, size, table)?;
        let what = format!("turn with context and strategies at {RATE}/s, {size} turns");
        let mut opened = Vec::new();
        for run in 0..RUNS {
            opened.push(open_steadily(&server, size, run)?);
        }
        let least = |figures: &mut dyn Iterator<Item = f64>| figures.fold(f64::INFINITY, f64::min);
        let p50 = least(&mut opened.iter().map(|(p50, _)| *p50));
        table.add(&format!("{what}, p50"), p50, "ms", None);
        let p99 = least(&mut opened.iter().map(|(_, p99)| *p99));
        table.add(&format!("{what}, p99, best of {RUNS}"), p99, "ms", Under(open_ms));
        let worst = opened.iter().fold(0.0, |worst: f64, (_, p99)| worst.max(*p99));
        table.add(&format!("{what}, p99, worst of {RUNS}"), worst, "ms", None);
        let what = format!("memory after that, {size} turns");
        table.add(&what, server.megabytes()?, "MB", Under(megabytes));
        folder = server.stop()?;
    }
    Ok(())
}

/// Quality metrics over the whole year, and insights with failure patterns.
fn figures(server: &Server, size: usize, table: &mut Table) -> anyhow::Result<()> {
    let agent = fill::agent();
    for (name, bucket) in [("quality", "&bucket=day"), ("insights", "")] {
        let year = "start=2026-01-01T00:00:00Z&end=2026-12-31T00:00:00Z";
        let url = format!("{}/api/v1/feedback/{name}/default?{year}{bucket}", server.url);
        let mut times = Vec::with_capacity(SEARCHES);
        for _ in 0..SEARCHES {
            let begun = now();
            agent.get(&url).header("X-API-Key", &server.key).call()?.body_mut().read_to_vec()?;
            times.push(begun.elapsed().as_secs_f64() * 1000.0);
        }
        // The first request computes the patterns; later ones use the cache.
        table.add(&format!("{name}, {size} turns, first"), times[0], "ms", None);
        let (p50, p99) = percentiles(times.split_off(1));
        table.add(&format!("{name}, {size} turns, p50"), p50, "ms", None);
        table.add(&format!("{name}, {size} turns, p99"), p99, "ms", Under(20.0));
    }
    Ok(())
}

const ACTIONS: [&str; 12] = [
    "How do I repair",
    "Where can I buy",
    "What does it cost to rent",
    "Compare prices of",
    "Show me last year's sales of",
    "Write a short text about",
    "Which customers returned",
    "Explain the warranty of",
    "Draw a chart of the stock of",
    "Translate the manual of",
    "Find the best alternative to",
    "Summarise the complaints about",
];
const THINGS: [&str; 20] = [
    "gaming laptops",
    "garden hoses",
    "electric bicycles",
    "wedding dresses",
    "office chairs",
    "coffee machines",
    "mountain boots",
    "solar panels",
    "baby strollers",
    "kitchen knives",
    "acoustic guitars",
    "running shoes",
    "winter tyres",
    "fish tanks",
    "board games",
    "power drills",
    "hiking tents",
    "desk lamps",
    "violin strings",
    "rain jackets",
];
const PLACES: [&str; 15] = [
    "in Berlin",
    "in the north region",
    "for beginners",
    "under 1000 dollars",
    "for small offices",
    "in the second quarter",
    "from Japan",
    "made of steel",
    "for two people",
    "in March",
    "with free delivery",
    "for children",
    "in the capital of Peru",
    "older than five years",
    "by their weight",
];

/// A question: 3,600 kinds, each with its own numbers.
fn question(n: usize) -> String {
    let mixed = n.wrapping_mul(2_654_435_761) >> 7;
    let action = ACTIONS[mixed % ACTIONS.len()];
    let thing = THINGS[mixed / 12 % THINGS.len()];
    let place = PLACES[mixed / 240 % PLACES.len()];
    format!("{action} {thing} {place}, item {}?", n % 9973)
}

/// Both events of a turn in the format of `uptake export`: twenty turns per conversation. They
/// arrived at `received_at`, or now.
pub(crate) fn write_turn(
    file: &mut impl Write,
    n: usize,
    received_at: Option<&str>,
) -> std::io::Result<()> {
    let (turn, conversation, user) =
        (format!("t{n}"), format!("c{}", n / 20), format!("u{}", n / 20 % 20_000));
    let ts = fill::time(n);
    let mut event = |phase: &str, data: Value| {
        let line = json!({"id": format!("{phase}-{n}"), "type": "query", "source": "turn",
            "category": "quality", "session_id": conversation, "message_id": turn,
            "user_id": user, "timestamp": ts, "received_at": received_at, "data": data});
        writeln!(file, "{line}")
    };
    event("opened", json!({"phase": "opened", "text": question(n)}))?;
    event(
        "completed",
        json!({"phase": "completed", "response": "Here is what I found: three that fit, and one \
            that nearly does. The first is the cheapest, the second the lightest.",
            "status": "success", "quality_score": (n % 10) as f64 / 10.0,
            "strategy": {"name": format!("strategy_{}", n % 17), "params": {"query": question(n)}}}),
    )
}

pub(crate) fn import(
    binary: &Binary,
    folder: &TempDir,
    from: usize,
    to: usize,
) -> anyhow::Result<()> {
    let path = folder.path().join("turns.jsonl");
    let mut file = BufWriter::new(File::create(&path)?);
    for n in from..to {
        write_turn(&mut file, n, Option::None)?;
    }
    file.flush()?;
    binary.import(folder.path(), &path)?;
    std::fs::remove_file(Path::new(&path))?;
    Ok(())
}

/// Seconds until the index is loaded.
pub(crate) fn wait_until_complete(server: &Server) -> anyhow::Result<f64> {
    let (agent, begun) = (fill::agent(), now());
    while begun.elapsed() < Duration::from_secs(120) {
        let body = json!({"query": question(1)});
        let found = post(&agent, server, "/api/v1/strategies/search", &body)?;
        if found["search"]["complete"] == true {
            return Ok(begun.elapsed().as_secs_f64());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    bail!("the index was not loaded within two minutes")
}

/// Seconds until the log stops growing: all imported sessions are old, and the background sweep ends them.
pub(crate) fn wait_until_settled(server: &Server) -> anyhow::Result<f64> {
    let (agent, begun) = (fill::agent(), now());
    let position = || -> anyhow::Result<String> {
        let request = agent.get(format!("{}/metrics", server.url));
        let page = request.header("X-API-Key", &server.key).call()?.body_mut().read_to_string()?;
        let line = page.lines().find(|line| line.starts_with("uptake_log_position"));
        Ok(line.context("no position")?.to_owned())
    };
    let mut last = position()?;
    while begun.elapsed() < Duration::from_secs(600) {
        std::thread::sleep(Duration::from_secs(3));
        let next = position()?;
        if next == last {
            return Ok(begun.elapsed().as_secs_f64() - 3.0);
        }
        last = next;
    }
    bail!("the log still grew after ten minutes")
}

pub(crate) fn search(server: &Server) -> anyhow::Result<(f64, f64)> {
    let agent = fill::agent();
    let mut times = Vec::with_capacity(SEARCHES);
    for n in 0..SEARCHES {
        let body = json!({"query": question(n * 7919 + 3), "include_rejected": true});
        let begun = now();
        let found = post(&agent, server, "/api/v1/strategies/search", &body)?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
        ensure!(found["strategies"].as_array().is_some_and(|all| all.len() == 5), "{found}");
    }
    Ok(percentiles(times))
}

/// Opens turns at a fixed rate and completes each. Latency counts from the scheduled time. Every run uses
/// its own conversations.
pub(crate) fn open_steadily(
    server: &Server,
    size: usize,
    run: usize,
) -> anyhow::Result<(f64, f64)> {
    steadily(RATE, SENDERS, SECONDS, |agent, sender, n| {
        // Forty conversations per sender, ten turns each; every third message is a complaint.
        let conversation = format!("live-{run}-{sender}-{}", n / SENDERS % 40);
        let text = match n / SENDERS / 40 % 3 {
            2 => "No, that is wrong, I meant something else, not this".to_owned(),
            _ => question(n * 31),
        };
        let body = json!({"conversation_id": conversation, "user_id": conversation, "text": text,
            "include": ["context", "strategies"]});
        let opened = post(agent, server, "/api/v1/turns", &body)?;
        let done = now();
        let turn = opened["turn_id"].as_str().context("no turn id")?;
        ensure!(opened["context"]["markdown"].is_string(), "{opened}");
        let answer = json!({"response": "Here is what I found: three that fit.", "latency_ms": 800,
            "strategy": {"name": "live", "params": {"size": size}}});
        post(agent, server, &format!("/api/v1/turns/{turn}/complete"), &answer)?;
        Ok(done)
    })
}
