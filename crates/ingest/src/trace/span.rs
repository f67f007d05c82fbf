//! Reads one span: gives its attributes their meaning and bounds its texts.

use model::{PromptRef, Span, SpanKind, Timestamp};
use serde_json::{Map, Value};

use super::attributes::{self as names, Attributes};
use super::documents::read_documents;
use super::limits::{cut_text, fit_label, fit_number, fit_some};
use super::messages::{answer_text, question_text};
use crate::source::decode_json;

const MAX_ERROR_CHARS: usize = 2000;

/// A span as received.
#[derive(Clone, Debug, Default)]
pub struct RawSpan {
    pub trace_id: String,
    pub span_id: String,
    pub parent_id: Option<String>,
    /// The name of the library that made it.
    pub scope: String,
    pub name: String,
    /// Microseconds since 1970 UTC; 0 when unknown.
    pub started_at: i64,
    pub ended_at: i64,
    pub attributes: Map<String, Value>,
    pub events: Vec<RawSpanEvent>,
    /// True for the status `error`.
    pub failed: bool,
    /// The text of its status.
    pub message: String,
}

#[derive(Clone, Debug, Default)]
pub struct RawSpanEvent {
    pub name: String,
    /// Microseconds since 1970 UTC.
    pub at: i64,
    pub attributes: Map<String, Value>,
}

/// A span with the ids that it names. These are no texts and are never redacted.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSpan {
    pub trace_id: String,
    /// The conversation, and the rank of the attribute that names it; the lowest wins.
    pub conversation: Option<(usize, String)>,
    pub user: Option<(usize, String)>,
    pub span: Span,
    /// False for spans about other things, such as database queries.
    pub is_genai: bool,
}

/// Reads a span. Never fails: unreadable attributes count as absent.
pub fn read_span(raw: RawSpan, now: Timestamp) -> ReadSpan {
    let attributes = Attributes(&raw.attributes);
    let ranked = |names: &[&str]| {
        let (rank, value) = attributes.find_ranked(names)?;
        Some((rank, names::scalar_text(value)?))
    };
    let (conversation, user) = (ranked(names::CONVERSATION), ranked(names::USER));
    let is_genai = attributes.is_genai(&raw.scope);
    let span = build_span(&raw, attributes, now);
    ReadSpan { trace_id: raw.trace_id, conversation, user, span, is_genai }
}

fn build_span(raw: &RawSpan, attributes: Attributes<'_>, now: Timestamp) -> Span {
    let kind = attributes.kind();
    let (started_at, ended_at) = read_times(raw, now);
    let input = read_input(attributes);
    let output = read_output(attributes);
    let level = attributes.text(names::LEVEL).is_some_and(|level| level == "ERROR");
    let failed = raw.failed || level || attributes.find(names::ERROR_TYPE).is_some();
    let name = attributes.text(names::TOOL_NAME).filter(|_| kind == SpanKind::Tool);
    let (tokens_in, tokens_out) = read_tokens(attributes);
    Span {
        span_id: raw.span_id.clone(),
        parent_id: raw.parent_id.clone(),
        name: fit_label(name.unwrap_or_else(|| raw.name.clone())).unwrap_or_default(),
        kind,
        root: raw.parent_id.is_none() || attributes.flag(names::IS_ROOT),
        started_at,
        ended_at,
        failed,
        error: failed.then(|| read_error(raw, attributes)).flatten(),
        model: attributes.text(names::MODEL).and_then(fit_label),
        prompt: read_prompt(attributes),
        tokens_in,
        tokens_out,
        cost: attributes
            .number(names::COST)
            .or_else(|| count(attributes, names::COSTS, &["total"]))
            .and_then(fit_number),
        first_token_ms: read_first_token(raw, attributes, started_at).and_then(fit_number),
        input: input.as_ref().and_then(|value| excerpt(value, kind, question_text)),
        output: output.as_ref().and_then(|value| excerpt(value, kind, answer_text)),
        trace_input: attributes.find(names::TRACE_INPUT).map(question_text).and_then(fit_some),
        trace_output: attributes.find(names::TRACE_OUTPUT).map(answer_text).and_then(fit_some),
        retrieved: read_documents(attributes, kind, output.as_ref()),
    }
}

