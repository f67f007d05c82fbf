//! LangSmith runs. A root run is one turn of a thread.

use serde_json::{Map, Value};

use super::message::{read_answer, read_question};
use super::{ChatMessage, ChatRecord, ChatUsage, Speaker};
use crate::source::fields::{number_field, text_field, time_field};

/// True for a run of a LangSmith export.
pub(in crate::source) fn is_run(record: &Map<String, Value>) -> bool {
    let has_content = record.contains_key("inputs") || record.contains_key("outputs");
    has_content && record.contains_key("run_type")
}

pub(in crate::source) fn is_child_run(record: &Map<String, Value>) -> bool {
    text_field(record, &["parent_run_id"]).is_some()
}

/// The thread is in the run's metadata. The run's `session_id` is the LangSmith project.
pub(super) fn read_run(record: &Map<String, Value>) -> ChatRecord {
    let metadata = run_metadata(record);
    let from_metadata = |names: &[&str]| metadata.and_then(|fields| text_field(fields, names));
    let started = time_field(record, &["start_time"]);
    let ended = time_field(record, &["end_time"]);
    let turn = text_field(record, &["trace_id", "id"]);
    let mut question =
        ChatMessage::new(Speaker::User, read_question(record.get("inputs")), started);
    let output = record.get("outputs").unwrap_or(&Value::Null);
    let mut answer = ChatMessage::new(Speaker::Assistant, read_answer(output), ended.or(started));
    question.turn.clone_from(&turn);
    answer.turn.clone_from(&turn);
    answer.model = from_metadata(&["ls_model_name", "model", "model_name"]);
    answer.error = text_field(record, &["error"]);
    answer.latency_seconds = started
        .zip(ended)
        .and_then(|(from, to)| Some(to.as_micros().checked_sub(from.as_micros())? as f64 / 1e6));
    let count = |name: &str| {
        number_field(record, &[name]).filter(|number| *number >= 0.0).map(|number| number as u64)
    };
    answer.usage = ChatUsage {
        tokens_in: count("prompt_tokens"),
        tokens_out: count("completion_tokens"),
        cost: number_field(record, &["total_cost"]).filter(|cost| *cost >= 0.0),
    };
    ChatRecord {
        conversation: from_metadata(&["session_id", "thread_id", "conversation_id"])
            .or_else(|| text_field(record, &["thread_id"]))
            .or(turn),
        user: from_metadata(&["user_id", "userId"]),
        // A child run repeats parts of its root run.
        messages: if is_child_run(record) { Vec::new() } else { vec![question, answer] },
        remarks: Vec::new(),
        is_turn: true,
    }
}

fn run_metadata(record: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let extra = record.get("extra").and_then(|extra| extra.get("metadata"));
    extra.or_else(|| record.get("metadata"))?.as_object()
}
