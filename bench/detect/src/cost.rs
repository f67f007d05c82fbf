//! Cost of one message: every detector and the embedding, on one core.

#![expect(clippy::disallowed_methods, reason = "this measures time")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Context;
use detect::{
    Answer, CompletedAnswer, Exchange, FailureRule, PastQuestion, RetryRule, Utterance,
    VerdictRule, detect_failure, detect_retry, detect_verdict,
};
use model::{TurnId, TurnStatus};

use crate::rows::Bench;

const ROUNDS: usize = 5;
const MESSAGE: usize = 300;
const ANSWER: usize = 2_000;

pub(crate) fn measure(bench: &Bench) -> anyhow::Result<()> {
    let rows = bench.rows("detect/verdict-dev.jsonl")?;
    let text = |row: &serde_json::Value, field: &str, most: usize| {
        let text = row[field].as_str().with_context(|| format!("a row without {field}"))?;
        anyhow::Ok(text[..text.floor_char_boundary(most)].to_owned())
    };
    let rows = rows
        .iter()
        .step_by(5)
        .map(|row| {
            let (asked, answered) =
                (text(row, "prev_user", MESSAGE)?, text(row, "assistant", ANSWER)?);
            anyhow::Ok([asked, answered, text(row, "user", MESSAGE)?])
        })
        .collect::<anyhow::Result<Vec<[String; 3]>>>()?;
    // Real messages are shorter; these are as long as the target allows.
    let long: Vec<[String; 3]> = rows
        .chunks_exact(20)
        .map(|part| {
            let join = |field: usize, most: usize| {
                let all: Vec<&str> = part.iter().map(|row| row[field].as_str()).collect();
                let all = all.join(" ");
                all[..all.floor_char_boundary(most)].to_owned()
            };
            [join(0, MESSAGE), join(1, ANSWER), join(2, MESSAGE)]
        })
        .collect();
    println!("## Cost on one core, best of {ROUNDS} rounds\n");
    println!("| what | rows | p50 µs | p99 µs | bar |");
    println!("|---|---|---|---|---|");
    line("one message, as long as in the data", &rows, one_message, Some(50.0));
    line("one message, each of full 300 characters", &long, one_message, Some(50.0));
    line("one answer, as long as in the data, when stored", &rows, one_answer, None);
    line("one answer, each of full 2 000 characters, when stored", &long, one_answer, None);
    println!();
    Ok(())
}

type Timed = fn(&[[String; 3]]) -> Vec<f64>;

/// Median and 99th percentile of the best round.
fn line(name: &str, rows: &[[String; 3]], timed: Timed, bar: Option<f64>) {
    let mut best = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        let mut micros = timed(rows);
        micros.sort_by(f64::total_cmp);
        let round = (micros[micros.len() / 2], micros[micros.len() * 99 / 100]);
        best = (best.0.min(round.0), best.1.min(round.1));
    }
    let bar = bar.map_or(String::new(), |bar| {
        format!("p99 ≤ {bar:.0} {}", if best.1 <= bar { "held" } else { "MISSED" })
    });
    println!("| {name} | {} | {:.1} | {:.1} | {bar} |", rows.len(), best.0, best.1);
}

/// Embedding, pair scores against ten earlier questions, retry and verdict.
fn one_message(rows: &[[String; 3]]) -> Vec<f64> {
    let questions: Vec<Utterance> = rows.iter().map(|row| Utterance::read(&row[0])).collect();
    let turns: Vec<TurnId> = TurnId::new("t").into_iter().collect();
    let rule = VerdictRule::default();
    rows.iter()
        .enumerate()
        .skip(10)
        .map(|(at, row)| {
            let answer = Answer::read(Some(&questions[at]), &row[1]);
            let history: Vec<PastQuestion<'_>> = questions[at - 9..=at]
                .iter()
                .map(|question| PastQuestion {
                    turn: &turns[0],
                    question,
                    age: Some(Duration::from_secs(5)),
                })
                .collect();
            let began = Instant::now();
            let message = Utterance::read(&row[2]);
            let exchange = Exchange {
                question: Some(&questions[at]),
                answer: Some(&answer),
                ..Exchange::new(&message)
            };
            black_box(detect_verdict(&rule, &exchange));
            black_box(detect_retry(&RetryRule::default(), &message, &history));
            began.elapsed().as_secs_f64() * 1e6
        })
        .collect()
}

fn one_answer(rows: &[[String; 3]]) -> Vec<f64> {
    rows.iter()
        .map(|row| {
            let question = Utterance::read(&row[0]);
            let began = Instant::now();
            let answer = Answer::read(Some(&question), &row[1]);
            let finished = CompletedAnswer {
                status: TurnStatus::Success,
                error: None,
                question: Some(&question),
                response: &row[1],
                answer: &answer,
            };
            black_box(detect_failure(&FailureRule::default(), &finished));
            began.elapsed().as_secs_f64() * 1e6
        })
        .collect()
}
