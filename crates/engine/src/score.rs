//! Adds a detector's result to a JSON row, for benchmarks and checks.

use std::io::Cursor;

use detect::{Answer, Exchange, Mode, Utterance, pair_score};
use model::{TurnStatus, Verdict, VerdictStatus};
use serde_json::{Map, Value, json};

use crate::detectors::Detectors;
use crate::embedder::Embedder;
use crate::scan::{ScanSettings, ScannedConversation, scan};

/// The detector to run on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreTask {
    /// Dissatisfaction of the user with the answer.
    Verdict,
    /// Refusal in the answer.
    Refusal,
    /// Equivalence of two messages.
    Pair,
    /// The turn that a message judges.
    Target,
    /// Embedding of a text.
    Embed,
}

#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    #[error("the line is not a JSON object: {0}")]
    NotJson(String),
    #[error("field {field} is missing or not a text; this task needs {needs}")]
    Field {
        field: &'static str,
        /// The fields that the task reads.
        needs: &'static str,
    },
}

/// Scores a line. Other fields of the row are kept.
pub fn score_line(
    detectors: &Detectors,
    embedder: &Embedder,
    task: ScoreTask,
    line: &[u8],
) -> Result<Value, ScoreError> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start_matches('\u{feff}');
    let mut row: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| ScoreError::NotJson(error.to_string()))?;
    let found = match task {
        ScoreTask::Verdict => score_verdict(detectors, &row)?,
        ScoreTask::Refusal => score_refusal(detectors, &row)?,
        ScoreTask::Pair => score_pair(detectors, &row)?,
        ScoreTask::Target => score_target(detectors, &row)?,
        ScoreTask::Embed => score_embedding(embedder, &row)?,
    };
    row.extend(found);
    Ok(Value::Object(row))
}

fn required_text<'a>(
    row: &'a Map<String, Value>,
    field: &'static str,
    needs: &'static str,
) -> Result<&'a str, ScoreError> {
    row.get(field).and_then(Value::as_str).ok_or(ScoreError::Field { field, needs })
}

fn optional_text<'a>(row: &'a Map<String, Value>, field: &str) -> Option<&'a str> {
    row.get(field).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

fn score_verdict(
    detectors: &Detectors,
    row: &Map<String, Value>,
) -> Result<Map<String, Value>, ScoreError> {
    let message =
        Utterance::read(required_text(row, "user", "user; prev_user and assistant if known")?);
    let question = optional_text(row, "prev_user").map(Utterance::read);
    let answer = optional_text(row, "assistant").map(|a| Answer::read(question.as_ref(), a));
    let exchange = Exchange {
        question: question.as_ref(),
        answer: answer.as_ref(),
        intent: optional_text(row, "intent"),
        previous_intent: optional_text(row, "previous_intent"),
        ..Exchange::new(&message)
    };
    let verdict =
        detectors.detect_verdict_fully(&exchange, optional_text(row, "assistant").unwrap_or(""));
    let evidence = json!(verdict.evidence);
    Ok(to_fields(json!({
        "pred": verdict.status == VerdictStatus::Rejected,
        "p": dissatisfaction(&verdict),
        "status": verdict.status,
        "correction_type": verdict.correction_type,
        "confidence": verdict.confidence,
        "rule": verdict.rule,
        "contrast": verdict.contrast,
        "evidence": evidence,
    })))
}

/// The probability of dissatisfaction: the model's, otherwise derived from the rule's confidence.
pub(crate) fn dissatisfaction(verdict: &Verdict) -> f64 {
    let confidence = verdict.confidence.get();
    verdict.dissatisfied.map_or(
        match verdict.status {
            VerdictStatus::Rejected => confidence,
            VerdictStatus::Accepted => (1.0 - confidence) / 2.0,
            VerdictStatus::Neutral => 0.25,
        },
        model::UnitInterval::get,
    )
}

/// Patterns of the baseline mode, for comparison.
const BASELINE_REFUSALS: [&str; 4] = ["i apologize, but i", "i cannot", "error:", "exception:"];

fn score_refusal(
    detectors: &Detectors,
    row: &Map<String, Value>,
) -> Result<Map<String, Value>, ScoreError> {
    let response = required_text(row, "response", "response; prompt if known")?;
    if detectors.verdict.mode == Mode::Seed {
        let folded = response.to_lowercase();
        let refused = BASELINE_REFUSALS.iter().any(|pattern| folded.contains(pattern));
        let p = if refused { 1.0 } else { 0.0 };
        return Ok(to_fields(json!({"pred": refused, "p": p, "evidence": []})));
    }
    let question = optional_text(row, "prompt").map(Utterance::read);
    let answer = Answer::read(question.as_ref(), response);
    let failure =
        detectors.detect_failure(question.as_ref(), response, &answer, TurnStatus::Success, None);
    let refused = failure.error_type == Some(model::ErrorType::ModelRefusal);
    Ok(to_fields(json!({
        "pred": refused,
        "p": answer.refusal_probability,
        "error_type": failure.error_type,
        "evidence": failure.evidence,
    })))
}

