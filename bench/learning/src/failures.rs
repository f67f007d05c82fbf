//! Failure patterns: agreement with known intents, time, and stability.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use learn::{
    AnsweredTotals, FailedTurn, FailureKind, FailurePattern, FailureWindow, PatternRule,
    find_failure_patterns,
};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::agreement::Agreement;
use crate::clinc;
use crate::kmeans::kmeans;

/// One utterance as a complaint.
#[derive(Clone)]
struct Row {
    id: String,
    text: String,
    intent: String,
    vector: Vec<f32>,
}

pub(crate) fn run(data: &Path) -> anyhow::Result<()> {
    let rows = read(data)?;
    agreement(&rows);
    speed(&rows);
    crate::crowd::measure()?;
    stability(&rows);
    Ok(())
}

fn read(data: &Path) -> anyhow::Result<Vec<Row>> {
    let model = embed::built_in();
    let row = |(at, (text, intent)): (usize, (String, String))| {
        let vector = model.embed(&text).values().to_vec();
        Row { id: format!("t{at:06}"), text, intent, vector }
    };
    Ok(clinc::read(data)?.into_iter().enumerate().map(row).collect())
}

fn patterns(rows: &[Row]) -> Vec<FailurePattern> {
    let turns: Vec<FailedTurn<'_>> = rows.iter().map(complaint).collect();
    find_failure_patterns(&turns, &AnsweredTotals::default(), &PatternRule::default())
}

fn complaint(row: &Row) -> FailedTurn<'_> {
    FailedTurn {
        turn_id: &row.id,
        question: &row.text,
        question_vector: Some(&row.vector),
        remark: None,
        remark_vector: None,
        contrast: None,
        changes: &[],
        kind: FailureKind::Rejected,
        error_type: None,
        model: None,
        prompt: None,
        strategy: None,
        when_ms: 0,
        window: FailureWindow::Current,
    }
}

/// The group of every row; a row without a pattern is its own group.
fn ours(rows: &[Row]) -> (Vec<usize>, usize, usize) {
    let found = patterns(rows);
    let mut of: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, pattern) in found.iter().enumerate() {
        of.extend(pattern.turns.iter().map(|turn| (turn.as_str(), at)));
    }
    let left_out = rows.len() - of.len();
    let mut next = found.len();
    let group = |row: &Row| {
        of.get(row.id.as_str()).copied().unwrap_or_else(|| {
            next += 1;
            next
        })
    };
    (rows.iter().map(group).collect(), found.len(), left_out)
}

/// Baseline: identical words are the same failure.
fn same_words(rows: &[Row]) -> Vec<usize> {
    let mut number: BTreeMap<learn::QueryCluster, usize> = BTreeMap::new();
    let mut group = |row: &Row| {
        let next = number.len();
        *number.entry(learn::cluster_query(&row.text)).or_insert(next)
    };
    rows.iter().map(&mut group).collect()
}

/// Rows and intents of a draw; sizes fall with the rank to the power `skew`.
struct Shape {
    name: &'static str,
    intents: usize,
    largest: usize,
    skew: f64,
    loners: usize,
}

const SHAPES: [Shape; 8] = [
    Shape { name: "all 15 000", intents: 150, largest: 100, skew: 0.0, loners: 0 },
    Shape { name: "skewed sizes", intents: 150, largest: 100, skew: 0.7, loners: 0 },
    Shape { name: "30 intents of 100", intents: 30, largest: 100, skew: 0.0, loners: 0 },
    Shape { name: "150 intents of 6", intents: 150, largest: 6, skew: 0.0, loners: 0 },
    Shape { name: "20 of 30 and 100 loners", intents: 20, largest: 30, skew: 0.0, loners: 100 },
    Shape { name: "10 intents of 10", intents: 10, largest: 10, skew: 0.0, loners: 0 },
    Shape { name: "5 of 6 and 20 loners", intents: 5, largest: 6, skew: 0.0, loners: 20 },
    Shape { name: "4 of 4 and 4 loners", intents: 4, largest: 4, skew: 0.0, loners: 4 },
];
const DRAWS: u64 = 5;

fn drawn(rows: &[Row], shape: &Shape, seed: u64) -> Vec<Row> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut by_intent: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    rows.iter().for_each(|row| by_intent.entry(&row.intent).or_default().push(row));
    let mut intents: Vec<Vec<&Row>> = by_intent.into_values().collect();
    intents.shuffle(&mut random);
    let size = |rank: usize| {
        let full = shape.largest as f64 / ((rank + 1) as f64).powf(shape.skew);
        if rank < shape.intents { (full as usize).max(2) } else { 1 }
    };
    let mut chosen = Vec::new();
    for (rank, intent) in intents.iter_mut().enumerate().take(shape.intents + shape.loners) {
        intent.shuffle(&mut random);
        chosen.extend(intent.iter().take(size(rank)).map(|row| (*row).clone()));
    }
    chosen
}

