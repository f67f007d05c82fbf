//! Cost of one call: usage detection of fifty items, and reranking with a million known entities.

use std::time::{Duration, Instant};

use detect::{AnswerKind, ParsedAnswer, ReturnedItem, UsageRule, detect_item_use};
use learn::{CoecRule, Estimator, rerank};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::memory::Memory;

const ROUNDS: usize = 5;
const CALLS: usize = 200;
/// For adversarial inputs.
const HOSTILE_CALLS: usize = 10;
const ENTITIES: u64 = 1_000_000;
const ITEMS: usize = 50;

/// Percentile that the budget applies to.
#[derive(Clone, Copy)]
enum Judged {
    Middle,
    Slow,
}

/// Measures `call` and prints median and 99th percentile of the quietest of five rounds. On a shared
/// machine the other rounds measure the neighbours.
fn row(what: &str, judged: Judged, budget_us: f64, call: impl FnMut()) {
    row_of(CALLS, what, judged, budget_us, call);
}

fn row_of(calls: usize, what: &str, judged: Judged, budget_us: f64, mut call: impl FnMut()) {
    let mut quietest = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        let mut times: Vec<Duration> = (0..calls)
            .map(|_| {
                let start = started();
                call();
                start.elapsed()
            })
            .collect();
        times.sort();
        let micros = |at: usize| times[at].as_secs_f64() * 1e6;
        let (middle, slow) = (micros(calls / 2), micros(calls * 99 / 100));
        if slow < quietest.1 {
            quietest = (middle, slow);
        }
    }
    let (middle, slow) = quietest;
    let (word, time) = match judged {
        Judged::Middle => ("p50", middle),
        Judged::Slow => ("p99", slow),
    };
    let held = if time < budget_us { "held" } else { "**missed**" };
    println!("| {what} | {middle:.0} | {slow:.0} | {word} < {budget_us:.0} {held} |");
}

#[expect(clippy::disallowed_methods, reason = "measuring is what this is for")]
fn started() -> Instant {
    Instant::now()
}

pub(crate) fn measure() {
    println!("## Cost of one call on one core, quietest of 5 rounds of 200\n");
    println!("| what | p50 µs | p99 µs | budget |");
    println!("|---|---|---|---|");
    let mut random = StdRng::seed_from_u64(7);
    for (word, kind, code) in
        [("prose", AnswerKind::Response, false), ("code", AnswerKind::Code, true)]
    {
        let answer = text(4_000, code, &mut random);
        let contents: Vec<String> = (0..ITEMS).map(|_| text(2_000, code, &mut random)).collect();
        let names: Vec<String> =
            (0..ITEMS).map(|at| format!("Handbook part {at} and more")).collect();
        let ids: Vec<String> = (0..ITEMS).map(|at| format!("doc-{at}-x")).collect();
        let items: Vec<ReturnedItem<'_>> = (0..ITEMS)
            .map(|at| ReturnedItem {
                entity_id: &ids[at],
                name: Some(&names[at]),
                content: Some(&contents[at]),
                rank: Some(at as u32 + 1),
            })
            .collect();
        let rule = UsageRule::default();
        row(
            &format!("use detection, 50 items of 2 000 characters, {word}"),
            Judged::Middle,
            2_000.0,
            || {
                let written = ParsedAnswer::parse(&rule, &answer, kind);
                std::hint::black_box(detect_item_use(&rule, &written, &items));
            },
        );
    }
    hostile();
    let mut memory = Memory::default();
    for document in 0..ENTITIES {
        let used = random.random_range(0..4) == 0;
        memory.tell(document % 1_000, document, random.random_range(1..20), used);
    }
    let seen = memory.examination();
    for (results, budget) in [(50, 1_000.0), (1_000, 5_000.0)] {
        for (estimator, word) in [(Estimator::Seed, "seed"), (Estimator::Coec, "coec")] {
            let what = format!("rerank {results} of {ENTITIES} entities, {word}");
            row(&what, Judged::Slow, budget, || {
                let asked: Vec<u64> =
                    (0..results).map(|_| random.random_range(0..ENTITIES)).collect();
                let scores: Vec<f64> = asked.iter().map(|_| random.random()).collect();
                let known = |at: usize| memory.known(asked[at] % 1_000, asked[at]);
                let ranked = rerank(estimator, &CoecRule::default(), &seen, &scores, known);
                std::hint::black_box(ranked);
            });
        }
    }
    println!();
}

/// Names and answers with common prefixes: the time must grow with their length, not with the product.
fn hostile() {
    let rule = UsageRule::default();
    let contents = "a b ".repeat(150);
    for (what, count, name, answer) in [
        ("1 000 names of 'a b'", 1_000, "A b ".repeat(47), "a b ".repeat(24_900)),
        ("400 names of 'x_'", 400, "x_".repeat(90), "x_".repeat(49_800)),
        ("400 names of 'http://'", 400, "http://".repeat(25), "http://".repeat(14_200)),
        ("400 names, 2 000 citations", 400, "Part [1] ".repeat(9), "see [1] ".repeat(12_400)),
        ("400 names of one sign", 400, "不".repeat(60), "不".repeat(33_000)),
    ] {
        let names: Vec<String> = (0..count).map(|at| format!("{name}{at}")).collect();
        let items: Vec<ReturnedItem<'_>> = names
            .iter()
            .zip(1..)
            .map(|(name, rank)| ReturnedItem {
                entity_id: name,
                name: Some(name),
                content: Some(&contents),
                rank: Some(5_000 + rank),
            })
            .collect();
        let what = format!("use detection, {what}, answer of {} bytes", answer.len());
        row_of(HOSTILE_CALLS, &what, Judged::Middle, 100_000.0, || {
            let written = ParsedAnswer::parse(&rule, &answer, AnswerKind::Response);
            std::hint::black_box(detect_item_use(&rule, &written, &items));
        });
    }
}

/// Words with natural frequencies, or lines of generated code.
fn text(length: usize, code: bool, random: &mut StdRng) -> String {
    const SYLLABLES: [&str; 16] = [
        "bal", "der", "fol", "gu", "hal", "in", "ko", "lem", "mi", "no", "per", "ra", "sti", "tu",
        "ver", "zo",
    ];
    let mut text = String::with_capacity(length + 32);
    while text.len() < length {
        let common: u32 = random.random_range(0..10);
        let word = match common {
            0..=3 => ["the", "of", "and", "to", "is", "in"][random.random_range(0..6)].to_owned(),
            _ => (0..random.random_range(1..4))
                .map(|_| SYLLABLES[random.random_range(0..16)])
                .collect(),
        };
        text.push_str(&word);
        let end: u32 = random.random_range(0..12);
        text.push_str(match (code, end) {
            (true, 0..=2) => "_",
            (true, 3) => ".get(",
            (true, 4) => ");\n    ",
            (true, 5) => " = ",
            (false, 0) => ". ",
            (false, 1) => ", ",
            (_, _) => " ",
        });
    }
    text.truncate(text.floor_char_boundary(length));
    text
}
