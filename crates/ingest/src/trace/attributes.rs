//! The names under which instrumentations send what Uptake reads. The first name that is present
//! wins.

use model::SpanKind;
use serde_json::{Map, Value};

pub(super) const CONVERSATION: &[&str] = &[
    "langfuse.session.id",
    "session.id",
    "gen_ai.conversation.id",
    "langfuse.observation.metadata.langfuse_session_id",
    "langfuse.trace.metadata.langfuse_session_id",
    "ai.telemetry.metadata.sessionId",
    "ai.settings.context.sessionId",
    "traceloop.association.properties.session_id",
];
pub(super) const USER: &[&str] = &[
    "langfuse.user.id",
    "user.id",
    "langfuse.observation.metadata.langfuse_user_id",
    "langfuse.trace.metadata.langfuse_user_id",
    "ai.telemetry.metadata.userId",
    "ai.settings.context.userId",
    "traceloop.association.properties.user_id",
    "llm.user",
];
pub(super) const MODEL: &[&str] = &[
    "gen_ai.response.model",
    "langfuse.observation.model.name",
    "llm.model_name",
    "ai.response.model",
    "gen_ai.request.model",
    "ai.model.id",
];
/// Inputs that are text or JSON. Numbered messages are read by `messages.rs`.
pub(super) const INPUT: &[&str] = &["langfuse.observation.input", "gen_ai.input.messages"];
pub(super) const LATER_INPUT: &[&str] = &[
    "ai.prompt.messages",
    "ai.prompt",
    "ai.toolCall.args",
    "input.value",
    "traceloop.entity.input",
];
pub(super) const OUTPUT: &[&str] = &["langfuse.observation.output", "gen_ai.output.messages"];
pub(super) const LATER_OUTPUT: &[&str] =
    &["ai.response.text", "ai.toolCall.result", "output.value", "traceloop.entity.output"];
/// Numbered messages: the name before the number, and the names of role and content behind it.
pub(super) const NUMBERED_INPUT: &[(&str, &str)] =
    &[("llm.input_messages", "message."), ("gen_ai.prompt", "")];
pub(super) const NUMBERED_OUTPUT: &[(&str, &str)] =
    &[("llm.output_messages", "message."), ("gen_ai.completion", "")];
pub(super) const TRACE_INPUT: &[&str] = &["langfuse.trace.input"];
pub(super) const TRACE_OUTPUT: &[&str] = &["langfuse.trace.output"];
pub(super) const TOKENS_IN: &[&str] = &[
    "gen_ai.usage.input_tokens",
    "llm.token_count.prompt",
    "ai.usage.inputTokens",
    "gen_ai.usage.prompt_tokens",
    "ai.usage.promptTokens",
];
pub(super) const TOKENS_OUT: &[&str] = &[
    "gen_ai.usage.output_tokens",
    "llm.token_count.completion",
    "ai.usage.outputTokens",
    "gen_ai.usage.completion_tokens",
    "ai.usage.completionTokens",
];
/// JSON objects with counts.
pub(super) const USAGE: &[&str] = &["langfuse.observation.usage_details"];
pub(super) const COST: &[&str] = &["llm.cost.total", "gen_ai.usage.cost"];
pub(super) const COSTS: &[&str] = &["langfuse.observation.cost_details"];
pub(super) const PROMPT_NAME: &[&str] =
    &["langfuse.observation.prompt.name", "langfuse.prompt.name"];
pub(super) const PROMPT_VERSION: &[&str] =
    &["langfuse.observation.prompt.version", "langfuse.prompt.version"];
pub(super) const FIRST_TOKEN_SECONDS: &[&str] =
    &["gen_ai.response.time_to_first_chunk", "gen_ai.client.operation.time_to_first_chunk"];
pub(super) const FIRST_TOKEN_MILLIS: &[&str] = &["ai.response.msToFirstChunk"];
/// A time, as JSON text.
pub(super) const FIRST_TOKEN_AT: &[&str] = &["langfuse.observation.completion_start_time"];
pub(super) const FIRST_TOKEN_EVENTS: &[&str] =
    &["First Token Stream Event", "gen_ai.content.completion.chunk"];
pub(super) const LEVEL: &[&str] = &["langfuse.observation.level"];
pub(super) const ERROR: &[&str] = &["langfuse.observation.status_message"];
pub(super) const LATER_ERROR: &[&str] = &["exception.message", "error.message"];
pub(super) const ERROR_TYPE: &[&str] = &["error.type"];
pub(super) const IS_ROOT: &[&str] = &["langfuse.internal.is_app_root", "langfuse.internal.as_root"];
pub(super) const DOCUMENTS: &[&str] = &["gen_ai.retrieval.documents"];
pub(super) const TOOL_NAME: &[&str] = &["gen_ai.tool.name", "tool.name", "ai.toolCall.name"];

