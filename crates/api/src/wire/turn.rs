//! Bodies of turn requests and responses.

use engine::{CompleteReceipt, IncomingHalf, OpenReceipt, RawCompletion, RawOpening, RawRetrieved};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::retrieval::SignalBody;
use super::routing::RouteBody;
use super::strategy::{ExampleBody, StrategiesBody};
use super::time::TimeInput;
use super::verdict::{ContextBody, PreviousBody, RetryBody, SignalsBody};
use super::warning::{WarningBody, warning_bodies};

/// The question of a turn.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpeningRequest {
    turn_id: Option<String>,
    conversation_id: Option<String>,
    user_id: Option<String>,
    text: String,
    intent: Option<String>,
    /// Default is `started_at` of the same request, else the time of receipt.
    ts: Option<TimeInput>,
    track_id: Option<String>,
    bundle_id: Option<String>,
    user_type: Option<String>,
    #[expect(dead_code, reason = "only for the OpenAPI schema; removed before decoding")]
    include: Option<Vec<String>>,
    /// Layout of `context.markdown`: `prompt` (default) or `sections`, with fixed headings.
    #[expect(dead_code, reason = "only for the OpenAPI schema; removed before decoding")]
    context_format: Option<String>,
    /// `now` waits for the reader's verdict on the message; `background` (default) only if `include`
    /// has a section that depends on it.
    #[expect(dead_code, reason = "only for the OpenAPI schema; removed before decoding")]
    read: Option<String>,
    #[expect(dead_code, reason = "only for the OpenAPI schema; removed before decoding")]
    router: Option<String>,
}

impl OpeningRequest {
    /// Fields of the question, for aliases in a body with both question and answer.
    pub(crate) const FIELDS: [&str; 13] = [
        "turn_id",
        "conversation_id",
        "user_id",
        "text",
        "intent",
        "ts",
        "track_id",
        "bundle_id",
        "user_type",
        "include",
        "context_format",
        "read",
        "router",
    ];
}

