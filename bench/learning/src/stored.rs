//! Learning requests over a real store, disk included.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{
    Detectors, Embedder, Engine, ExampleSearch, PreferenceEncoding, PreferenceQuery,
    PreferenceRequest,
};
use model::{
    Body, Change, Clock, ConversationId, Event, EventId, Kind, Scope, Source, Timestamp,
    TurnChange, TurnId, Type, Write,
};
use serde_json::{Value, json};
use store::{Limits, Store};

const CONVERSATIONS: usize = 50_000;
const CONCURRENCY: usize = 500;
const CALLS: usize = 500;

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(1_800_000_000_000_000)
    }
}

pub(crate) fn measure() -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("uptake-bench-stored-{}", std::process::id()));
    let measured = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()?
        .block_on(measure_in(&folder));
    std::fs::remove_dir_all(&folder)?;
    measured
}

async fn measure_in(folder: &Path) -> anyhow::Result<()> {
    let store = Arc::new(Store::open(folder, Limits::default(), [7; 32])?);
    fill(&store).await?;
    let (clock, detectors) = (Arc::new(Still), Detectors::default());
    let engine = Engine::open(store, clock, [1; 32], detectors, Embedder::default()).await?;
    println!("\na store of {CONVERSATIONS} conversations of two turns, one of them corrected\n");
    examples(&engine).await?;
    println!(
        "\n| shape | rows | JSONL rows/s | MB | Parquet rows/s | MB |\n|---|---|---|---|---|---|"
    );
    for format in ["dpo", "kto", "sft", "reward", "openai_dpo"] {
        let (lines, megabytes) = export(&engine, format, PreferenceEncoding::Jsonl).await?;
        let (columns, packed) = export(&engine, format, PreferenceEncoding::Parquet).await?;
        let rows = lines.0;
        println!(
            "| {format} | {rows} | {:.0} | {megabytes:.1} | {:.0} | {packed:.1} |",
            rows as f64 / lines.1.as_secs_f64(),
            rows as f64 / columns.1.as_secs_f64()
        );
    }
    println!();
    Ok(engine.close().await?)
}

async fn export(
    engine: &Engine,
    format: &str,
    encoding: PreferenceEncoding,
) -> anyhow::Result<((u64, Duration), f64)> {
    let wish =
        PreferenceRequest { format: Some(format.into()), encoding, ..PreferenceRequest::default() };
    let start = started();
    let mut export =
        engine.training_data.preferences(&Scope::default(), PreferenceQuery::parse(wish)?);
    let mut bytes = 0;
    while let Some(part) = export.next().await? {
        bytes += part.len();
    }
    let rows = export.tally().rows.values().sum();
    Ok(((rows, start.elapsed()), bytes as f64 / 1e6))
}

async fn examples(engine: &Engine) -> anyhow::Result<()> {
    let ask = |n: usize| ExampleSearch {
        query: format!("please show sales of article {n} in shop {}", n % 97),
        ..ExampleSearch::default()
    };
    let start = started();
    let found = engine.training_data.examples(&Scope::default(), ask(0)).await?;
    anyhow::ensure!(found.len() == 3, "three examples");
    let first = start.elapsed().as_secs_f64();
    let mut times = Vec::with_capacity(CALLS);
    for n in 0..CALLS {
        let start = started();
        engine.training_data.examples(&Scope::default(), ask(n * 7)).await?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    println!("| examples of | first call s | p50 ms | p99 ms |\n|---|---|---|---|");
    println!(
        "| {CONVERSATIONS} | {first:.1} | {:.2} | {:.2} |",
        times[CALLS / 2],
        times[CALLS * 99 / 100]
    );
    Ok(())
}

async fn fill(store: &Store) -> anyhow::Result<()> {
    let mut writes = Vec::new();
    for n in 0..CONVERSATIONS {
        writes.extend(conversation(n)?);
        if writes.len() >= CONCURRENCY {
            store.commit(std::mem::take(&mut writes)).await?;
        }
    }
    store.commit(writes).await?;
    Ok(())
}

fn conversation(n: usize) -> anyhow::Result<Vec<Write>> {
    let answer = "The figures come from the orders. ".repeat(11);
    let question = format!("Show the sales of article {n} in shop {}", n % 97);
    let (first, second) = (format!("t{n}"), format!("s{n}"));
    let turn = Kind { event_type: Type::Query, source: Source::Turn };
    let corrected = Kind { event_type: Type::Explicit, source: Source::UserCorrection };
    let opened = |text: &str| json!({"phase": "opened", "text": text});
    let completed = json!({"phase": "completed", "response": answer, "status": "success"});
    let rows = [
        (&first, turn, opened("Which tables are there?")),
        (&first, turn, completed.clone()),
        (&second, turn, opened(&question)),
        (&second, turn, completed),
        (
            &second,
            corrected,
            json!({"corrected": format!("SELECT sum(x) FROM sales WHERE article = {n}")}),
        ),
    ];
    let write =
        |(at, (turn, kind, data)): (usize, (&String, Kind, Value))| write(n, at, turn, kind, &data);
    rows.into_iter().enumerate().map(write).collect()
}

fn write(n: usize, at: usize, turn: &str, kind: Kind, data: &Value) -> anyhow::Result<Write> {
    let ts = Timestamp::from_micros(1_700_000_000_000_000).plus_secs((n * 10 + at) as i64);
    let body = Body::read(kind, data.as_object().cloned().unwrap_or_default())?;
    let id = EventId::new(format!("e{n}-{at}"))?;
    let event = Event {
        conversation: Some(ConversationId::new(format!("c{n}"))?),
        turn: Some(TurnId::new(turn)?),
        ..Event::new(Scope::default(), id, (kind, model::Category::Quality), ts, body)
    };
    let mut changes = event.changes();
    if let Some(opening) = event.body.opening() {
        let vector = embed::built_in().embed(&opening.text);
        changes.push(Change::Turn(TurnChange::SetVector(vector)));
    }
    Ok(Write::new(model::Redacted::assert_no_user_text(event), changes))
}

#[expect(clippy::disallowed_methods, reason = "measuring is what this is for")]
fn started() -> Instant {
    Instant::now()
}
