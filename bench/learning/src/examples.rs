//! Cost of selecting three examples out of many, and a useful similarity threshold.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use learn::{
    ExampleOffer, ExamplePool, ExampleQuery, ExampleSource, MAX_NEAR_QUESTIONS, NearQuestion,
    QuestionKey, estimate_tokens, select_examples,
};
use model::{Timestamp, dot};
use vector_index::{Filter, Index, Labels};

use crate::clinc;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const CALLS: usize = 1_000;
const ROUNDS: usize = 5;
const BUDGET_MS: f64 = 2.0;
/// One question out of this many is queried and never stored.
const HELD_OUT: usize = 10;

struct Question {
    text: String,
    intent: String,
}

pub(crate) fn measure(data: &Path) -> anyhow::Result<()> {
    let question = |(text, intent)| Question { text, intent };
    let questions: Vec<Question> = clinc::read(data)?.into_iter().map(question).collect();
    cost(&questions)?;
    floors(&questions);
    Ok(())
}

/// A pool with the index of its questions, as a server keeps them.
struct Kept {
    pool: ExamplePool<u64>,
    index: Index,
}

impl Kept {
    fn put(&mut self, at: usize, text: &str, vector: &[f32]) -> anyhow::Result<()> {
        let question = QuestionKey::from_text(text).context("a question without words")?;
        let id = format!("turn_{at}");
        let effect = self.pool.insert(ExampleOffer {
            question,
            source: ExampleSource::Accepted,
            turn: &id,
            id: &id,
            rating: None,
            when: Timestamp::from_micros(at as i64),
            tokens: estimate_tokens(text) + 100,
            payload: at as u64,
        });
        if let Some(entered) = effect.added {
            let put = self.index.insert(entered.as_i64(), vector, Labels::default());
            anyhow::ensure!(put, "a vector of another length");
        }
        Ok(())
    }

    /// From the query text to the examples, without reading their texts.
    fn ask(&self, query: &str) -> usize {
        let vector = embed::built_in().embed(query);
        let found = self.index.search(
            vector.values(),
            MAX_NEAR_QUESTIONS,
            learn::SIMILARITY_FLOOR,
            Filter::default(),
        );
        let near = found.neutral.into_iter().filter_map(|near| {
            let question = QuestionKey::from_i64(near.key);
            let vector = self.index.vector(near.key)?;
            Some(NearQuestion { question, similarity: near.similarity, vector })
        });
        let asked = ExampleQuery {
            query,
            vector: vector.values(),
            k: 3,
            max_tokens: None,
            diversity: 0.3,
            excluded: &[],
        };
        select_examples(&self.pool, &asked, near.collect()).len()
    }
}

/// The questions, followed by mixtures of two of them, since there are not enough real ones.
fn source(questions: &[Question], at: usize) -> (String, Vec<f32>) {
    let of = |at: usize| &questions[at % questions.len()].text;
    let vector = |text: &str| embed::built_in().embed(text).values().to_vec();
    if at < questions.len() {
        return (of(at).clone(), vector(of(at)));
    }
    let (one, other) = (of(at), of(at * 7_919 + at / questions.len()));
    let (a, b) = (vector(one), vector(other));
    (format!("{one} {other} {at}"), a.iter().zip(&b).map(|(x, y)| 0.8 * x + 0.6 * y).collect())
}

