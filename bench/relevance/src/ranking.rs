//! NDCG@10 with and without feedback, on seen and on held-out queries.

use learn::{CoecRule, Estimator, rerank};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::clicks::Reader;
use crate::memory::Memory;
use crate::set::{Query, Set};

const SESSIONS: usize = 10_000;
/// Items shown per session.
const SHOWN: usize = 20;
/// Sessions between two reads of the counters when feedback is live.
const BATCH: usize = 100;
/// Student's t for 95% and ten seeds.
const T: f64 = 2.26;

/// Parameters were chosen on seeds from 0x7e1e_0000; the figures use other seeds.
const FIRST_SEED: u64 = 0x5eed_0700;

const ESTIMATORS: [(Estimator, &str); 3] =
    [(Estimator::Seed, "seed"), (Estimator::Legacy, "legacy"), (Estimator::Coec, "coec")];

/// Source of the order in which sessions see the items.
#[derive(Clone, Copy)]
enum Served {
    /// The retriever alone.
    Logged,
    /// The estimator's current order.
    Live,
}

/// Change in NDCG@10 against no feedback, on seen and on held-out queries, per seed.
#[derive(Default)]
struct Gains {
    seen: Vec<f64>,
    held_out: Vec<f64>,
}

pub(crate) fn measure(sets: &[Set], seeds: u64) {
    let rule = CoecRule::default();
    for set in sets {
        let base = mean(set.queries.iter().map(|q| q.ndcg(0..q.candidates.len())));
        println!(
            "## {}: {} queries, NDCG@10 {base:.3} without feedback\n",
            set.name,
            set.queries.len()
        );
        for (reader, word) in Reader::ALL {
            println!("| {word} clicks | seen | held-out | live: seen | live: held-out |");
            println!("|---|---|---|---|---|");
            for (estimator, name) in ESTIMATORS {
                let logged = over_seeds(set, reader, Served::Logged, estimator, &rule, seeds);
                let live = over_seeds(set, reader, Served::Live, estimator, &rule, seeds);
                let cells: Vec<String> =
                    [&logged.seen, &logged.held_out, &live.seen, &live.held_out]
                        .iter()
                        .map(|gains| shown(gains))
                        .collect();
                println!("| {name} | {} |", cells.join(" | "));
                if estimator == Estimator::Coec {
                    bars(&logged, "logged");
                    bars(&live, "live");
                }
            }
            println!();
        }
    }
}

fn bars(gains: &Gains, served: &str) {
    let held = |yes: bool| if yes { "held" } else { "**missed**" };
    let seen = mean(gains.seen.iter().copied());
    let least = mean(gains.held_out.iter().copied()) - reach(&gains.held_out);
    println!(
        "| bars, {served}: seen ≥ +0.10 {}, held-out lower bound {least:+.4} ≥ −0.005 {} | | | | |",
        held(seen >= 0.10),
        held(least >= -0.005),
    );
}

fn over_seeds(
    set: &Set,
    reader: Reader,
    served: Served,
    estimator: Estimator,
    rule: &CoecRule,
    seeds: u64,
) -> Gains {
    let mut gains = Gains::default();
    for seed in 0..seeds {
        let mut random = StdRng::seed_from_u64(FIRST_SEED + seed);
        let mut queries: Vec<&Query> = set.queries.iter().collect();
        queries.shuffle(&mut random);
        let (seen, held_out) = queries.split_at(queries.len() / 2);
        let memory = run(seen, reader, served, estimator, rule, &mut random);
        let gain = |queries: &[&Query]| {
            mean(queries.iter().map(|query| {
                let order = order(&memory, query, estimator, rule);
                query.ndcg(order.into_iter()) - query.ndcg(0..query.candidates.len())
            }))
        };
        gains.seen.push(gain(seen));
        gains.held_out.push(gain(held_out));
    }
    gains
}

fn run(
    seen: &[&Query],
    reader: Reader,
    served: Served,
    estimator: Estimator,
    rule: &CoecRule,
    random: &mut StdRng,
) -> Memory {
    let mut memory = Memory::default();
    let mut done = 0;
    while done < SESSIONS {
        let mut clicks = Vec::new();
        for _ in 0..BATCH {
            let query = seen[random.random_range(0..seen.len())];
            let order = match served {
                Served::Logged => (0..query.candidates.len()).collect(),
                Served::Live => order(&memory, query, estimator, rule),
            };
            let shown: Vec<_> = order.iter().take(SHOWN).map(|at| &query.candidates[*at]).collect();
            let grades: Vec<u8> = shown.iter().map(|candidate| candidate.grade).collect();
            let used = reader.read(&grades, random);
            for ((candidate, used), rank) in shown.iter().zip(used).zip(1u32..) {
                clicks.push((query.cluster, candidate.document, rank, used));
            }
        }
        for (cluster, document, rank, used) in clicks {
            memory.tell(cluster, document, rank, used);
        }
        done += BATCH;
    }
    memory
}

fn order(memory: &Memory, query: &Query, estimator: Estimator, rule: &CoecRule) -> Vec<usize> {
    let scores: Vec<f64> = query.candidates.iter().map(|candidate| candidate.score).collect();
    let known = |at: usize| memory.known(query.cluster, query.candidates[at].document);
    let ranked = rerank(estimator, rule, &memory.examination(), &scores, known);
    ranked.into_iter().map(|result| result.index).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / f64::max(count, 1.0)
}

/// Half the width of the 95% interval of the mean over seeds.
fn reach(values: &[f64]) -> f64 {
    let middle = mean(values.iter().copied());
    let spread: f64 = values.iter().map(|v| (v - middle).powi(2)).sum();
    let count = values.len() as f64;
    T * (spread / (count - 1.0).max(1.0) / count).sqrt()
}

fn shown(gains: &[f64]) -> String {
    format!("{:+.4} ± {:.4}", mean(gains.iter().copied()), reach(gains))
}
