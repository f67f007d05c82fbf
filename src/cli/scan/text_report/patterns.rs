//! The failure patterns of a scan.

use std::fmt::Write;

use engine::{FailurePattern, ScanPatterns};
use serde_json::{Value, json};

use crate::cli::excerpt::truncate_line;

const MAX_CONTRASTS_PER_PATTERN: usize = 2;

pub(super) fn as_json(found: &ScanPatterns) -> Value {
    let patterns: Vec<Value> = found.patterns.iter().map(pattern_json).collect();
    json!({"negatives": found.negatives, "looked_at": found.looked_at, "patterns": patterns})
}

fn pattern_json(pattern: &FailurePattern) -> Value {
    let examples: Vec<Value> = pattern
        .examples
        .iter()
        .map(|e| json!({"turn_id": e.turn_id, "question": e.question, "said": e.remark}))
        .collect();
    let contrasts: Vec<Value> = pattern
        .contrasts
        .iter()
        .map(|c| json!({"wants": c.wants, "instead_of": c.instead_of, "count": c.count}))
        .collect();
    let lifts: Vec<Value> = pattern
        .lifts
        .iter()
        .map(|l| json!({"by": l.dimension.as_word(), "value": l.value, "lift": l.lift, "interval": l.interval}))
        .collect();
    json!({"id": pattern.id, "label": pattern.label, "count": pattern.count, "share": pattern.share,
        "error_type": pattern.error_type, "examples": examples, "contrasts": contrasts, "lifts": lifts})
}

pub(super) fn write_text(found: &ScanPatterns, out: &mut String) -> std::fmt::Result {
    if found.patterns.is_empty() {
        return Ok(());
    }
    let of = found.looked_at;
    match found.negatives > of as u64 {
        true => writeln!(out, "\nFailure patterns, of the latest {of} answers that went wrong")?,
        false => writeln!(out, "\nFailure patterns, of {of} answers that went wrong")?,
    }
    for pattern in &found.patterns {
        let share = 100.0 * pattern.share;
        writeln!(
            out,
            "  {:>6}  {share:>5.1}%  {}",
            pattern.count,
            truncate_line(&pattern.label, 70)
        )?;
        if let Some(example) = pattern.examples.first() {
            writeln!(out, "                  asked   {}", truncate_line(&example.question, 80))?;
            if let Some(said) = &example.remark {
                writeln!(out, "                  then    {}", truncate_line(said, 80))?;
            }
        }
        for contrast in pattern.contrasts.iter().take(MAX_CONTRASTS_PER_PATTERN) {
            let wants = contrast.wants.as_deref().map(|wants| truncate_line(wants, 40));
            let instead = contrast.instead_of.as_deref().map(|got| truncate_line(got, 40));
            let wish = match (wants, instead) {
                (Some(wants), Some(instead)) => format!("{wants}, not {instead}"),
                (Some(wants), None) => wants,
                (None, Some(instead)) => format!("not {instead}"),
                (None, None) => continue,
            };
            writeln!(out, "                  wanted  {wish} ({} times)", contrast.count)?;
        }
    }
    Ok(())
}
