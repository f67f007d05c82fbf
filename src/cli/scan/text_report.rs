//! The report of a scan, as text and as JSON.

use std::fmt::Write;

use engine::{FailurePattern, ScanPatterns, ScanReport, WorstConversation};
use model::ErrorType;
use serde_json::{Value, json};

use crate::cli::excerpt::{highlight_evidence, truncate_line};

const MAX_CONTRASTS_PER_PATTERN: usize = 2;
const CORRECTIONS: [&str; 3] = ["explicit", "rephrased", "abandonment"];

pub(super) struct Report<'a> {
    pub(super) total: &'a ScanReport,
    pub(super) found: Option<&'a ScanPatterns>,
    /// Counts of the written pairs, when --pairs is given.
    pub(super) pairs: Option<&'a Value>,
}

impl Report<'_> {
    pub(super) fn as_json(&self) -> Value {
        let mut report = total_as_json(self.total);
        report["failure_patterns"] = self.found.map_or(Value::Null, patterns_as_json);
        report["pairs"] = self.pairs.cloned().unwrap_or_default();
        report
    }

    pub(super) fn as_text(&self, colour: bool) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = write_text(self, colour, &mut out);
        out
    }
}

fn total_as_json(report: &ScanReport) -> Value {
    let named = |names: &[&str], counts: &[u64]| -> Value {
        names.iter().zip(counts).map(|(n, c)| ((*n).to_owned(), json!(c))).collect()
    };
    let rate = |share: engine::Satisfaction| json!({"rate": share.rate, "count": share.count, "interval": share.interval});
    let judged = report.judged();
    let worst = report.worst.iter().map(|w| {
        let excerpts: Vec<Value> = w.excerpts.iter().map(|e| json!({"question": e.question, "answer": e.answer, "next": e.next, "what": e.what, "confidence": e.confidence, "evidence": e.evidence})).collect();
        json!({"conversation_id": w.conversation, "turns": w.turns, "bad": w.bad, "score": w.score, "excerpts": excerpts})
    });
    let models: Value = report
        .models
        .iter()
        .map(|(model, [turns, judged, rejected])| {
            (model.clone(), json!({"turns": turns, "judged": judged, "rejected": rejected}))
        })
        .collect();
    json!({
        "conversations": report.conversations,
        "turns": report.turns,
        "judged": judged,
        "unreadable_lines": report.unreadable,
        "satisfaction": rate(report.satisfaction()),
        "rejected": rate(engine::Satisfaction::from_share(report.verdicts.status[0], judged)),
        "verdicts": named(&["rejected", "accepted", "neutral"], &report.verdicts.status),
        "corrections": named(&CORRECTIONS, &report.verdicts.corrections),
        "failures": named(ErrorType::WORDS, &report.failures),
        "retries": named(&["dissatisfied", "exploratory"], &report.retries),
        "latency": named(&["high", "medium", "low"], &report.paces),
        "models": models,
        "rules": report.rules,
        "contrasts": report.contrasts,
        "worst": worst.collect::<Vec<_>>(),
    })
}

fn format_percent(part: u64, of: u64) -> String {
    if of == 0 { "–".to_owned() } else { format!("{:.1}%", 100.0 * part as f64 / of as f64) }
}

fn write_text(whole: &Report<'_>, colour: bool, out: &mut String) -> std::fmt::Result {
    let report = whole.total;
    let (turns, judged) = (report.turns, report.judged());
    let conversations = report.conversations;
    writeln!(
        out,
        "{conversations} conversations, {turns} answers, {judged} followed by a message"
    )?;
    if report.unreadable > 0 {
        writeln!(out, "{} lines are not conversations and were skipped", report.unreadable)?;
    }
    writeln!(out)?;
    write_verdicts(report, out)?;
    write_failures(report, out)?;
    write_models(report, out)?;
    write_contrasts(report, out)?;
    if let Some(found) = whole.found {
        write_patterns(found, out)?;
    }
    if !report.worst.is_empty() {
        writeln!(out, "\nWorst conversations")?;
        for (place, worst) in report.worst.iter().enumerate() {
            write_conversation(place + 1, worst, colour, out)?;
        }
    }
    match whole.pairs {
        Some(pairs) => write_pair_counts(pairs, out),
        None => Ok(()),
    }
}

fn write_pair_counts(pairs: &Value, out: &mut String) -> std::fmt::Result {
    let sources = pairs["sources"].as_object().into_iter().flatten();
    let sources: Vec<String> = sources.map(|(source, rows)| format!("{source} {rows}")).collect();
    let sources = if sources.is_empty() { "none".to_owned() } else { sources.join(", ") };
    writeln!(out, "\n{} preference rows written ({sources})", pairs["rows"])
}

