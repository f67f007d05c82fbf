//! Conversations as a person reads them in a terminal.

use std::fmt::Write;

use model::Evidence;
use serde_json::Value;

use super::super::excerpt::{marked, one_line};

const WIDTH: usize = 100;

/// The latest conversations with feedback, one line each.
pub(super) fn latest(found: &Value, colour: bool) -> String {
    let items = found["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    if items.is_empty() {
        return "no feedback in this period; `uptake report CONVERSATION` shows a conversation \
                without any\n"
            .to_owned();
    }
    let mut text = format!(
        "{:36}  {:19}  {:>4} {:>6} {:>7}  {:>5} {:>8}\n",
        "conversation", "last feedback", "ok", "not ok", "neutral", "users", "machines"
    );
    for item in items {
        let counts = &item["feedback_counts"];
        let number = |name: &str| counts[name].as_u64().unwrap_or(0);
        let bad = number("not_ok") > 0;
        let at = time(&item["last_activity_at"]);
        let name = one_line(item["conversation_id"].as_str().unwrap_or("?"), 36);
        let line = format!(
            "{name:36}  {at:19}  {:>4} {:>6} {:>7}  {:>5} {:>8}",
            number("ok"),
            number("not_ok"),
            number("neutral"),
            number("user"),
            number("machine")
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", painted(&line, if bad { RED } else { PLAIN }, colour));
    }
    text
}

/// One conversation, turn by turn.
pub(super) fn conversation(found: &Value, colour: bool) -> String {
    let word = |value: &Value| value.as_str().map(str::to_owned);
    let user = word(&found["user_id"]).map(|user| format!(" with {user}")).unwrap_or_default();
    let name = word(&found["conversation_id"]).unwrap_or_default();
    let mut text = format!("{}\n", painted(&format!("conversation {name}{user}"), BOLD, colour));
    if !found["next_cursor"].is_null() {
        text.push_str("(older turns are left out; --limit shows more)\n");
    }
    let turns = found["turns"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (at, turn) in turns.iter().enumerate() {
        text.push('\n');
        one_turn(&mut text, turn, turns.get(at + 1), colour);
    }
    text
}

fn one_turn(text: &mut String, turn: &Value, next: Option<&Value>, colour: bool) {
    let mut line = |label: &str, said: &str| {
        let _ = writeln!(text, "  {label:10} {said}");
    };
    let id = turn["turn_id"].as_str().unwrap_or("?");
    let head = format!("{}  {id}", time(&turn["ts"]));
    line(&painted(&format!("{:10}", "turn"), BOLD, colour), &head);
    line("user", &one_line(turn["user"]["text"].as_str().unwrap_or("(erased)"), WIDTH));
    match turn["assistant"]["response"].as_str() {
        Some(response) => line("assistant", &one_line(response, WIDTH)),
        None if turn["completed"] == true => line("assistant", "(nothing)"),
        None => line("assistant", "(not answered yet)"),
    }
    for told in signals(&turn["signals"]) {
        line("shows", &painted(&told, RED, colour));
    }
    let (verdict, paint) = taken(&turn["verdict"]);
    line("taken", &painted(&verdict, paint, colour));
    if let Some(why) = why(&turn["verdict"]["found"], next, colour) {
        line("because", &why);
    }
    for reaction in turn["reactions"].as_array().map(Vec::as_slice).unwrap_or_default() {
        line("reaction", &reaction_line(reaction));
    }
}

/// How it was taken, and the colour of that.
fn taken(verdict: &Value) -> (String, &'static str) {
    let status = verdict["status"].as_str().unwrap_or("neutral");
    let paint = match status {
        "rejected" => RED,
        "accepted" => GREEN,
        _ => PLAIN,
    };
    let by = match verdict["by"].as_str() {
        Some("review") => ", by a review",
        Some("user") => ", by the user's reaction",
        Some("verdict") => ", by what the user said next",
        Some(_) | None => "",
    };
    // Nearly certain is not certain.
    let confidence = verdict["confidence"].as_f64().unwrap_or(0.5);
    let sure = if confidence < 1.0 { (confidence * 100.0).min(99.0) } else { 100.0 };
    let ended = if verdict["session_ended"] == true { "; then silence" } else { "" };
    let known = verdict["by"].is_string();
    let sure = if known { format!(" ({sure:.0}% sure{by})") } else { String::new() };
    (format!("{status}{sure}{ended}"), paint)
}

/// The words that show it, marked where they stand.
fn why(found: &Value, next: Option<&Value>, colour: bool) -> Option<String> {
    let detected_in = found["detected_in"].as_str()?;
    let evidence: Vec<Evidence> =
        serde_json::from_value(found["evidence"].clone()).unwrap_or_default();
    let rule = found["rule"].as_str().unwrap_or("?");
    // What accepts is not repeated in the finding, but usually it is the next message.
    let said = found["user_said"].as_str().or_else(|| {
        let next = next.filter(|next| next["turn_id"] == detected_in)?;
        next["user"]["text"].as_str()
    });
    let words = said.map(|said| format!(" \"{}\"", marked(said, &evidence, colour)));
    Some(format!("{rule}:{}", words.unwrap_or_else(|| format!(" see turn {detected_in}"))))
}

fn signals(signals: &Value) -> Vec<String> {
    let mut told = Vec::new();
    if let Some(kind) = signals["error"]["error_type"].as_str() {
        told.push(kind.replace('_', " "));
    }
    let latency = &signals["latency"];
    if let (Some(seconds), Some(tolerance @ ("medium" | "low"))) =
        (latency["seconds"].as_f64(), latency["tolerance"].as_str())
    {
        let borne = if tolerance == "low" { "very slow" } else { "slow" };
        told.push(format!("{borne}: {seconds:.1} s"));
    }
    if latency["accepted"] == false {
        told.push("the user gave up waiting".to_owned());
    }
    told
}

fn reaction_line(reaction: &Value) -> String {
    let word = |name: &str| reaction[name].as_str().unwrap_or("?").to_owned();
    let whose = match reaction["origin"].as_str() {
        Some("machine") => "the machine".to_owned(),
        Some(_) | None => reaction["user_id"].as_str().unwrap_or("anonymous").to_owned(),
    };
    let said = reaction["text"].as_str().map(|said| format!(": {}", one_line(said, 60)));
    format!("{} by {whose}{}", word("reaction"), said.unwrap_or_default())
}

/// Date and time to the second.
fn time(value: &Value) -> String {
    value.as_str().and_then(|text| text.get(..19)).unwrap_or("?").replace('T', " ")
}

const PLAIN: &str = "";
const BOLD: &str = "1";
const RED: &str = "31";
const GREEN: &str = "32";

fn painted(text: &str, paint: &str, colour: bool) -> String {
    if colour && !paint.is_empty() {
        format!("\x1b[{paint}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}
