//! Benchmarks the similarity index: recall, times and memory as it grows.
//!
//! The vectors are those of the questions in `training/corpus`, then mixtures of them. Queries are
//! questions that are never stored. `bench-vectors CORPUS [SIZE...]`.

#![expect(clippy::print_stdout, reason = "the figures are the output")]

mod source;
mod truth;

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use source::{Source, labels};
use store::Stopwatch;
use truth::{NEAREST, Recall, Truth, nearest, tiers};
use vector_index::{Filter, Found, Index, encode};

const QUERIES: usize = 400;
const CHUNK: usize = 10_000;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let corpus = arguments.next().context("usage: bench-vectors CORPUS [SIZE...]")?;
    let mut sizes: Vec<usize> = arguments.map(|size| size.parse()).collect::<Result<_, _>>()?;
    if sizes.is_empty() {
        sizes = vec![20_000, 100_000, 1_000_000];
    }
    let source = Source::read(Path::new(&corpus), QUERIES)?;
    let (questions, dims) = (source.texts.len(), source.dims());
    println!("{questions} questions, {QUERIES} queries, {dims} dimensions\n");
    println!(
        "| vectors | recall@10 | worst tier | p50 ms | p99 ms | one user's: recall | p50 ms | p99 ms \
         | insert µs | memory MB | of it counted |\n{}|",
        "|---".repeat(11)
    );
    let mut run = Run::new(&source);
    for size in sizes {
        run.grow_to(size)?;
        run.report()?;
    }
    run.reload()
}

/// A growing index with exact search results.
struct Run<'a> {
    source: &'a Source,
    index: Index,
    filled: usize,
    truths: Vec<Truth>,
    before_mb: f64,
    insert: Duration,
}

impl<'a> Run<'a> {
    fn new(source: &'a Source) -> Self {
        Self {
            source,
            index: Index::new(source.dims()),
            filled: 0,
            truths: (0..source.queries.len()).map(Truth::new).collect(),
            before_mb: 0.0,
            insert: Duration::ZERO,
        }
    }

    fn grow_to(&mut self, size: usize) -> anyhow::Result<()> {
        while self.filled < size {
            let end = (self.filled + CHUNK).min(size);
            let vectors: Vec<_> = (self.filled..end).map(|at| self.source.vector(at)).collect();
            if self.filled == 0 {
                self.before_mb = memory_mb("VmRSS:")?;
            }
            let watch = Stopwatch::start();
            for (at, vector) in (self.filled..end).zip(&vectors) {
                anyhow::ensure!(self.index.insert(at as i64, vector, labels(at)));
            }
            self.insert = watch.elapsed() / (end - self.filled) as u32;
            for (truth, query) in self.truths.iter_mut().zip(&self.source.queries) {
                truth.extend(query, self.filled, &vectors);
            }
            self.filled = end;
        }
        Ok(())
    }

    fn report(&self) -> anyhow::Result<()> {
        let (found, times) = self.search(|_| Filter::default());
        let (own, own_times) = self.search(|truth| Filter { user: Some(truth.user), intent: None });
        let (mut merged, mut of_user) = (Recall::default(), Recall::default());
        let mut of_tiers: [Recall; 3] = Default::default();
        for ((found, own), truth) in found.into_iter().zip(own).zip(&self.truths) {
            let found = tiers(found);
            merged.add(&nearest(&found), &nearest(&truth.all));
            for tier in 0..3 {
                of_tiers[tier].add(&found[tier], &truth.all[tier]);
            }
            of_user.add(&nearest(&tiers(own)), &nearest(&truth.own));
        }
        let worst = of_tiers.iter().map(Recall::share).fold(1.0, f64::min);
        println!(
            "| {} | {:.4} | {worst:.4} | {:.2} | {:.2} | {:.4} | {:.2} | {:.2} \
             | {:.2} | {:.0} | {:.0} |",
            self.filled,
            merged.share(),
            quantile_ms(&times, 0.5),
            quantile_ms(&times, 0.99),
            of_user.share(),
            quantile_ms(&own_times, 0.5),
            quantile_ms(&own_times, 0.99),
            self.insert.as_secs_f64() * 1e6,
            memory_mb("VmRSS:")? - self.before_mb,
            self.index.bytes() as f64 / 1e6,
        );
        Ok(())
    }

    /// Results of each query, and the sorted times of several searches each.
    fn search(&self, filter: impl Fn(&Truth) -> Filter) -> (Vec<Found>, Vec<Duration>) {
        let mut times = Vec::new();
        let mut found = Vec::new();
        for _ in 0..5 {
            found.clear();
            for (query, truth) in self.source.queries.iter().zip(&self.truths) {
                let watch = Stopwatch::start();
                found.push(self.index.search(query, NEAREST, -1.0, filter(truth)));
                times.push(watch.elapsed());
            }
        }
        times.sort();
        (found, times)
    }

    /// Loads packed vectors as at a start, then removes everything.
    fn reload(&self) -> anyhow::Result<()> {
        let mut index = Index::new(self.source.dims());
        let mut loading = Duration::ZERO;
        for at in 0..self.filled {
            let packed = encode(&self.source.vector(at));
            let watch = Stopwatch::start();
            anyhow::ensure!(index.insert_packed(at as i64, &packed, labels(at)));
            loading += watch.elapsed();
        }
        println!("\nloading {} packed vectors: {loading:.2?}", index.len());
        let watch = Stopwatch::start();
        for at in 0..self.filled {
            index.remove(at as i64);
        }
        println!("removing them: {:.2?}", watch.elapsed());
        Ok(())
    }
}

fn quantile_ms(sorted: &[Duration], share: f64) -> f64 {
    let at = (sorted.len() as f64 * share) as usize;
    sorted.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

/// A line of /proc/self/status.
fn memory_mb(line: &str) -> anyhow::Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let found = status.lines().find_map(|known| known.strip_prefix(line));
    let kib = found.and_then(|rest| rest.split_whitespace().next()).context("no such line")?;
    Ok(kib.parse::<f64>()? * 1_024.0 / 1e6)
}
