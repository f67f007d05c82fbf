//! Assembles the spans of a trace into a turn.

use model::{ConversationId, Retrieved, Span, SpanKind, Timestamp, TurnId, TurnStatus, UserId};
use serde_json::{Map, json};

use super::limits::{MAX_LABEL_CHARS, fit_text};
use super::spans_of_trace::{TraceBatch, TraceSpans, first_id};
use crate::accept::RawEvent;
use crate::turn::{RawCompletion, RawOpening, RawRetrieved};

const MAX_RETRIEVED: usize = 1000;

/// The result of a trace.
#[derive(Clone, Debug)]
pub enum AssembledTrace {
    Turn(Box<AssembledTurn>),
    /// Measurements of a trace without question and answer.
    Measurement(Box<RawEvent>),
    /// Its spans were erased or dropped.
    Nothing,
}

#[derive(Clone, Debug)]
pub struct AssembledTurn {
    pub started_at: Timestamp,
    /// True when the trace named its conversation. Otherwise it is one of its own.
    pub has_conversation: bool,
    pub opening: RawOpening,
    /// `None` while the trace has neither an answer nor an error.
    pub completion: Option<RawCompletion>,
}

/// Assembles a trace. The order and number of its batches, and repeated spans, do not matter.
pub fn assemble_trace(trace: &TurnId, batches: &[TraceBatch<'_>]) -> AssembledTrace {
    // The rest of a partly erased trace would bring back what was erased.
    if batches.is_empty() || batches.iter().any(|batch| batch.spans.is_empty()) {
        return AssembledTrace::Nothing;
    }
    let spans = TraceSpans::new(batches);
    let Some(root) = spans.root() else { return AssembledTrace::Nothing };
    let user = first_id(batches, |batch| batch.user);
    let conversation = first_id(batches, |batch| batch.conversation);
    let texts = TraceTexts::find(&spans, root);
    if texts.question.is_none() && texts.answer.is_none() {
        let measured = measure(&spans, root, user, conversation);
        return AssembledTrace::Measurement(Box::new(measured));
    }
    let started_at = spans.correct(root.started_at);
    let opening = RawOpening {
        turn_id: Some(trace.to_string()),
        conversation_id: Some(
            conversation.map_or_else(|| trace.to_string(), ConversationId::to_string),
        ),
        user_id: user.map(UserId::to_string),
        text: texts.question.unwrap_or_default(),
        ts: Some(started_at.to_string()),
        ..RawOpening::default()
    };
    let outcome = TraceOutcome::find(&spans, root);
    let is_complete = texts.answer.is_some() || outcome.failed;
    let completion = is_complete.then(|| complete(&spans, root, texts.answer, outcome));
    let has_conversation = conversation.is_some();
    let turn = AssembledTurn { started_at, has_conversation, opening, completion };
    AssembledTrace::Turn(Box::new(turn))
}

/// The question and the answer of a trace.
struct TraceTexts {
    question: Option<String>,
    answer: Option<String>,
}

impl TraceTexts {
    /// The root comes before model calls, because the input of a model call often holds a prompt
    /// template around the question.
    fn find(spans: &TraceSpans<'_>, root: &Span) -> Self {
        // A lone retrieval, tool call or embedding is no turn.
        let speaks = matches!(root.kind, SpanKind::Llm | SpanKind::Other);
        let of_root = |text: &Option<String>| text.clone().filter(|_| speaks);
        let question = spans
            .iter()
            .find_map(|span| span.trace_input.clone())
            .or_else(|| of_root(&root.input))
            .or_else(|| spans.of_kind(SpanKind::Llm).find_map(|span| span.input.clone()));
        let answer = spans
            .iter()
            .rev()
            .find_map(|span| span.trace_output.clone())
            .or_else(|| of_root(&root.output))
            .or_else(|| last_answer(spans)?.output.clone());
        // Redaction may have made a text longer than the limit.
        Self { question: question.map(fit_text), answer: answer.map(fit_text) }
    }
}

/// The model call whose answer came last.
fn last_answer<'a>(spans: &TraceSpans<'a>) -> Option<&'a Span> {
    spans
        .of_kind(SpanKind::Llm)
        .filter(|span| span.output.is_some())
        .max_by_key(|span| span.ended_at)
}

struct TraceOutcome {
    failed: bool,
    error: Option<String>,
}

impl TraceOutcome {
    /// A failed tool is not a failed turn.
    fn find(spans: &TraceSpans<'_>, root: &Span) -> Self {
        let last_call = spans.of_kind(SpanKind::Llm).max_by_key(|span| span.ended_at);
        let failures: Vec<&Span> =
            [Some(root), last_call].into_iter().flatten().filter(|span| span.failed).collect();
        let error = failures.iter().find_map(|span| span.error.clone());
        Self { failed: !failures.is_empty(), error }
    }
}

