//! Cost of redaction on one core: on conversations, and on texts full of personal data.

#![expect(clippy::disallowed_methods, reason = "this measures time")]

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use anyhow::Context;
use ingest::Redactor;
use serde_json::Value;

use crate::rows::Row;

const ROUNDS: usize = 9;

pub(crate) fn measure(rows: &[Row], corpus: &str) -> anyhow::Result<()> {
    let mut conversations = Vec::new();
    for name in ["dialogues", "verdict", "refusal"] {
        let path = format!("{corpus}/{name}.jsonl");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        for line in text.lines() {
            collect_texts(&serde_json::from_str(line)?, &mut conversations);
        }
    }
    let labelled: Vec<String> = rows.iter().map(|row| row.text.clone()).collect();
    println!("| texts | count | KB | µs per KB | MB/s |\n|---|---|---|---|---|");
    print_line("conversations of the corpus", &conversations);
    print_line("labelled rows", &labelled);
    println!();
    Ok(())
}

/// Every text of a row that is longer than a label.
fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if text.len() > 20 => texts.push(text.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| collect_texts(field, texts)),
    }
}

fn print_line(name: &str, texts: &[String]) {
    let redactor = Redactor::default();
    let bytes: usize = texts.iter().map(String::len).sum();
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        for text in texts {
            black_box(redactor.redact(black_box(text)));
        }
        best = best.min(began.elapsed().as_secs_f64());
    }
    println!(
        "| {name} | {} | {} | {:.2} | {:.0} |",
        texts.len(),
        bytes / 1_000,
        best * 1e9 / bytes as f64,
        bytes as f64 / best / 1e6,
    );
}