/// Attributes that name the kind of a span, with their words.
const KINDS: &[(&str, &[(&str, SpanKind)])] = &[
    (
        "langfuse.observation.type",
        &[
            ("generation", SpanKind::Llm),
            ("retriever", SpanKind::Retrieval),
            ("tool", SpanKind::Tool),
            ("embedding", SpanKind::Embedding),
        ],
    ),
    (
        "openinference.span.kind",
        &[
            ("llm", SpanKind::Llm),
            ("retriever", SpanKind::Retrieval),
            ("reranker", SpanKind::Retrieval),
            ("tool", SpanKind::Tool),
            ("embedding", SpanKind::Embedding),
        ],
    ),
    (
        "gen_ai.operation.name",
        &[
            ("chat", SpanKind::Llm),
            ("text_completion", SpanKind::Llm),
            ("generate_content", SpanKind::Llm),
            ("retrieval", SpanKind::Retrieval),
            ("execute_tool", SpanKind::Tool),
            ("embeddings", SpanKind::Embedding),
        ],
    ),
    (
        "ai.operationId",
        &[
            ("ai.generatetext.dogenerate", SpanKind::Llm),
            ("ai.streamtext.dostream", SpanKind::Llm),
            ("ai.generateobject.dogenerate", SpanKind::Llm),
            ("ai.streamobject.dostream", SpanKind::Llm),
            ("ai.toolcall", SpanKind::Tool),
            ("ai.embed", SpanKind::Embedding),
            ("ai.embed.doembed", SpanKind::Embedding),
            ("ai.embedmany", SpanKind::Embedding),
            ("ai.embedmany.doembed", SpanKind::Embedding),
        ],
    ),
    ("traceloop.span.kind", &[("tool", SpanKind::Tool)]),
    (
        "llm.request.type",
        &[
            ("chat", SpanKind::Llm),
            ("completion", SpanKind::Llm),
            ("rerank", SpanKind::Retrieval),
            ("embedding", SpanKind::Embedding),
        ],
    ),
];

/// Libraries whose spans are about generative AI, whatever their attributes.
const SCOPES: &[&str] = &["langfuse-sdk", "gen_ai", "ai", "litellm"];
const SCOPE_PREFIXES: &[&str] = &[
    "openinference.",
    "opentelemetry.instrumentation.openai",
    "opentelemetry.instrumentation.anthropic",
    "opentelemetry.instrumentation.genai",
    "opentelemetry.instrumentation.langchain",
    "opentelemetry.instrumentation.llamaindex",
    "opentelemetry.instrumentation.google_genai",
    "opentelemetry.instrumentation.bedrock",
    "opentelemetry.instrumentation.mistralai",
    "opentelemetry.instrumentation.cohere",
    "opentelemetry.instrumentation.ollama",
    "opentelemetry.instrumentation.vertexai",
];
const ATTRIBUTE_PREFIXES: &[&str] =
    &["gen_ai.", "llm.", "langfuse.", "openinference.", "traceloop.", "ai."];
const ATTRIBUTES_OF_REQUESTS: &[&str] = &["input.value", "session.id"];

/// The attributes of a span.
#[derive(Clone, Copy)]
pub(super) struct Attributes<'a>(pub(super) &'a Map<String, Value>);

impl<'a> Attributes<'a> {
    /// The value of the first name that is present and not empty, and its rank.
    pub(super) fn find_ranked(self, names: &[&str]) -> Option<(usize, &'a Value)> {
        names.iter().enumerate().find_map(|(rank, name)| {
            let value = self.0.get(*name)?;
            let is_empty = value.is_null() || value.as_str().is_some_and(str::is_empty);
            (!is_empty).then_some((rank, value))
        })
    }

    pub(super) fn find(self, names: &[&str]) -> Option<&'a Value> {
        self.find_ranked(names).map(|(_, value)| value)
    }

    pub(super) fn text(self, names: &[&str]) -> Option<String> {
        self.find(names).and_then(scalar_text)
    }

    /// A number, also when it was sent as text.
    pub(super) fn number(self, names: &[&str]) -> Option<f64> {
        let number = self.find(names).and_then(scalar_number)?;
        number.is_finite().then_some(number)
    }

    pub(super) fn flag(self, names: &[&str]) -> bool {
        self.find(names).is_some_and(|value| match value {
            Value::Bool(flag) => *flag,
            Value::String(text) => text.eq_ignore_ascii_case("true"),
            Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
        })
    }

    pub(super) fn kind(self) -> SpanKind {
        let named = KINDS.iter().find_map(|(name, words)| {
            let word = self.0.get(*name)?.as_str()?.to_ascii_lowercase();
            let known = words.iter().find(|(one, _)| *one == word);
            Some(known.map_or(SpanKind::Other, |(_, kind)| *kind))
        });
        named.unwrap_or(SpanKind::Other)
    }

    /// True for a span about generative AI.
    pub(super) fn is_genai(self, scope: &str) -> bool {
        SCOPES.contains(&scope)
            || SCOPE_PREFIXES.iter().any(|prefix| scope.starts_with(prefix))
            || self.0.keys().any(|name| {
                ATTRIBUTES_OF_REQUESTS.contains(&name.as_str())
                    || ATTRIBUTE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            })
    }
}

/// A text or a number as text. Some clients send texts as JSON, in quotes.
pub(super) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.starts_with('"') => {
            Some(serde_json::from_str(text).unwrap_or_else(|_| text.clone()))
        }
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
    .filter(|text| !text.is_empty())
}

pub(super) fn scalar_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}
