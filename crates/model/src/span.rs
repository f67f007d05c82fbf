//! Spans of traces, reduced to what Uptake reads: the data of (log, trace) events.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;
use crate::turn::{PromptRef, Retrieved};
use crate::word::SpanKind;

/// A step of a request: a model call, a retrieval, a tool call, or the whole request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Unique in its trace.
    pub span_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    pub name: String,
    pub kind: SpanKind,
    /// True for the span that ends the request.
    #[serde(default, skip_serializing_if = "is_false")]
    pub root: bool,
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
    #[serde(default, skip_serializing_if = "is_false")]
    pub failed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PromptRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Time from the start of the span to its first output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<f64>,
    /// The text of the input: of messages, the user's last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The text of the output; none for a tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The question of the whole trace, on any of its spans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_input: Option<String>,
    /// The answer of the whole trace, on any of its spans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_output: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retrieved: Vec<Retrieved>,
}

/// Spans of one trace that arrived together. The event's turn is named after the trace; user and
/// conversation are those of the event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpanBatch {
    /// True when a root is among them. Erasure keeps it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub root: bool,
    pub spans: Vec<Span>,
}

/// The turns of a trace were stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundTrace {
    /// Position of the newest spans that were read.
    pub upto: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}
