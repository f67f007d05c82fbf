//! `uptake-bench-redaction ROWS CORPUS [misses]`: precision and recall of redaction, and its cost.
//!
//! It prints figures only. `misses` also prints the rows that went wrong, for the development rows.

#![expect(clippy::print_stdout, reason = "it prints its tables")]

mod alignment;
mod cost;
mod rows;

use std::collections::BTreeMap;

use anyhow::Context;
use ingest::Redactor;

use crate::alignment::Marked;
use crate::rows::Row;

const PRECISION_TARGET: f64 = 0.97;
const RECALL_TARGET: f64 = 0.95;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (rows, corpus) = match arguments.as_slice() {
        [rows, corpus] | [rows, corpus, _] => (rows, corpus),
        _ => anyhow::bail!("usage: uptake-bench-redaction ROWS CORPUS [misses]"),
    };
    let shows_misses = arguments.get(2).is_some_and(|word| word == "misses");
    let rows = rows::read_rows(rows)?;
    let judged: Vec<(&Row, Judgement)> =
        rows.iter().map(|row| anyhow::Ok((row, judge(row)?))).collect::<anyhow::Result<_>>()?;
    print_table("kind", &judged, |row| &row.kind);
    print_table("country", &judged, |row| &row.country);
    if shows_misses {
        print_misses(&judged);
    }
    cost::measure(&rows, corpus)
}

/// Compares the redaction of one row with its labels.
struct Judgement {
    redacted: String,
    /// Replaced parts of the text, and those among them that overlap a labelled span.
    replaced: usize,
    right: usize,
    /// Labelled spans, and those among them that were replaced completely.
    labelled: usize,
    found: usize,
}

impl Judgement {
    fn is_alarm(&self) -> bool {
        self.labelled == 0 && self.replaced > 0
    }
}

fn judge(row: &Row) -> anyhow::Result<Judgement> {
    let redacted = Redactor::default().redact(&row.text);
    let replaced = alignment::replaced_ranges(&row.text, &redacted).with_context(|| {
        format!("line {}: the redacted text does not follow from the text", row.line)
    })?;
    let marked = Marked::new(&row.text, &replaced);
    let right = |range: &&std::ops::Range<usize>| {
        row.spans.iter().any(|span| span.start < range.end && range.start < span.end)
    };
    Ok(Judgement {
        replaced: replaced.len(),
        right: replaced.iter().filter(right).count(),
        labelled: row.spans.len(),
        found: row.spans.iter().filter(|span| marked.covers(span)).count(),
        redacted: redacted.into_owned(),
    })
}

fn print_table(title: &str, judged: &[(&Row, Judgement)], group: fn(&Row) -> &String) {
    let mut groups: BTreeMap<&str, Vec<&Judgement>> = BTreeMap::new();
    for (row, judgement) in judged {
        groups.entry(group(row)).or_default().push(judgement);
    }
    let all = ("all", judged.iter().map(|(_, judgement)| judgement).collect());
    println!("| {title} | rows | spans | precision | recall | negatives | with alarms | targets |");
    println!("|---|---|---|---|---|---|---|---|");
    for (name, group) in groups.into_iter().chain([all]) {
        let sum =
            |count: fn(&Judgement) -> usize| group.iter().map(|one| count(one)).sum::<usize>();
        let ratio = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        let (labelled, replaced) = (sum(|one| one.labelled), sum(|one| one.replaced));
        let precision = if replaced == 0 { 1.0 } else { ratio(sum(|one| one.right), replaced) };
        let recall = ratio(sum(|one| one.found), labelled);
        let is_held = precision >= PRECISION_TARGET && recall >= RECALL_TARGET;
        println!(
            "| {name} | {} | {labelled} | {precision:.3} | {recall:.3} | {} | {} | {} |",
            group.len(),
            sum(|one| usize::from(one.labelled == 0)),
            sum(|one| usize::from(one.is_alarm())),
            if is_held { "held" } else { "MISSED" },
        );
    }
    println!();
}

fn print_misses(judged: &[(&Row, Judgement)]) {
    for (row, judgement) in judged {
        let is_wrong = judgement.found < judgement.labelled || judgement.right < judgement.replaced;
        if is_wrong {
            let spans: Vec<&str> = row.spans.iter().map(|span| &row.text[span.clone()]).collect();
            println!(
                "{} {}: {:?}\n  -> {:?}\n  {spans:?}",
                row.country, row.kind, row.text, judgement.redacted
            );
        }
    }
}