/// Times before the year 2000 are unset. An end before its start is the start.
fn read_times(raw: &RawSpan, now: Timestamp) -> (Timestamp, Timestamp) {
    const EARLIEST: i64 = 946_684_800_000_000;
    if raw.started_at < EARLIEST {
        return (now, now);
    }
    let started = Timestamp::from_micros(raw.started_at);
    (started, Timestamp::from_micros(raw.ended_at.max(raw.started_at)))
}

fn read_input(attributes: Attributes<'_>) -> Option<Value> {
    let first = attributes.find(names::INPUT).cloned();
    first
        .or_else(|| attributes.numbered_messages(names::NUMBERED_INPUT))
        .or_else(|| attributes.find(names::LATER_INPUT).cloned())
}

fn read_output(attributes: Attributes<'_>) -> Option<Value> {
    let first = attributes.find(names::OUTPUT).cloned();
    first
        .or_else(|| attributes.numbered_messages(names::NUMBERED_OUTPUT))
        .or_else(|| attributes.find(names::LATER_OUTPUT).cloned())
}

/// The text of an input or output. What a tool or a retriever gets and gives may have any form.
fn excerpt(value: &Value, kind: SpanKind, read: fn(&Value) -> String) -> Option<String> {
    let text = Some(read(value)).filter(|text| !text.trim().is_empty());
    let any = || value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let is_call = matches!(kind, SpanKind::Tool | SpanKind::Retrieval);
    text.or_else(|| is_call.then(any)).and_then(fit_some)
}

fn read_tokens(attributes: Attributes<'_>) -> (Option<u64>, Option<u64>) {
    let tokens = |names: &[&str], fields: &[&str]| {
        let number =
            attributes.number(names).or_else(|| count(attributes, names::USAGE, fields))?;
        fit_number(number).map(|number| number as u64)
    };
    (
        tokens(names::TOKENS_IN, &["input", "input_tokens", "prompt_tokens"]),
        tokens(names::TOKENS_OUT, &["output", "output_tokens", "completion_tokens"]),
    )
}

/// A number of a JSON object.
fn count(attributes: Attributes<'_>, names: &[&str], fields: &[&str]) -> Option<f64> {
    let object = decode_json(Some(attributes.find(names)?));
    fields.iter().find_map(|field| names::scalar_number(object.get(*field)?))
}

fn read_prompt(attributes: Attributes<'_>) -> Option<PromptRef> {
    let id = attributes.text(names::PROMPT_NAME).and_then(fit_label)?;
    Some(PromptRef { id, version: attributes.text(names::PROMPT_VERSION).and_then(fit_label) })
}

fn read_first_token(raw: &RawSpan, attributes: Attributes<'_>, start: Timestamp) -> Option<f64> {
    let seconds = attributes.number(names::FIRST_TOKEN_SECONDS).map(|seconds| seconds * 1000.0);
    let since = |micros: i64| (micros - start.as_micros()) as f64 / 1000.0;
    let moment = || {
        let text = attributes.text(names::FIRST_TOKEN_AT)?;
        Some(since(Timestamp::parse(&text).ok()?.as_micros()))
    };
    let event = || {
        let is_token = |event: &&RawSpanEvent| {
            names::FIRST_TOKEN_EVENTS.contains(&event.name.as_str()) && event.at > 0
        };
        raw.events.iter().filter(is_token).map(|event| since(event.at)).reduce(f64::min)
    };
    seconds.or_else(|| attributes.number(names::FIRST_TOKEN_MILLIS)).or_else(moment).or_else(event)
}

/// The message of the error, without a stack trace.
fn read_error(raw: &RawSpan, attributes: Attributes<'_>) -> Option<String> {
    let of_event = || {
        let thrown = raw.events.iter().find(|event| event.name == "exception")?;
        Attributes(&thrown.attributes).text(names::LATER_ERROR)
    };
    let text = Some(raw.message.clone())
        .filter(|message| !message.is_empty())
        .or_else(|| attributes.text(names::ERROR))
        .or_else(of_event)
        .or_else(|| attributes.text(names::LATER_ERROR))
        .or_else(|| attributes.text(names::ERROR_TYPE))?;
    Some(cut_text(text, MAX_ERROR_CHARS))
}
