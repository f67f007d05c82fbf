//! Reads a line of an import file: our own events, chat logs, and exports of other systems.

use model::Timestamp;
use serde_json::{Map, Value, json};

use super::artifact;
use super::chat::{ChatRecord, is_child_observation, is_child_run, is_run, read_chat};
use super::chat_events::{chat_events, conversation_name, fit_id, hash_name};
use super::event_line::{ImportLine, fit_tag};
use super::fields::{text_field, time_field};
use super::score::Score;
use crate::check::CaptureError;

/// Reads a line. `place` is its line number; `now` replaces missing times.
pub fn read_import_line(
    fields: Map<String, Value>,
    place: u64,
    now: Timestamp,
) -> Result<ImportLine, CaptureError> {
    let has = |name: &str| fields.contains_key(name);
    let is_trace = has("input") || has("output");
    if has("category") || has("data") {
        return Ok(ImportLine::Events(vec![fields]));
    }
    if artifact::is_artifact(&fields) {
        return artifact::read_artifact(&fields, now);
    }
    if is_langfuse_score(&fields) {
        return Ok(langfuse_score(&fields, &ScoreTarget::default(), now));
    }
    if is_langsmith_feedback(&fields) {
        return Ok(langsmith_feedback(&fields, now));
    }
    if is_run(&fields) || is_trace {
        return read_trace(&fields, place, now);
    }
    if has("source") || has("type") {
        return Ok(ImportLine::Events(vec![fields]));
    }
    let record = read_chat(&fields)?;
    Ok(ImportLine::Events(chat_events(&record, place, now)))
}

/// A Langfuse trace or observation, or a LangSmith run, with the feedback inside it.
fn read_trace(
    fields: &Map<String, Value>,
    place: u64,
    now: Timestamp,
) -> Result<ImportLine, CaptureError> {
    if is_child_run(fields) {
        return Ok(ImportLine::Skipped("a child run; the root run is the turn"));
    }
    if is_child_observation(fields) {
        return Ok(ImportLine::Skipped("a child observation; the root observation is the turn"));
    }
    let trace_fields = ["sessionId", "session_id", "userId", "user_id", "trace_name", "traceName"];
    let is_observation = text_field(fields, &["traceId", "trace_id"]).is_some() && !is_run(fields);
    if is_observation && !trace_fields.iter().any(|name| fields.contains_key(*name)) {
        return Ok(ImportLine::Skipped(
            "an observation without session and user; import the traces instead",
        ));
    }
    let record = read_chat(fields)?;
    if record.messages.iter().all(|message| message.text.is_empty() && message.error.is_none()) {
        return Ok(ImportLine::Skipped("a trace without input and output"));
    }
    let mut lines = chat_events(&record, place, now);
    let target = ScoreTarget::from_record(&record);
    let feedback = nested_scores(fields, &target, now);
    for nested in feedback {
        if let ImportLine::Events(events) = nested {
            lines.extend(events);
        }
    }
    Ok(ImportLine::Events(lines))
}

/// The turn of a score, where the line itself does not name it.
#[derive(Default)]
struct ScoreTarget {
    turn: Option<String>,
    conversation: Option<String>,
    user: Option<String>,
    at: Option<Timestamp>,
}

impl ScoreTarget {
    fn from_record(record: &ChatRecord) -> Self {
        let answer = record.messages.last();
        Self {
            turn: answer.and_then(|message| message.turn.clone()),
            conversation: Some(conversation_name(record)),
            user: record.user.clone(),
            at: answer.and_then(|message| message.at),
        }
    }
}

