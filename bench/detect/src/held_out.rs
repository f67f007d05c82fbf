//! Corrections, earlier answers, failed answers and repeated questions, on rows that other writers
//! wrote and nothing was trained or tuned on.

use std::collections::BTreeMap;
use std::fs;

use anyhow::Context;
use fit::metrics::binary_metrics;
use serde_json::{Value, json};

use crate::rows::Bench;

pub(crate) fn measure(bench: &Bench) -> anyhow::Result<()> {
    measure_corrections(bench)?;
    measure_targets(bench)?;
    measure_failures(bench)?;
    measure_pairs(bench)
}

fn read_rows(name: &str) -> anyhow::Result<Vec<Value>> {
    let path = format!("bench/detect/{name}.jsonl");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    text.lines().map(serde_json::from_str).collect::<Result<_, _>>().context(path)
}

/// Groups the rows by a field, after a group with all of them.
fn group_by<'a>(rows: &'a [Value], field: &str) -> anyhow::Result<Vec<(String, Vec<&'a Value>)>> {
    let mut groups: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for row in rows {
        let name = row[field].as_str().with_context(|| format!("a row has no {field}: {row}"))?;
        groups.entry(name.to_owned()).or_default().push(row);
    }
    Ok(std::iter::once(("all".to_owned(), rows.iter().collect())).chain(groups).collect())
}

fn measure_corrections(bench: &Bench) -> anyhow::Result<()> {
    let rows: Vec<Value> = read_rows("corrections")?
        .into_iter()
        .map(|row| {
            json!({"prev_user": row["question"], "assistant": row["answer"], "user": row["message"],
                "kind": row["kind"], "lang": row["lang"], "wants": row["wants"],
                "instead_of": row["instead_of"]})
        })
        .collect();
    let scored = bench.scored("verdict", "model", &rows)?;
    println!("## Corrections ({} rows)\n", scored.len());
    println!(
        "| rows | count | extracted | precision | recall | inverted |\n|---|---|---|---|---|---|"
    );
    for field in ["kind", "lang"] {
        for (name, rows) in group_by(&scored, field)? {
            let judged: Vec<Extraction> = rows.iter().map(|row| Extraction::new(row)).collect();
            let count = |test: fn(&&Extraction) -> bool| judged.iter().filter(test).count() as f64;
            let (extracted, expected) = (count(|one| one.is_any), count(|one| one.is_expected));
            println!(
                "| {name} | {} | {extracted} | {:.3} | {:.3} | {} |",
                rows.len(),
                count(|one| one.is_any && one.is_right) / extracted.max(1.0),
                count(|one| one.is_expected && one.is_complete) / expected.max(1.0),
                count(|one| one.is_inverted),
            );
        }
    }
    println!();
    Ok(())
}

struct Extraction {
    is_any: bool,
    is_expected: bool,
    /// The extracted phrases fit, but one may be missing.
    is_right: bool,
    is_complete: bool,
    is_inverted: bool,
}

impl Extraction {
    fn new(row: &Value) -> Self {
        let sides = ["wants", "instead_of"];
        // A side that was not extracted is absent.
        let found = sides.map(|side| row["contrast"][side].as_str().unwrap_or_default());
        let fits = |found: &str, side: &str| {
            let phrases = row[side].as_array().into_iter().flatten().filter_map(Value::as_str);
            phrases.into_iter().any(|phrase| overlaps_half(found, phrase))
        };
        let is_right = (0..2).all(|side| found[side].is_empty() || fits(found[side], sides[side]));
        let is_complete = (0..2).all(|side| {
            let is_expected = row[sides[side]].as_array().is_some_and(|all| !all.is_empty());
            !is_expected || fits(found[side], sides[side])
        });
        Self {
            is_any: found.iter().any(|found| !found.is_empty()),
            is_expected: row["kind"] != "none",
            is_right,
            is_complete: is_right && is_complete,
            is_inverted: (0..2).any(|side| {
                !found[side].is_empty()
                    && fits(found[side], sides[1 - side])
                    && !fits(found[side], sides[side])
            }),
        }
    }
}

/// True when at least half of the words of both phrases are the same. Signs of Japanese and Chinese
/// are compared one by one.
fn overlaps_half(one: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let is_sign = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}');
        let mut spaced = String::new();
        for c in text.to_lowercase().chars() {
            if is_sign(c) {
                spaced.extend([' ', c, ' ']);
            } else {
                spaced.push(if c.is_alphanumeric() { c } else { ' ' });
            }
        }
        spaced.split_whitespace().map(str::to_owned).collect()
    };
    let (one, other) = (words(one), words(other));
    let shared = one.iter().filter(|word| other.contains(word)).count();
    shared > 0 && 2 * shared >= one.len().max(other.len())
}