impl From<OpeningRequest> for RawOpening {
    fn from(request: OpeningRequest) -> Self {
        Self {
            turn_id: request.turn_id,
            conversation_id: request.conversation_id,
            user_id: request.user_id,
            text: request.text,
            intent: request.intent,
            ts: request.ts.map(TimeInput::into_text),
            track_id: request.track_id,
            bundle_id: request.bundle_id,
            user_type: request.user_type,
        }
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct StrategyRequest {
    name: String,
    #[serde(default)]
    #[schema(value_type = Object)]
    params: Map<String, Value>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PromptRequest {
    id: String,
    version: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RetrievedRequest {
    entity_id: String,
    name: Option<String>,
    content: Option<String>,
    rank: Option<u32>,
    score: Option<f64>,
}

/// Body of `POST /api/v1/turns/{turn_id}/complete`: the answer of a turn.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompletionRequest {
    response: Option<String>,
    status: Option<String>,
    error: Option<String>,
    model: Option<String>,
    decision_id: Option<String>,
    strategy: Option<StrategyRequest>,
    prompt: Option<PromptRequest>,
    retrieved: Option<Vec<RetrievedRequest>>,
    validation_outcome: Option<String>,
    quality_score: Option<f64>,
    started_at: Option<TimeInput>,
    completed_at: Option<TimeInput>,
    latency_ms: Option<f64>,
    time_to_first_token_ms: Option<f64>,
    tokens_in: Option<u64>,
    tokens_out: Option<u64>,
    cost: Option<f64>,
    accepted: Option<bool>,
}

impl CompletionRequest {
    /// Distinguishes fields of the answer when one request has both question and answer.
    pub(crate) const FIELDS: [&str; 18] = [
        "response",
        "status",
        "error",
        "model",
        "decision_id",
        "strategy",
        "prompt",
        "retrieved",
        "validation_outcome",
        "quality_score",
        "started_at",
        "completed_at",
        "latency_ms",
        "time_to_first_token_ms",
        "tokens_in",
        "tokens_out",
        "cost",
        "accepted",
    ];
}

impl From<CompletionRequest> for RawCompletion {
    fn from(request: CompletionRequest) -> Self {
        let item = |item: RetrievedRequest| RawRetrieved {
            entity_id: item.entity_id,
            name: item.name,
            content: item.content,
            rank: item.rank,
            score: item.score,
        };
        Self {
            response: request.response,
            status: request.status,
            error: request.error,
            model: request.model,
            decision_id: request.decision_id,
            strategy: request.strategy.map(|strategy| (strategy.name, strategy.params)),
            prompt: request.prompt.map(|prompt| (prompt.id, prompt.version)),
            retrieved: request.retrieved.unwrap_or_default().into_iter().map(item).collect(),
            validation_outcome: request.validation_outcome,
            quality_score: request.quality_score,
            started_at: request.started_at.map(TimeInput::into_text),
            completed_at: request.completed_at.map(TimeInput::into_text),
            latency_ms: request.latency_ms,
            time_to_first_token_ms: request.time_to_first_token_ms,
            tokens_in: request.tokens_in,
            tokens_out: request.tokens_out,
            cost: request.cost,
            accepted: request.accepted,
        }
    }
}

/// Body of `POST /api/v1/turns`: the question, optionally with the answer.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only for the OpenAPI schema; both parts are decoded separately")]
pub(crate) struct TurnRequest {
    #[serde(flatten)]
    opening: OpeningRequest,
    #[serde(flatten)]
    completion: CompletionRequest,
}

/// An answer with the MAC of its fields.
pub(crate) type IncomingCompletion = IncomingHalf<RawCompletion>;

/// Response to an opened turn.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OpenResponse {
    pub(crate) turn_id: String,
    pub(crate) conversation_id: Option<String>,
    pub(crate) replayed: bool,
    pub(crate) previous: Option<PreviousBody>,
    pub(crate) retry: Option<RetryBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) context: Option<ContextBody>,
    #[serde(flatten)]
    pub(crate) strategies: Option<StrategiesBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) examples: Option<Vec<ExampleBody>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) route: Option<RouteBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) signals: Option<SignalsBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completed: Option<CompleteResponse>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<WarningBody>,
}

impl From<OpenReceipt> for OpenResponse {
    fn from(receipt: OpenReceipt) -> Self {
        let completed = receipt.completion.map(CompleteResponse::from);
        Self {
            turn_id: receipt.turn.to_string(),
            conversation_id: receipt.conversation.map(|id| id.to_string()),
            replayed: receipt.replayed,
            previous: receipt.previous.map(PreviousBody::from),
            retry: receipt.retry.map(RetryBody::from),
            context: receipt.context.map(ContextBody::from),
            strategies: receipt.strategies.map(StrategiesBody::from),
            examples: receipt.examples.map(|found| found.into_iter().map(Into::into).collect()),
            route: receipt.route.map(RouteBody::from),
            signals: completed.as_ref().and_then(|done| done.signals.clone()),
            warnings: completed.as_ref().map(|done| done.warnings.clone()).unwrap_or_default(),
            completed,
        }
    }
}

/// Response to a completed turn.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompleteResponse {
    turn_id: String,
    replayed: bool,
    signals: Option<SignalsBody>,
    /// Signals about the items retrieved for the turn.
    usage: Vec<SignalBody>,
    /// Current reward of the turn, 0 to 1; 0.7 without evidence.
    reward: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningBody>,
}

impl From<CompleteReceipt> for CompleteResponse {
    fn from(receipt: CompleteReceipt) -> Self {
        Self {
            turn_id: receipt.turn.to_string(),
            replayed: receipt.replayed,
            signals: receipt.signals.as_ref().map(SignalsBody::from),
            usage: receipt.usage.into_iter().map(SignalBody::from).collect(),
            reward: receipt.reward,
            warnings: warning_bodies(receipt.warnings),
        }
    }
}