/// Scores inside a trace: a list of scores, or names with their values; and a run's statistics.
fn nested_scores(
    fields: &Map<String, Value>,
    target: &ScoreTarget,
    now: Timestamp,
) -> Vec<ImportLine> {
    let listed = match fields.get("scores") {
        Some(Value::Array(scores)) => {
            let scores = scores.iter().filter_map(Value::as_object);
            scores.map(|score| langfuse_score(score, target, now)).collect()
        }
        Some(Value::Object(scores)) => {
            let named = scores.iter().map(|(name, value)| {
                let value = value.as_array().and_then(|values| values.last()).unwrap_or(value);
                score_line(&Score::named(name, value), &Map::new(), target, ("langfuse", now))
            });
            named.collect()
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => {
            Vec::new()
        }
    };
    let stats = fields.get("feedback_stats").and_then(Value::as_object);
    // An average over several users is no rating of one of them.
    let single = stats
        .into_iter()
        .flatten()
        .filter(|(_, stats)| stats.get("n").and_then(Value::as_f64) == Some(1.0));
    let single = single.filter_map(|(key, stats)| Some((key, stats.get("avg")?)));
    let rated = single.filter(|(_, average)| average.is_number()).map(|(key, average)| {
        score_line(&Score::named(key, average), &Map::new(), target, ("langsmith", now))
    });
    [listed, rated.collect()].concat()
}

fn is_langfuse_score(fields: &Map<String, Value>) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| fields.contains_key(*name));
    has(&["name"])
        && has(&["value", "stringValue", "string_value"])
        && has(&["traceId", "trace_id", "sessionId", "session_id", "datasetRunId"])
        && !has(&["input", "output", "inputs", "outputs"])
}

fn langfuse_score(fields: &Map<String, Value>, target: &ScoreTarget, now: Timestamp) -> ImportLine {
    let score = Score::from_langfuse(fields);
    if score.is_empty() {
        return ImportLine::Skipped("a score without a value");
    }
    score_line(&score, fields, target, ("langfuse", now))
}

fn is_langsmith_feedback(fields: &Map<String, Value>) -> bool {
    let has = |name: &str| fields.contains_key(name);
    has("key")
        && (has("run_id") || has("trace_id"))
        && (has("score") || has("value") || has("comment"))
}

fn langsmith_feedback(fields: &Map<String, Value>, now: Timestamp) -> ImportLine {
    let score = Score::from_langsmith(fields);
    if score.is_empty() {
        return ImportLine::Skipped("feedback without a score, value or comment");
    }
    // The row's `session_id` is the LangSmith project, not a conversation.
    let mut row = fields.clone();
    row.remove("session_id");
    score_line(&score, &row, &ScoreTarget::default(), ("langsmith", now))
}

/// The event of a score. Its id contains the value, so that a changed score is stored as a new
/// event and replaces the user's earlier rating.
fn score_line(
    score: &Score,
    fields: &Map<String, Value>,
    target: &ScoreTarget,
    (system, now): (&str, Timestamp),
) -> ImportLine {
    let turn = text_field(fields, &["traceId", "trace_id", "run_id"]).or(target.turn.clone());
    let conversation =
        text_field(fields, &["sessionId", "session_id"]).or(target.conversation.clone());
    if turn.is_none() && conversation.is_none() {
        return ImportLine::Skipped("a score that names neither a trace nor a session");
    }
    let metadata = fields.get("metadata").and_then(Value::as_object);
    let sender = metadata.and_then(|fields| text_field(fields, &["userId", "user_id"]));
    let user = sender.or(target.user.clone());
    let names = ["timestamp", "created_at", "createdAt", "modified_at"];
    let at = time_field(fields, &names).or(target.at).unwrap_or(now);
    let foreign_id = text_field(fields, &["id"]);
    let place = turn.as_deref().or(conversation.as_deref()).unwrap_or_default();
    let id = foreign_id.as_deref().unwrap_or(place);
    let ([event_type, source, category], data) = score.event_parts();
    let mut tags = vec![system.to_owned(), fit_tag(&format!("score:{}", score.name))];
    tags.extend(text_field(fields, &["source"]).map(|by| fit_tag(&by.to_lowercase())));
    ImportLine::events([json!({
        "id": hash_name("score", &[system, id, &score.fingerprint()]),
        "type": event_type,
        "source": source,
        "category": category,
        "user_id": user.as_deref().map(fit_id),
        "session_id": conversation.as_deref().map(fit_id),
        "message_id": turn.as_deref().map(fit_id),
        "timestamp": at.to_string(),
        "tags": tags,
        "data": data,
    })])
}