/// Confidence from which a verdict gives a reaction.
const MIN_REACTION_CONFIDENCE: f64 = 0.7;

fn measure_targets(bench: &Bench) -> anyhow::Result<()> {
    let rows: Vec<Value> = read_rows("targets")?
        .into_iter()
        .map(|row| {
            json!({"turns": row["turns"], "user": row["message"], "kind": row["kind"],
                "lang": row["lang"], "expected_target": row["target"],
                "expected_status": row["status"]})
        })
        .collect();
    println!("## Earlier answers ({} rows)\n", rows.len());
    println!(
        "| rows | mode | count | right turn | wrong turn | right turn and status |\n|---|---|---|---|---|---|"
    );
    for mode in ["model", "reader"] {
        let scored = bench.scored("target", mode, &rows)?;
        for (name, rows) in group_by(&scored, "kind")? {
            let expected = |row: &Value| row["expected_target"].as_u64().unwrap_or(0);
            // The turn that gets the verdict. A weak one gives no reaction.
            let found = |row: &Value, least: f64| {
                let is_judged = row["status"] != "neutral"
                    && row["confidence"].as_f64().is_some_and(|confidence| confidence >= least);
                if is_judged { row["target"].as_u64().unwrap_or(0) } else { 0 }
            };
            let share = |count: usize| count as f64 / rows.len().max(1) as f64;
            let is_right = |row: &Value| {
                let least = if expected(row) == 0 { MIN_REACTION_CONFIDENCE } else { 0.0 };
                found(row, least) == expected(row)
            };
            let right = rows.iter().filter(|row| is_right(row));
            let wrong = rows
                .iter()
                .filter(|row| ![0, expected(row)].contains(&found(row, MIN_REACTION_CONFIDENCE)));
            let status = right
                .clone()
                .filter(|row| expected(row) == 0 || row["status"] == row["expected_status"]);
            println!(
                "| {name} | {mode} | {} | {:.3} | {:.3} | {:.3} |",
                rows.len(),
                share(right.clone().count()),
                share(wrong.count()),
                share(status.count()),
            );
        }
    }
    println!();
    Ok(())
}

fn measure_failures(bench: &Bench) -> anyhow::Result<()> {
    let rows: Vec<Value> = read_rows("failures")?
        .into_iter()
        .map(|row| {
            json!({"prompt": row["question"], "response": row["answer"], "lang": row["lang"],
                "label": row["label"]})
        })
        .collect();
    let scored = bench.scored("refusal", "model", &rows)?;
    println!("## Failed answers ({} rows)\n", scored.len());
    println!("| label | rows | found as a failure | with this label |\n|---|---|---|---|");
    for (name, rows) in group_by(&scored, "label")? {
        let failed = rows.iter().filter(|row| !row["error_type"].is_null()).count();
        let label = |row: &&&Value| match row["label"].as_str() {
            Some("none") => row["error_type"].is_null(),
            _ => row["error_type"] == row["label"],
        };
        let count = rows.len();
        println!("| {name} | {count} | {failed} | {} |", rows.iter().filter(label).count());
    }
    let is_failure = |row: &Value| (!row["error_type"].is_null(), row["label"] != "none");
    let all = binary_metrics(scored.iter().map(is_failure));
    println!("\nfailures: precision {:.3}, recall {:.3}\n", all.precision, all.recall);
    Ok(())
}

fn measure_pairs(bench: &Bench) -> anyhow::Result<()> {
    let rows: Vec<Value> = read_rows("repeats")?
        .into_iter()
        .map(|row| {
            json!({"a": row["a"], "b": row["b"], "kind": row["kind"], "lang": row["lang"],
                "label": row["label"]})
        })
        .collect();
    let scored = bench.scored("pair", "model", &rows)?;
    println!("## Repeated questions ({} rows)\n", scored.len());
    println!("| kind | rows | the same | called a retry |\n|---|---|---|---|");
    for (name, rows) in group_by(&scored, "kind")? {
        let count = |field: &str| rows.iter().filter(|row| row[field] == true).count();
        println!("| {name} | {} | {} | {} |", rows.len(), count("label"), count("pred"));
    }
    let at = binary_metrics(scored.iter().map(|row| (row["pred"] == true, row["label"] == true)));
    println!("\nretries: precision {:.3}, recall {:.3}\n", at.precision, at.recall);
    Ok(())
}
