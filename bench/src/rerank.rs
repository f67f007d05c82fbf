//! Reranking with many known items, and the cost of a turn with retrieved items.

use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::ensure;
use learn::{CoecRule, Estimator, ItemEvidence, ItemTally, RankTotals, rerank};
use model::Scope;
use serde_json::{Value, json};
use store::{Limits, Store, StoredTally};

use crate::fill;
use crate::server::{Binary, now};
use crate::steady::{percentiles, post};
use crate::table::Table;
use crate::table::Target::{None, Under};

const ENTITIES: usize = 1_000_000;
/// Items per usage report.
const ITEMS_PER_REPORT: usize = 500;
const CALLS: usize = 500;
/// Results per query, and the target p99 in milliseconds.
const SIZES: [(usize, f64); 2] = [(50, 1.0), (1_000, 5.0)];

pub(crate) fn measure(binary: &Binary, table: &mut Table) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("signals.jsonl");
    let mut file = BufWriter::new(File::create(&path)?);
    for report in 0..ENTITIES / ITEMS_PER_REPORT {
        let signals: Vec<Value> = (0..ITEMS_PER_REPORT)
            .map(|n| {
                let signal = if n % 3 == 0 { "used" } else { "ignored" };
                json!({"entity_id": format!("e{}", report * ITEMS_PER_REPORT + n), "signal": signal,
                    "rank": n % 20 + 1})
            })
            .collect();
        let data = json!({"finding": "relevance", "query_id": format!("q{report}"),
            "cluster": report % 1000, "signals": signals});
        let line = json!({"id": format!("r{report}"), "type": "quality", "source": "engine",
            "category": "quality", "timestamp": fill::time(report), "data": data});
        writeln!(file, "{line}")?;
    }
    file.flush()?;
    let begun = now();
    binary.import(folder.path(), &path)?;
    let rate = ENTITIES as f64 / begun.elapsed().as_secs_f64();
    std::fs::remove_file(&path)?;
    table.add("signals on items imported", rate, "/s", None);
    let server = binary.start_in(folder)?;
    let agent = fill::agent();
    for estimator in ["seed", "coec"] {
        for (size, bar) in SIZES {
            let mut times = Vec::with_capacity(CALLS);
            for call in 0..CALLS {
                let result = |n: usize| {
                    let entity = (call * 7919 + n * 104_729) % ENTITIES;
                    json!({"entity_id": format!("e{entity}"), "score": 1.0 / (n + 1) as f64})
                };
                let results: Vec<Value> = (0..size).map(result).collect();
                let body = json!({"query": format!("question {call}"), "results": results,
                    "estimator": estimator});
                let begun = now();
                let answer = post(&agent, &server, "/api/v1/retrieval/rerank", &body)?;
                times.push(begun.elapsed().as_secs_f64() * 1000.0);
                let count = answer["results"].as_array().map_or(0, Vec::len);
                ensure!(count == size, "{count} results");
            }
            let (p50, p99) = percentiles(times);
            let what = format!("rerank {size} results by {estimator}, 10⁶ items known");
            table.add(&format!("{what}, p50"), p50, "ms", None);
            table.add(
                &format!("{what}, p99"),
                p99,
                "ms",
                if size < 1000 { Under(bar) } else { None },
            );
        }
    }
    in_process(&server.stop()?, table)
}

/// Store and arithmetic without HTTP and JSON, which the target of 1,000 results refers to.
fn in_process(folder: &tempfile::TempDir, table: &mut Table) -> anyhow::Result<()> {
    let limits =
        Limits { queue_bytes: 1 << 20, group_writes: 100, readers: 2, ..Limits::default() };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
    let store = runtime.block_on(async { Store::open(folder.path(), limits, [0; 32]) })?;
    let scope = Scope::default();
    for (size, bar) in SIZES {
        let mut times = Vec::with_capacity(CALLS);
        for call in 0..CALLS {
            let entity = |n: usize| format!("e{}", (call * 7919 + n * 104_729) % ENTITIES);
            let entities: Vec<String> = (0..size).map(entity).collect();
            let scores: Vec<f64> = (0..size).map(|n| 1.0 / (n + 1) as f64).collect();
            let begun = now();
            let cluster = Some(call as u64 % 1000);
            let found = runtime.block_on(store.tallies(&scope, cluster, entities))?;
            let known = |index: usize| {
                let counts = |tally: StoredTally| {
                    let StoredTally { used, ignored, positive, negative, returned } = tally;
                    ItemTally { used, ignored, positive, negative, returned }
                };
                let (entity, pair) = found.items[index];
                ItemEvidence { entity: entity.map(counts), pair: pair.map(counts) }
            };
            let mut totals = RankTotals::default();
            for (band, (returned, used)) in found.totals.iter().enumerate() {
                (totals.returned[band], totals.used[band]) = (*returned, *used);
            }
            let examination = totals.estimate_examination();
            let ranked =
                rerank(Estimator::Coec, &CoecRule::default(), &examination, &scores, known);
            times.push(begun.elapsed().as_secs_f64() * 1000.0);
            ensure!(ranked.len() == size, "{} results", ranked.len());
        }
        let (p50, p99) = percentiles(times);
        let what = format!("rerank {size} results by coec in process");
        table.add(&format!("{what}, p50"), p50, "ms", None);
        table.add(&format!("{what}, p99"), p99, "ms", Under(bar));
    }
    runtime.block_on(store.close())?;
    Ok(())
}