fn write_row(out: &mut String, name: &str, count: u64, of: u64, more: &str) -> std::fmt::Result {
    writeln!(out, "{name:<18} {count:>7}  {:>6}  {more}", format_percent(count, of))
}

fn write_verdicts(report: &ScanReport, out: &mut String) -> std::fmt::Result {
    let share = report.satisfaction();
    match (share.rate, share.interval) {
        (Some(rate), Some((low, high))) => {
            let (rate, low, high) = (100.0 * rate, 100.0 * low, 100.0 * high);
            let of = share.count;
            writeln!(
                out,
                "Satisfaction {rate:.1}% ({low:.1}–{high:.1}%), of {of} clear reactions\n"
            )?;
        }
        (_, _) => writeln!(out, "Satisfaction unknown: no answer had a clear reaction\n")?,
    }
    let judged = report.judged();
    write_row(out, "Rejected", report.verdicts.status[0], judged, "")?;
    for (name, count) in CORRECTIONS.iter().zip(report.verdicts.corrections) {
        write_row(out, &format!("  {name}"), count, judged, "")?;
    }
    let liked =
        format!("{} of them explicitly: thanks, or acted on the answer", report.verdicts.liked);
    write_row(out, "Accepted", report.verdicts.status[1], judged, &liked)?;
    write_row(out, "Neutral", report.verdicts.status[2], judged, "")?;
    let explored = format!("and {} exploratory", report.retries[1]);
    write_row(out, "Retries", report.retries[0], report.turns, &explored)
}

fn write_failures(report: &ScanReport, out: &mut String) -> std::fmt::Result {
    write_row(out, "Failed answers", report.failures.iter().sum(), report.turns, "")?;
    for (name, count) in
        ErrorType::WORDS.iter().zip(report.failures).filter(|(_, count)| *count > 0)
    {
        write_row(out, &format!("  {name}"), count, report.turns, "")?;
    }
    let timed: u64 = report.paces.iter().sum();
    if timed > 0 {
        write_row(out, "Slow", report.paces[1], timed, "")?;
        write_row(out, "Very slow", report.paces[2], timed, "")?;
    }
    Ok(())
}

fn write_models(report: &ScanReport, out: &mut String) -> std::fmt::Result {
    if report.models.len() < 2 {
        return Ok(());
    }
    writeln!(out, "\nBy model                      answers   rejected")?;
    let mut models: Vec<_> = report.models.iter().collect();
    models.sort_by(|a, b| b.1[0].cmp(&a.1[0]).then(a.0.cmp(b.0)));
    for (model, [turns, judged, rejected]) in models.into_iter().take(10) {
        writeln!(
            out,
            "  {:<26} {turns:>8}   {:>8}",
            truncate_line(model, 26),
            format_percent(*rejected, *judged)
        )?;
    }
    Ok(())
}

fn write_contrasts(report: &ScanReport, out: &mut String) -> std::fmt::Result {
    let named: Vec<_> = report
        .contrasts
        .iter()
        .filter_map(|c| c.wants.as_ref().zip(c.instead_of.as_ref()))
        .take(5)
        .collect();
    if named.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nWhat users wanted, and what they got")?;
    for (wants, got) in named {
        writeln!(out, "  {}  –  not {}", truncate_line(wants, 40), truncate_line(got, 40))?;
    }
    Ok(())
}

fn write_conversation(
    place: usize,
    worst: &WorstConversation,
    colour: bool,
    out: &mut String,
) -> std::fmt::Result {
    writeln!(
        out,
        "{place}. {}: {} of {} answers went wrong",
        truncate_line(&worst.conversation, 60),
        worst.bad,
        worst.turns
    )?;
    for turn in &worst.excerpts {
        let failed = ErrorType::from_word(&turn.what).is_some();
        let (answer, next) = if failed {
            (
                highlight_evidence(&turn.answer, &turn.evidence, colour),
                truncate_line(&turn.next, 100),
            )
        } else {
            (
                truncate_line(&turn.answer, 100),
                highlight_evidence(&turn.next, &turn.evidence, colour),
            )
        };
        writeln!(out, "     asked     {}", truncate_line(&turn.question, 100))?;
        writeln!(out, "     answered  {answer}")?;
        if !turn.next.is_empty() {
            writeln!(out, "     then      {next}")?;
        }
        writeln!(out, "     → {} (confidence {:.2})", turn.what, turn.confidence)?;
    }
    Ok(())
}

fn patterns_as_json(found: &ScanPatterns) -> Value {
    let patterns: Vec<Value> = found.patterns.iter().map(pattern_as_json).collect();
    json!({"negatives": found.negatives, "looked_at": found.looked_at, "patterns": patterns})
}

fn pattern_as_json(pattern: &FailurePattern) -> Value {
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

fn write_patterns(found: &ScanPatterns, out: &mut String) -> std::fmt::Result {
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
