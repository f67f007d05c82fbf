//! Cost of an experiment over a real store: assignment, turns of its units, and results.

#![expect(clippy::disallowed_methods, reason = "this measures time")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::experiment::{ExperimentDefinition, LifecycleAction};
use engine::{
    Detectors, Embedder, Engine, Include, IncomingHalf, IncomingTurn, RawCompletion, RawOpening,
};
use model::{Clock, ExperimentId, Mac, Scope, Timestamp};
use store::{Limits, Store};
use tokio::task::JoinSet;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const CONCURRENCY: usize = 256;
const CALLS: usize = 2_000;
const RESULT_READS: usize = 20;

struct Now;

impl Clock for Now {
    fn now(&self) -> Timestamp {
        let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
        Timestamp::from_micros(since.as_micros() as i64)
    }
}

pub(super) fn measure() -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("uptake-bench-trial-{}", std::process::id()));
    let measured = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()?
        .block_on(measure_in(&folder));
    std::fs::remove_dir_all(&folder)?;
    measured
}

async fn measure_in(folder: &Path) -> anyhow::Result<()> {
    let store = Arc::new(Store::open(folder, Limits::default(), [7; 32])?);
    let (clock, detectors) = (Arc::new(Now), Detectors::default());
    let engine =
        Arc::new(Engine::open(store, clock, [1; 32], detectors, Embedder::default()).await?);
    let id = start(&engine).await?;
    println!("\nover a real store, two guardrails, a payload of 4 kB for each of two variants\n");
    println!(
        "| units | assigned again, one at a time | assigned first, {CONCURRENCY} at a time | a turn of a unit, \
         {CONCURRENCY} at a time | a look (results) |\n|---|---|---|---|---|"
    );
    let (mut units, mut turns) = (0, 0);
    for size in SIZES {
        let first = assign(&engine, &id, units..size).await?;
        units = size;
        let turn = talk(&engine, turns..size).await?;
        turns = size;
        let again = again(&engine, &id, units).await?;
        let look = look(&engine, &id).await?;
        println!(
            "| {size} | {again:.1} µs | {first:.1} µs each | {turn:.0} µs each | {look:.2} ms |"
        );
    }
    Ok(())
}

async fn start(engine: &Engine) -> anyhow::Result<ExperimentId> {
    let payload = serde_json::json!({"prompt": "word ".repeat(800)});
    let definition: ExperimentDefinition = serde_json::from_value(serde_json::json!({
        "name": "x", "unit": "user", "metric": "error_rate",
        "variants": [{"name": "a", "payload": payload}, {"name": "b", "payload": payload}],
        "guardrails": [{"metric": "latency", "limit": 9}, {"metric": "cost", "limit": 1}],
    }))?;
    let (scope, id) = (Scope::default(), Some(ExperimentId::new("x")?));
    let (view, _) =
        engine.experiments.create_experiment(&scope, id, &definition, Mac([1; 16]), None).await?;
    engine.experiments.apply_action(&scope, &view.id, LifecycleAction::Start, None).await?;
    Ok(view.id)
}

/// Microseconds per assignment.
async fn assign(
    engine: &Arc<Engine>,
    id: &ExperimentId,
    units: std::ops::Range<usize>,
) -> anyhow::Result<f64> {
    let count = units.len() as f64;
    let began = Instant::now();
    let mut open = JoinSet::new();
    for unit in units {
        if open.len() >= CONCURRENCY {
            open.join_next().await.transpose()?.transpose()?;
        }
        let (engine, id) = (Arc::clone(engine), id.clone());
        open.spawn(async move {
            engine.experiments.assign(&Scope::default(), &id, &format!("user-{unit}")).await
        });
    }
    while let Some(done) = open.join_next().await {
        done??;
    }
    Ok(micros(began.elapsed()) / count)
}

/// Sends one turn per unit.
async fn talk(engine: &Arc<Engine>, units: std::ops::Range<usize>) -> anyhow::Result<f64> {
    let count = units.len() as f64;
    let began = Instant::now();
    let mut open = JoinSet::new();
    for unit in units {
        if open.len() >= CONCURRENCY {
            open.join_next().await.transpose()?.transpose()?;
        }
        let engine = Arc::clone(engine);
        open.spawn(
            async move { engine.turns.open_turn(&Scope::default(), turn(unit)).await.map(drop) },
        );
    }
    while let Some(done) = open.join_next().await {
        done??;
    }
    Ok(micros(began.elapsed()) / count)
}

fn turn(unit: usize) -> IncomingTurn {
    let opening = RawOpening {
        turn_id: Some(format!("turn-{unit}")),
        conversation_id: Some(format!("conversation-{unit}")),
        user_id: Some(format!("user-{unit}")),
        text: format!("what is {unit}?"),
        ..RawOpening::default()
    };
    let completion = RawCompletion {
        response: Some("this".into()),
        latency_ms: Some((unit % 4_000) as f64),
        cost: Some(0.001),
        ..RawCompletion::default()
    };
    let mac = Mac([2; 16]);
    IncomingTurn {
        opening: IncomingHalf { raw: opening, mac },
        completion: Some(IncomingHalf { raw: completion, mac }),
        key: None,
        include: Include::default(),
        router: None,
    }
}

/// Median call in microseconds.
async fn again(engine: &Engine, id: &ExperimentId, units: usize) -> anyhow::Result<f64> {
    let mut times = Vec::with_capacity(CALLS);
    for call in 0..CALLS {
        let unit = format!("user-{}", call.wrapping_mul(7_919) % units);
        let began = Instant::now();
        engine.experiments.assign(&Scope::default(), id, &unit).await?;
        times.push(micros(began.elapsed()));
    }
    Ok(median(times))
}

/// Median time to compute the results, in milliseconds.
async fn look(engine: &Engine, id: &ExperimentId) -> anyhow::Result<f64> {
    let mut times = Vec::with_capacity(RESULT_READS);
    for _ in 0..RESULT_READS {
        let began = Instant::now();
        engine.experiments.experiment_results(&Scope::default(), id).await?;
        times.push(micros(began.elapsed()) / 1e3);
    }
    Ok(median(times))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
