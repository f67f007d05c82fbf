//! Formats conversations for the terminal.

use std::fmt::Write;

use model::Evidence;
use serde_json::Value;

use super::super::excerpt::{highlight_evidence, truncate_line};

const LINE_CHARS: usize = 100;

pub(super) fn format_list(found: &Value, colour: bool) -> String {
    let items = found["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    if items.is_empty() {
        return "no feedback in this period; `uptake report CONVERSATION` shows any conversation\n"
            .to_owned();
    }
    let mut text = format!(
        "{:36}  {:19}  {:>4} {:>6} {:>7}  {:>5} {:>8}\n",
        "conversation", "last feedback", "ok", "not ok", "neutral", "users", "detected"
    );
    for item in items {
        let counts = &item["feedback_counts"];
        let number = |name: &str| counts[name].as_u64().unwrap_or(0);
        let bad = number("not_ok") > 0;
        let at = format_time(&item["last_activity_at"]);
        let name = truncate_line(item["conversation_id"].as_str().unwrap_or("?"), 36);
        let line = format!(
            "{name:36}  {at:19}  {:>4} {:>6} {:>7}  {:>5} {:>8}",
            number("ok"),
            number("not_ok"),
            number("neutral"),
            number("user"),
            number("machine")
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", paint_text(&line, if bad { RED } else { PLAIN }, colour));
    }
    text
}

pub(super) fn format_conversation(found: &Value, colour: bool) -> String {
    let word = |value: &Value| value.as_str().map(str::to_owned);
    let user = word(&found["user_id"]).map(|user| format!(" with {user}")).unwrap_or_default();
    let name = word(&found["conversation_id"]).unwrap_or_default();
    let mut text = format!("{}\n", paint_text(&format!("conversation {name}{user}"), BOLD, colour));
    if !found["next_cursor"].is_null() {
        text.push_str("(older turns are not shown; raise --limit to see them)\n");
    }
    let turns = found["turns"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (at, turn) in turns.iter().enumerate() {
        text.push('\n');
        write_turn(&mut text, turn, turns.get(at + 1), colour);
    }
    text
}

fn write_turn(text: &mut String, turn: &Value, next: Option<&Value>, colour: bool) {
    let mut line = |label: &str, said: &str| {
        let _ = writeln!(text, "  {label:10} {said}");
    };
    let id = turn["turn_id"].as_str().unwrap_or("?");
    let head = format!("{}  {id}", format_time(&turn["ts"]));
    line(&paint_text(&format!("{:10}", "turn"), BOLD, colour), &head);
    line("user", &truncate_line(turn["user"]["text"].as_str().unwrap_or("(erased)"), LINE_CHARS));
    match turn["assistant"]["response"].as_str() {
        Some(response) => line("assistant", &truncate_line(response, LINE_CHARS)),
        None if turn["completed"] == true => line("assistant", "(empty answer)"),
        None => line("assistant", "(no answer yet)"),
    }
    for signal in list_signals(&turn["signals"]) {
        line("signal", &paint_text(&signal, RED, colour));
    }
    let (verdict, paint) = format_verdict(&turn["verdict"]);
    line("verdict", &paint_text(&verdict, paint, colour));
    if let Some(evidence) = format_evidence(&turn["verdict"]["found"], next, colour) {
        line("evidence", &evidence);
    }
    for reaction in turn["reactions"].as_array().map(Vec::as_slice).unwrap_or_default() {
        line("reaction", &format_reaction(reaction));
    }
}

/// The verdict as text, and its colour.
fn format_verdict(verdict: &Value) -> (String, &'static str) {
    let status = verdict["status"].as_str().unwrap_or("neutral");
    let paint = match status {
        "rejected" => RED,
        "accepted" => GREEN,
        _ => PLAIN,
    };
    let by = match verdict["by"].as_str() {
        Some("review") => ", from a review",
        Some("user") => ", from the user's reaction",
        Some("verdict") => ", from the user's next message",
        Some(_) | None => "",
    };
    // Rounding must not turn 0.999 into 100%.
    let confidence = verdict["confidence"].as_f64().unwrap_or(0.5);
    let sure = if confidence < 1.0 { (confidence * 100.0).min(99.0) } else { 100.0 };
    let ended = if verdict["session_ended"] == true { "; session ended" } else { "" };
    let known = verdict["by"].is_string();
    let sure = if known { format!(" (confidence {sure:.0}%{by})") } else { String::new() };
    (format!("{status}{sure}{ended}"), paint)
}

/// The rule and the words that led to the verdict, highlighted.
fn format_evidence(found: &Value, next: Option<&Value>, colour: bool) -> Option<String> {
    let detected_in = found["detected_in"].as_str()?;
    let evidence: Vec<Evidence> =
        serde_json::from_value(found["evidence"].clone()).unwrap_or_default();
    let rule = found["rule"].as_str().unwrap_or("?");
    // Findings that accept do not quote the message; usually it is the next one.
    let said = found["user_said"].as_str().or_else(|| {
        let next = next.filter(|next| next["turn_id"] == detected_in)?;
        next["user"]["text"].as_str()
    });
    let words = said.map(|said| format!(" \"{}\"", highlight_evidence(said, &evidence, colour)));
    Some(format!("{rule}:{}", words.unwrap_or_else(|| format!(" see turn {detected_in}"))))
}

fn list_signals(signals: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(kind) = signals["error"]["error_type"].as_str() {
        found.push(kind.replace('_', " "));
    }
    let latency = &signals["latency"];
    if let (Some(seconds), Some(tolerance @ ("medium" | "low"))) =
        (latency["seconds"].as_f64(), latency["tolerance"].as_str())
    {
        let speed = if tolerance == "low" { "very slow" } else { "slow" };
        found.push(format!("{speed}: {seconds:.1} s"));
    }
    if latency["accepted"] == false {
        found.push("the user gave up waiting".to_owned());
    }
    found
}

fn format_reaction(reaction: &Value) -> String {
    let word = |name: &str| reaction[name].as_str().unwrap_or("?").to_owned();
    let whose = match reaction["origin"].as_str() {
        Some("machine") => "a detector".to_owned(),
        Some(_) | None => reaction["user_id"].as_str().unwrap_or("anonymous").to_owned(),
    };
    let said = reaction["text"].as_str().map(|said| format!(": {}", truncate_line(said, 60)));
    format!("{} by {whose}{}", word("reaction"), said.unwrap_or_default())
}

/// Date and time to the second.
fn format_time(value: &Value) -> String {
    value.as_str().and_then(|text| text.get(..19)).unwrap_or("?").replace('T', " ")
}

const PLAIN: &str = "";
const BOLD: &str = "1";
const RED: &str = "31";
const GREEN: &str = "32";

fn paint_text(text: &str, paint: &str, colour: bool) -> String {
    if colour && !paint.is_empty() {
        format!("\x1b[{paint}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}