fn complete(
    spans: &TraceSpans<'_>,
    root: &Span,
    answer: Option<String>,
    TraceOutcome { failed, error }: TraceOutcome,
) -> RawCompletion {
    let usage = TraceUsage::sum(spans);
    let calls: Vec<&Span> = spans.of_kind(SpanKind::Llm).collect();
    let speaker = last_answer(spans).or(calls.last().copied());
    let first_token = speaker.and_then(|call| {
        let before = (call.started_at.as_micros() - root.started_at.as_micros()) as f64 / 1000.0;
        call.first_token_ms.map(|millis| millis + before.max(0.0))
    });
    let end = if root.root { root.ended_at } else { spans.end().unwrap_or(root.ended_at) };
    let status = if failed { TurnStatus::Error } else { TurnStatus::Success };
    let prompt = spans.iter().find_map(|span| span.prompt.clone());
    RawCompletion {
        response: answer,
        status: Some(status.as_word().to_owned()),
        error,
        model: speaker.and_then(|call| call.model.clone()).or_else(|| model(spans)),
        strategy: only_tool(spans).map(|name| (name, Map::new())),
        prompt: prompt.map(|prompt| (prompt.id, prompt.version)),
        retrieved: retrieved(spans),
        started_at: Some(spans.correct(root.started_at).to_string()),
        completed_at: Some(spans.correct(end).to_string()),
        time_to_first_token_ms: first_token.or(root.first_token_ms),
        tokens_in: usage.tokens_in,
        tokens_out: usage.tokens_out,
        cost: usage.cost,
        ..RawCompletion::default()
    }
}

fn model(spans: &TraceSpans<'_>) -> Option<String> {
    spans.iter().rev().find_map(|span| span.model.clone())
}

/// The name of the only tool that was called.
fn only_tool(spans: &TraceSpans<'_>) -> Option<String> {
    let mut names = spans.of_kind(SpanKind::Tool).map(|span| span.name.as_str());
    let first =
        names.next().filter(|name| (1..=MAX_LABEL_CHARS).contains(&name.chars().count()))?;
    names.all(|name| name == first).then(|| first.to_owned())
}

/// Documents by the order in which they were retrieved, each once.
fn retrieved(spans: &TraceSpans<'_>) -> Vec<RawRetrieved> {
    let mut found: Vec<&Retrieved> = Vec::new();
    for item in spans.iter().flat_map(|span| &span.retrieved) {
        if found.len() < MAX_RETRIEVED && !found.iter().any(|one| one.entity_id == item.entity_id) {
            found.push(item);
        }
    }
    let raw = |(at, item): (usize, &Retrieved)| RawRetrieved {
        entity_id: item.entity_id.clone(),
        name: item.name.clone(),
        content: item.content.clone().map(fit_text),
        rank: u32::try_from(at + 1).ok(),
        score: item.score,
    };
    found.into_iter().enumerate().map(raw).collect()
}

/// Tokens and cost. Instrumentations repeat them on the spans above a call.
#[derive(Clone, Copy, Default)]
struct TraceUsage {
    tokens_in: Option<u64>,
    tokens_out: Option<u64>,
    cost: Option<f64>,
}

impl TraceUsage {
    fn sum(spans: &TraceSpans<'_>) -> Self {
        let mut sum = Self::default();
        for span in spans.leaves(|span| span.tokens_in.is_some() || span.tokens_out.is_some()) {
            add(&mut sum.tokens_in, span.tokens_in);
            add(&mut sum.tokens_out, span.tokens_out);
        }
        for span in spans.leaves(|span| span.cost.is_some()) {
            sum.cost = Some(sum.cost.unwrap_or(0.0) + span.cost.unwrap_or(0.0));
        }
        sum
    }
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}

/// The measurement of a trace without texts: the capture of content may be off.
fn measure(
    spans: &TraceSpans<'_>,
    root: &Span,
    user: Option<&UserId>,
    conversation: Option<&ConversationId>,
) -> RawEvent {
    let usage = TraceUsage::sum(spans);
    let TraceOutcome { failed, error } = TraceOutcome::find(spans, root);
    let latency = (root.ended_at.as_micros() - root.started_at.as_micros()) as f64 / 1000.0;
    let tokens = usage.tokens_in.unwrap_or(0).saturating_add(usage.tokens_out.unwrap_or(0));
    let given = [
        ("endpoint", Some(json!(root.name))),
        ("latency_ms", Some(json!(latency))),
        ("model", model(spans).map(|model| json!(model))),
        ("tokens_used", (tokens > 0).then(|| json!(tokens))),
        ("tokens_in", usage.tokens_in.map(|tokens| json!(tokens))),
        ("tokens_out", usage.tokens_out.map(|tokens| json!(tokens))),
        ("cost", usage.cost.map(|cost| json!(cost))),
        ("error", error.map(|error| json!(error))),
    ];
    let data = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    RawEvent {
        event_type: "performance".to_owned(),
        source: "trace".to_owned(),
        severity: Some(if failed { "error" } else { "info" }.to_owned()),
        category: "latency".to_owned(),
        user_id: user.map(UserId::to_string),
        session_id: conversation.map(ConversationId::to_string),
        timestamp: Some(spans.correct(root.started_at).to_string()),
        data: data.collect(),
        ..RawEvent::default()
    }
}