fn cost(questions: &[Question]) -> anyhow::Result<()> {
    println!("\nload average: {}", fs::read_to_string("/proc/loadavg")?.trim());
    println!(
        "\n| pairs | p50 ms | p99 ms | budget | p99 ms of the middle round | over budget for being off the core | put µs | memory MB | bytes a pair |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let (asked, put) = questions.split_at(questions.len() / HELD_OUT);
    for size in SIZES {
        let sources: Vec<(String, Vec<f32>)> = (0..size).map(|at| source(put, at)).collect();
        let before = resident_mb()?;
        let mut kept = Kept { pool: ExamplePool::default(), index: Index::new(sources[0].1.len()) };
        let start = started();
        for (at, (text, vector)) in sources.iter().enumerate() {
            kept.put(at, text, vector)?;
        }
        let put_us = start.elapsed().as_secs_f64() * 1e6 / size as f64;
        let memory = resident_mb()? - before;
        let Rounds { p50, p99, usual, slow, interrupted } =
            rounds(|at| kept.ask(&asked[at % asked.len()].text));
        let held = if p99 < BUDGET_MS { "held" } else { "**missed**" };
        let each = memory * 1e6 / size as f64;
        println!(
            "| {} | {p50:.2} | {p99:.2} | p99 < {BUDGET_MS} {held} | {usual:.2} | {interrupted} of {slow} | {put_us:.1} | {memory:.1} | {each:.0} |",
            kept.pool.len()
        );
    }
    Ok(())
}

/// Timings of the rounds of calls.
struct Rounds {
    /// Median and 99th percentile of the quietest round.
    p50: f64,
    p99: f64,
    /// 99th percentile of the median round.
    usual: f64,
    /// Calls over the budget, and how many of them were preempted by the kernel.
    slow: usize,
    interrupted: usize,
}

fn rounds(mut call: impl FnMut(usize) -> usize) -> Rounds {
    let (mut slow, mut interrupted) = (0, 0);
    let mut rounds: Vec<(f64, f64)> = Vec::new();
    for _ in 0..ROUNDS {
        let mut times: Vec<f64> = Vec::new();
        for at in 0..CALLS {
            let before = times_off_core();
            let start = started();
            std::hint::black_box(call(at));
            let millis = start.elapsed().as_secs_f64() * 1e3;
            if millis >= BUDGET_MS {
                slow += 1;
                interrupted += usize::from(times_off_core() > before);
            }
            times.push(millis);
        }
        times.sort_by(f64::total_cmp);
        rounds.push((times[CALLS * 99 / 100], times[CALLS / 2]));
    }
    rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ((p99, p50), usual) = (rounds[0], rounds[ROUNDS / 2].0);
    Rounds { p50, p99, usual, slow, interrupted }
}

/// Number of involuntary context switches of this thread; 0 outside Linux.
fn times_off_core() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

/// Similarity from which the nearest example has the same intent, with and without examples of the
/// query's own intent.
fn floors(questions: &[Question]) {
    let embedded = |q: &Question| embed::built_in().embed(&q.text).values().to_vec();
    let (asked, put): (Vec<_>, Vec<_>) =
        questions.iter().enumerate().partition(|(at, _)| at % HELD_OUT == 0);
    let vectors: Vec<(Vec<f32>, &str)> =
        put.iter().map(|(_, q)| (embedded(q), q.intent.as_str())).collect();
    let mut bands: BTreeMap<i32, [u32; 3]> = BTreeMap::new();
    for (_, question) in &asked {
        let query = embedded(question);
        let nearest = |own: bool| {
            let others = vectors.iter().filter(|(_, intent)| own || *intent != question.intent);
            others.map(|(v, intent)| (dot(&query, v), *intent)).max_by(|a, b| a.0.total_cmp(&b.0))
        };
        let band = |similarity: f32| (similarity * 20.0).floor() as i32;
        if let Some((similarity, intent)) = nearest(true) {
            bands.entry(band(similarity)).or_default()[usize::from(intent != question.intent)] += 1;
        }
        if let Some((similarity, _)) = nearest(false) {
            bands.entry(band(similarity)).or_default()[2] += 1;
        }
    }
    println!(
        "\n| nearest from | same intent | other intent | nearest when the intent is unknown |"
    );
    println!("|---|---|---|---|");
    for (band, [same, other, unknown]) in bands.iter().rev() {
        println!("| {:.2} | {same} | {other} | {unknown} |", f64::from(*band) / 20.0);
    }
    println!();
}

fn resident_mb() -> anyhow::Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).context("no VmRSS")?;
    let kilobytes: f64 = line.split_whitespace().nth(1).context("no number")?.parse()?;
    Ok(kilobytes / 1e3)
}

#[expect(clippy::disallowed_methods, reason = "measuring is what this is for")]
fn started() -> Instant {
    Instant::now()
}
