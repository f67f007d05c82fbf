//! Bodies of event requests and responses.

use engine::{
    CommentView, EventBatch, FailureReport, RawEvent, Receipt, StoredEvent, TurnContext, Warning,
};
use model::{Event, Position};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::comment::{SentimentBody, TopicBody};
use super::time::TimeInput;
use super::warning::{WarningBody, warning_bodies};

/// Body of `POST /api/v1/feedback`, and an item of a batch.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventRequest {
    id: Option<String>,
    #[serde(rename = "type")]
    event_type: String,
    source: String,
    severity: Option<String>,
    category: String,
    pub(crate) tenant_id: Option<String>,
    user_id: Option<String>,
    session_id: Option<String>,
    message_id: Option<String>,
    timestamp: Option<TimeInput>,
    #[serde(default)]
    #[schema(value_type = Object)]
    data: Map<String, Value>,
    #[serde(default)]
    tags: Vec<String>,
}

/// Body of `POST /api/v1/feedback/correction`. Type, source and category have defaults.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only for the OpenAPI schema; the body is read as an event")]
pub(crate) struct CorrectionRequest {
    id: Option<String>,
    severity: Option<String>,
    tenant_id: Option<String>,
    user_id: Option<String>,
    session_id: Option<String>,
    message_id: Option<String>,
    timestamp: Option<TimeInput>,
    #[schema(value_type = Object)]
    data: Map<String, Value>,
    tags: Option<Vec<String>>,
}

impl From<EventRequest> for RawEvent {
    fn from(request: EventRequest) -> Self {
        Self {
            id: request.id,
            event_type: request.event_type,
            source: request.source,
            severity: request.severity,
            category: request.category,
            user_id: request.user_id,
            session_id: request.session_id,
            message_id: request.message_id,
            timestamp: request.timestamp.map(TimeInput::into_text),
            data: request.data,
            tags: request.tags,
        }
    }
}

/// Response to a stored event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReceiptResponse {
    id: String,
    replayed: bool,
    /// True when the event waits for the turn it names. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pending: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningBody>,
}

impl ReceiptResponse {
    pub(crate) fn with_warnings(self, warnings: Vec<Warning>) -> Self {
        Self { warnings: warning_bodies(warnings), ..self }
    }
}

impl From<Receipt> for ReceiptResponse {
    fn from(receipt: Receipt) -> Self {
        let Receipt { id, replayed, pending, position: _, turn: _ } = receipt;
        Self { id: id.to_string(), replayed, pending, warnings: Vec::new() }
    }
}

/// Response to a batch, with counts of its items.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct BatchResponse {
    pub(crate) accepted: usize,
    pub(crate) replayed: usize,
    pub(crate) rejected: usize,
    pub(crate) errors: Vec<BatchError>,
    /// Warnings about stored items; at most 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<BatchWarning>,
}

/// A warning about a stored item of a batch.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchWarning {
    pub(crate) index: usize,
    #[serde(flatten)]
    pub(crate) warning: WarningBody,
}

/// A rejected item of a batch.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchError {
    pub(crate) index: usize,
    pub(crate) field: Option<String>,
    pub(crate) message: String,
}

/// A stored event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventResponse {
    position: u64,
    id: String,
    #[serde(rename = "type")]
    event_type: &'static str,
    source: &'static str,
    severity: &'static str,
    category: &'static str,
    tenant_id: String,
    project: String,
    user_id: Option<String>,
    session_id: Option<String>,
    message_id: Option<String>,
    timestamp: String,
    received_at: String,
    #[schema(value_type = Object)]
    data: Map<String, Value>,
    tags: Vec<String>,
    /// The turn that `message_id` names, once it is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<EventContextBody>,
    /// Comments only: the sentiment, or null when it was not analysed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<SentimentBody>)]
    sentiment: Option<Option<SentimentBody>>,
    /// Comments only: the most similar failure pattern, or null.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<TopicBody>)]
    topic: Option<Option<TopicBody>>,
}

/// The turn that an event is about.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventContextBody {
    model: Option<String>,
    /// Written as `id@version`.
    prompt: Option<String>,
    /// Attributes of the user, if the event is by the turn's user.
    #[schema(value_type = Object)]
    profile: Map<String, Value>,
}

impl From<TurnContext> for EventContextBody {
    fn from(context: TurnContext) -> Self {
        let TurnContext { model, prompt, profile, .. } = context;
        Self { model, prompt, profile }
    }
}

impl From<StoredEvent> for EventResponse {
    /// Hides the webhook URL and secret.
    fn from(stored: StoredEvent) -> Self {
        let StoredEvent { position, event, context } = stored;
        let mut event = event.into_inner();
        engine::redact_webhook(&mut event.body);
        Self { context: context.map(|context| (*context).into()), ..Self::new(position, event) }
    }
}

impl EventResponse {
    pub(crate) fn attach_comment(self, comment: &CommentView, patterns: &FailureReport) -> Self {
        let sentiment = comment.sentiment.as_ref().map(SentimentBody::from);
        let topic = patterns.match_topic(&comment.text).map(TopicBody::from);
        Self { sentiment: Some(sentiment), topic: Some(topic), ..self }
    }

    /// Converts the event with all of its fields.
    fn new(position: Position, event: Event) -> Self {
        Self {
            position: position.0,
            id: event.id.to_string(),
            event_type: event.kind.event_type.as_word(),
            source: event.kind.source.as_word(),
            severity: event.severity.as_word(),
            category: event.category.as_word(),
            tenant_id: event.scope.tenant.to_string(),
            project: event.scope.project.to_string(),
            user_id: event.user.map(|id| id.to_string()),
            session_id: event.conversation.map(|id| id.to_string()),
            message_id: event.turn.map(|id| id.to_string()),
            timestamp: event.ts.to_string(),
            received_at: event.received_at.to_string(),
            data: event.body.to_fields(),
            tags: event.tags,
            context: None,
            sentiment: None,
            topic: None,
        }
    }
}

/// Serializes an event as one line of JSON, including the webhook settings that the API hides.
pub fn event_line(stored: StoredEvent) -> serde_json::Result<String> {
    let StoredEvent { position, event, context } = stored;
    let context = context.map(|context| (*context).into());
    let line = EventResponse { context, ..EventResponse::new(position, event.into_inner()) };
    serde_json::to_string(&line)
}

/// Serializes an event as the API returns it.
pub(crate) fn public_event_line(stored: StoredEvent) -> serde_json::Result<String> {
    serde_json::to_string(&EventResponse::from(stored))
}

/// A page of the log; `next` continues it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StretchResponse {
    items: Vec<EventResponse>,
    next: u64,
}

impl From<EventBatch> for StretchResponse {
    fn from(stretch: EventBatch) -> Self {
        let items = stretch.items.into_iter().map(EventResponse::from).collect();
        Self { items, next: stretch.next.0 }
    }
}