fn score_pair(
    detectors: &Detectors,
    row: &Map<String, Value>,
) -> Result<Map<String, Value>, ScoreError> {
    let needs = "a and b";
    let (a, b) = (
        Utterance::read(required_text(row, "a", needs)?),
        Utterance::read(required_text(row, "b", needs)?),
    );
    let p = match detectors.verdict.mode {
        Mode::Seed => a.vector().cosine(b.vector()).map_or(0.0, f64::from).max(0.0),
        Mode::Rules | Mode::Model => pair_score(&a, &b).get(),
    };
    Ok(to_fields(json!({"pred": p >= detectors.retry.min_similarity, "p": p, "evidence": []})))
}

/// Scans a conversation of the row's turns and the message.
fn score_target(
    detectors: &Detectors,
    row: &Map<String, Value>,
) -> Result<Map<String, Value>, ScoreError> {
    let needs = "user, and turns, a list of objects with user and assistant";
    let message = required_text(row, "user", needs)?;
    let field = || ScoreError::Field { field: "turns", needs };
    let turns = row.get("turns").and_then(Value::as_array).ok_or_else(field)?;
    let mut said = Vec::new();
    for turn in turns {
        let texts = [turn["user"].as_str(), turn["assistant"].as_str()];
        let [Some(asked), Some(answered)] = texts else { return Err(field()) };
        said.push(json!({"role": "user", "content": asked}));
        said.push(json!({"role": "assistant", "content": answered}));
    }
    said.push(json!({"role": "user", "content": message}));
    let line = json!({"id": "target", "messages": said}).to_string();
    let settings = ScanSettings { detectors: *detectors, threads: 1, worst: 0, keep: true };
    let mut judged = None;
    let find = |conversations: &[ScannedConversation]| {
        let turns = conversations.iter().flat_map(|conversation| &conversation.turns);
        let mut found = turns.enumerate().collect::<Vec<_>>().into_iter().rev();
        judged = found
            .find(|(_, turn)| turn.next.as_deref() == Some(message))
            .and_then(|(index, turn)| Some((index + 1, turn.verdict.clone()?)));
        Ok(())
    };
    let scanned = scan(&settings, Cursor::new(line.into_bytes()), find, |_| {});
    scanned.map_err(|error| ScoreError::NotJson(error.to_string()))?;
    let verdict = judged.as_ref().map(|(_, verdict)| verdict);
    Ok(to_fields(json!({
        "target": judged.as_ref().map(|(turn, _)| turn),
        "status": verdict.map(|verdict| verdict.status),
        "confidence": verdict.map(|verdict| verdict.confidence),
    })))
}

fn score_embedding(
    embedder: &Embedder,
    row: &Map<String, Value>,
) -> Result<Map<String, Value>, ScoreError> {
    let vectors = embedder.embed(&[required_text(row, "text", "text")?]);
    let vector = vectors.first().map(model::Vector::values);
    let model = vectors.first().map(|v| v.model().as_ref());
    Ok(to_fields(json!({"vector": vector, "model": model})))
}

fn to_fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [&str; 5] = [
        r#"{"prev_user":"What does it cost?","assistant":"It costs 12.","user":"No, that is wrong","intent":"a"}"#,
        r#"{"prompt":"Tell me","response":"I cannot help with that."}"#,
        r#"{"a":"how much is it","b":"what does it cost","text":"a text"}"#,
        r#"{"id":"x","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"no, I meant the other one"}]}"#,
        r#"{"id":"t","sessionId":"s","input":{"messages":[{"role":"user","content":"a"}]},"output":"b"}"#,
    ];

    #[test]
    fn mangled_rows_are_scored_or_refused_and_scanned() {
        let (detectors, embedder) = (Detectors::default(), Embedder::default());
        let mut scored = 0;
        testkit::fuzz_rows(&ROWS, 150, |row| {
            use ScoreTask::{Embed, Pair, Refusal, Target, Verdict};
            for task in [Verdict, Refusal, Pair, Target, Embed] {
                scored += usize::from(score_line(&detectors, &embedder, task, row).is_ok());
            }
            let settings =
                ScanSettings { detectors: Detectors::default(), threads: 1, worst: 2, keep: true };
            scan(&settings, Cursor::new(row), |_| Ok(()), |_| {}).unwrap();
        });
        assert!(scored > 50, "only {scored} had a score");
    }
}