fn agreement(rows: &[Row]) {
    println!(
        "| complaints | n | groups | ours: V | homogeneity | completeness | found | in none | k-means with true k: V | same words: V |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for shape in &SHAPES {
        let draws = if shape.largest == 100 && shape.skew == 0.0 && shape.intents == 150 {
            1
        } else {
            DRAWS
        };
        let mut sums = [0.0; 7];
        let mut size = 0;
        for seed in 0..draws {
            let sample = drawn(rows, shape, seed);
            size = sample.len();
            let truth: Vec<&str> = sample.iter().map(|row| row.intent.as_str()).collect();
            let (groups, found, left_out) = ours(&sample);
            let our = Agreement::compute(&truth, &groups);
            let vectors: Vec<&[f32]> = sample.iter().map(|row| row.vector.as_slice()).collect();
            let baseline = kmeans(&vectors, shape.intents + shape.loners, 5, seed);
            let baseline = Agreement::compute(&truth, &baseline);
            let words = Agreement::compute(&truth, &same_words(&sample));
            let left_out = left_out as f64 / sample.len() as f64;
            let figures = [
                our.v,
                our.homogeneity,
                our.completeness,
                found as f64,
                left_out,
                baseline.v,
                words.v,
            ];
            sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure / draws as f64);
        }
        let [v, homogeneity, completeness, found, left_out, baseline, words] = sums;
        println!(
            "| {} | {size} | {} | {v:.3} | {homogeneity:.3} | {completeness:.3} | {found:.0} | {:.1}% | {baseline:.3} | {words:.3} |",
            shape.name,
            shape.intents + shape.loners,
            left_out * 100.0
        );
    }
}

/// 20,000 rows: every utterance, and a third of them with an extra word.
fn many(rows: &[Row], count: usize) -> Vec<Row> {
    let model = embed::built_in();
    let mut random = StdRng::seed_from_u64(7);
    let mut many: Vec<Row> = rows.to_vec();
    while many.len() < count {
        let from = &rows[random.random_range(0..rows.len())];
        let other = &rows[random.random_range(0..rows.len())];
        let word = other.text.split(' ').next().unwrap_or_default();
        let text = format!("{} {word}", from.text);
        let vector = model.embed(&text).values().to_vec();
        many.push(Row {
            id: format!("t{:06}", many.len()),
            text,
            intent: from.intent.clone(),
            vector,
        });
    }
    many.truncate(count);
    many
}

#[expect(clippy::disallowed_methods, reason = "measures how long it takes")]
fn speed(rows: &[Row]) {
    println!("\n| failed turns | seconds, one core | patterns |\n|---|---|---|");
    for count in [10, 100, 1_000, 5_000, 20_000] {
        let mut sample = many(rows, count.max(rows.len()));
        sample.shuffle(&mut StdRng::seed_from_u64(1));
        sample.truncate(count);
        let started = Instant::now();
        let found = patterns(&sample).len();
        println!("| {count} | {:.3} | {found} |", started.elapsed().as_secs_f64());
    }
}

fn stability(rows: &[Row]) {
    let mut sample = rows.to_vec();
    sample.shuffle(&mut StdRng::seed_from_u64(3));
    // In the order of the file.
    sample.iter_mut().enumerate().for_each(|(at, row)| row.id = format!("t{at:06}"));
    let (window, rest) = sample.split_at(2_000);
    let first = patterns(window);
    let mut shuffled = window.to_vec();
    shuffled.shuffle(&mut StdRng::seed_from_u64(4));
    println!("\nthe same in another order: {}", first == patterns(&shuffled));
    println!(
        "\n| change | id stays | most typical turn stays | earliest turn stays |\n|---|---|---|---|"
    );
    for (name, drop, add) in
        [("one turn joins", 0, 1), ("1% leave, 1% join", 20, 20), ("10% leave, 10% join", 200, 200)]
    {
        let mut kept = [0.0; 3];
        let rounds = 20;
        for round in 0..rounds {
            let added = &rest[round * add..(round + 1) * add];
            let next: Vec<Row> = window[drop..].iter().chain(added).cloned().collect();
            let then = patterns(&next);
            let shares = kept_by(&first, &then);
            kept.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share / rounds as f64);
        }
        println!(
            "| {name} | {:.1}% | {:.1}% | {:.1}% |",
            kept[0] * 100.0,
            kept[1] * 100.0,
            kept[2] * 100.0
        );
    }
}

/// Of patterns with a successor (at least half of their turns), the share that keeps its id, its most
/// typical turn and its earliest turn.
fn kept_by(first: &[FailurePattern], then: &[FailurePattern]) -> [f64; 3] {
    let mut kept = [0.0; 3];
    let mut of = 0.0f64;
    for old in first {
        let shared = |new: &&FailurePattern| {
            old.turns.iter().filter(|turn| new.turns.contains(turn)).count()
        };
        let Some(new) = then.iter().max_by_key(shared) else { continue };
        if shared(&new) * 2 < old.turns.len() {
            continue;
        }
        of += 1.0;
        let same = [
            old.id == new.id,
            old.turns[0] == new.turns[0],
            old.turns.iter().min() == new.turns.iter().min(),
        ];
        kept.iter_mut().zip(same).for_each(|(sum, same)| *sum += f64::from(same));
    }
    kept.map(|sum| sum / of.max(1.0))
}
