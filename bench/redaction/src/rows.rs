//! Labelled rows: `{"country", "lang", "kind", "text", "spans"}`.

use std::fs;
use std::ops::Range;

use anyhow::Context;
use serde_json::Value;

pub(crate) struct Row {
    pub(crate) line: usize,
    pub(crate) country: String,
    pub(crate) kind: String,
    pub(crate) text: String,
    /// Byte ranges that must be replaced.
    pub(crate) spans: Vec<Range<usize>>,
}

pub(crate) fn read_rows(path: &str) -> anyhow::Result<Vec<Row>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            parse_row(at + 1, line)
                .with_context(|| format!("{path}, line {}: no labelled row", at + 1))
        })
        .collect()
}

fn parse_row(number: usize, line: &str) -> anyhow::Result<Row> {
    let row: Value = serde_json::from_str(line)?;
    let field = |name: &str| {
        row[name].as_str().map(str::to_owned).with_context(|| format!("`{name}` is missing"))
    };
    let text = field("text")?;
    let labels = row["spans"].as_array().context("`spans` is missing")?;
    let mut spans: Vec<Range<usize>> = Vec::new();
    for label in labels {
        let label = label.as_str().context("a span must be a string")?;
        // A value that occurs several times is labelled at each place.
        let before = spans.len();
        spans.extend(text.match_indices(label).map(|(at, _)| at..at + label.len()));
        anyhow::ensure!(spans.len() > before, "the text does not contain a span");
    }
    spans.sort_by_key(|span| (span.start, span.end));
    spans.dedup();
    Ok(Row { line: number, country: field("country")?, kind: field("kind")?, text, spans })
}
