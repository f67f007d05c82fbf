//! Langfuse traces and observations. A trace is one turn of a session.

use serde_json::{Map, Value};

use super::message::{read_answer, read_question};
use super::{ChatMessage, ChatRecord, ChatUsage, Speaker};
use crate::source::fields::{
    decode_json, is_error, list_field, number_field, text_field, time_field,
};
use crate::source::signs;

/// A Langfuse trace or root observation: one turn of a session. Its input may be the whole
/// conversation so far.
pub(super) fn read_trace(record: &Map<String, Value>) -> ChatRecord {
    let started = time_field(record, &["timestamp", "startTime", "start_time", "createdAt"]);
    let ended = time_field(record, &["endTime", "end_time"]);
    let mut question = ChatMessage::new(Speaker::User, read_question(record.get("input")), started);
    let mut text = read_answer(&decode_json(record.get("output")));
    if text.is_empty() {
        text = text_field(record, &["output", "refusal"]).unwrap_or_default();
    }
    let mut answer = ChatMessage::new(Speaker::Assistant, text, ended.or(started));
    let names: &[&str] =
        if is_child_observation(record) { &["id"] } else { &["traceId", "trace_id", "id"] };
    question.turn = text_field(record, names);
    answer.turn.clone_from(&question.turn);
    answer.model = trace_field(record, |fields| {
        text_field(fields, &["model", "provided_model_name", "providedModelName", "modelId"])
    });
    answer.error = is_error(record).then(|| {
        text_field(record, &["statusMessage", "status_message", "error"])
            .unwrap_or_else(|| "error".to_owned())
    });
    answer.latency_seconds = number_field(record, &["latency"]).or_else(|| {
        let micros = ended?.as_micros().checked_sub(started?.as_micros())?;
        Some(micros as f64 / 1e6)
    });
    answer.usage = trace_field(record, read_usage).unwrap_or_default();
    answer.signs = signs::score_signs(record);
    ChatRecord {
        conversation: text_field(record, &["sessionId", "session_id", "traceId", "trace_id", "id"]),
        user: text_field(record, &["userId", "user_id"]),
        messages: vec![question, answer],
        remarks: Vec::new(),
        is_turn: true,
    }
}

/// True for an observation inside a trace that is not the trace's root.
pub(in crate::source) fn is_child_observation(record: &Map<String, Value>) -> bool {
    let is_root = ["isRootObservation", "is_root_observation", "is_app_root"]
        .iter()
        .any(|name| record.get(*name) == Some(&Value::Bool(true)));
    !is_root && text_field(record, &["parentObservationId", "parent_observation_id"]).is_some()
}

/// The value of the trace, otherwise of its last model call.
fn trace_field<T>(
    record: &Map<String, Value>,
    read: impl Fn(&Map<String, Value>) -> Option<T>,
) -> Option<T> {
    let calls = list_field(record, "observations").map(Vec::as_slice).unwrap_or_default();
    read(record).or_else(|| calls.iter().rev().filter_map(Value::as_object).find_map(&read))
}

fn read_usage(record: &Map<String, Value>) -> Option<ChatUsage> {
    let inner = ["usageDetails", "usage_details", "usage"]
        .iter()
        .find_map(|name| record.get(*name)?.as_object());
    let count = |names: &[&str]| {
        let given = number_field(record, names).or_else(|| number_field(inner?, names));
        given.filter(|number| *number >= 0.0).map(|number| number as u64)
    };
    let usage = ChatUsage {
        tokens_in: count(&["promptTokens", "prompt_tokens", "inputUsage", "input"]),
        tokens_out: count(&["completionTokens", "completion_tokens", "outputUsage", "output"]),
        cost: number_field(record, &["totalCost", "total_cost", "calculatedTotalCost"])
            .filter(|cost| *cost >= 0.0),
    };
    (usage != ChatUsage::default()).then_some(usage)
}
