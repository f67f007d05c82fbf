//! Conversation reports and the artifact search.

use engine::report::{ArtifactPage, PeriodItem, PeriodReport, TurnFeedback, TurnReport};
use engine::{StoredEvent, StoredTurn};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::reaction::{CountsBody, FeedbackBody, RecordBody, SatisfactionBody};
use super::time::TimeInput;

/// Body of `POST …/turns-with-feedbacks`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConversationRequestBody {
    pub(crate) turn_ids: Option<Vec<String>>,
    pub(crate) days: Option<u32>,
    pub(crate) include: Option<Vec<String>>,
}

/// Body of `POST …/feedback/conversations-in-period`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PeriodRequestBody {
    pub(crate) start: Option<TimeInput>,
    pub(crate) end: Option<TimeInput>,
    pub(crate) include_turns: Option<bool>,
    pub(crate) limit: Option<usize>,
    pub(crate) cursor: Option<String>,
    pub(crate) user_id: Option<String>,
    pub(crate) origin: Option<String>,
    pub(crate) reaction: Option<String>,
}

/// Body of `POST /api/v1/artifacts/search`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchRequestBody {
    pub(crate) kinds: Option<Vec<String>>,
    pub(crate) roles: Option<Vec<String>>,
    pub(crate) scope: Option<String>,
    pub(crate) user_id: Option<String>,
    pub(crate) conversation_id: Option<String>,
    pub(crate) all_tags: Option<Vec<String>>,
    pub(crate) days: Option<u32>,
    pub(crate) sort: Option<String>,
    pub(crate) timestamp_filters: Option<Vec<TimestampFilter>>,
    pub(crate) with_payload: Option<bool>,
    pub(crate) limit: Option<usize>,
    pub(crate) cursor: Option<String>,
}

/// A time bound of a search.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimestampFilter {
    pub(crate) op: String,
    pub(crate) value: TimeInput,
}

/// The turns of a conversation with their reactions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConversationBody {
    pub(crate) user_id: Option<String>,
    pub(crate) conversation_id: String,
    pub(crate) turns: Vec<TurnReportBody>,
    pub(crate) feedback_counts: CountsBody,
    pub(crate) satisfaction: SatisfactionBody,
    pub(crate) truncated: bool,
}

/// One turn of a conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TurnReportBody {
    turn_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    turn_log: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    assistant: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    user: Option<Value>,
    feedbacks: Vec<FeedbackBody>,
    reactions: Vec<RecordBody>,
}

/// Optional sections of a turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Include {
    pub(crate) turn_log: bool,
    pub(crate) assistant: bool,
    pub(crate) user: bool,
}

impl TurnReportBody {
    pub(crate) fn new(turn: &TurnReport, include: Include) -> Self {
        let stored = turn.stored.as_ref();
        let log = |stored| engine::report::turn_log(stored, &turn.reactions()).to_json();
        Self {
            turn_id: turn.turn.to_string(),
            turn_log: stored.filter(|_| include.turn_log).map(log),
            assistant: stored.filter(|_| include.assistant).and_then(assistant_message),
            user: stored.filter(|_| include.user).and_then(user_message),
            feedbacks: turn.feedbacks.iter().map(FeedbackBody::from).collect(),
            reactions: turn.feedbacks.iter().map(RecordBody::from).collect(),
        }
    }
}

/// The question as it was sent.
pub(crate) fn user_message(turn: &StoredTurn) -> Option<Value> {
    let opened = turn.events.iter().find(|stored| stored.event.body.opening().is_some());
    opened.map(message_json)
}

/// The answer as it was sent.
pub(crate) fn assistant_message(turn: &StoredTurn) -> Option<Value> {
    let completed = turn.events.iter().find(|stored| stored.event.body.completion().is_some());
    completed.map(message_json)
}

fn message_json(stored: &StoredEvent) -> Value {
    let mut fields = stored.event.body.to_fields();
    fields.remove("phase");
    fields.insert("ts".into(), Value::String(stored.event.ts.to_string()));
    Value::Object(fields)
}

/// A page of the period report.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PeriodBody {
    tenant: String,
    project: String,
    window: WindowBody,
    items: Vec<PeriodItemBody>,
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct WindowBody {
    start: String,
    end: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct PeriodItemBody {
    conversation_id: String,
    last_activity_at: String,
    started_at: Option<String>,
    feedback_counts: CountsBody,
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<Vec<TurnFeedbackBody>>,
}

#[derive(Debug, Serialize, ToSchema)]
struct TurnFeedbackBody {
    turn_id: String,
    ts: String,
    feedbacks: Vec<FeedbackBody>,
}

impl PeriodBody {
    pub(crate) fn new(scope: &model::Scope, report: PeriodReport) -> Self {
        Self {
            tenant: scope.tenant.to_string(),
            project: scope.project.to_string(),
            window: WindowBody {
                start: report.window.start.to_string(),
                end: report.window.end.to_string(),
            },
            items: report.items.into_iter().map(PeriodItemBody::from).collect(),
            next_cursor: report.next_cursor,
        }
    }
}

impl From<PeriodItem> for PeriodItemBody {
    fn from(item: PeriodItem) -> Self {
        let turn = |turn: &TurnFeedback| TurnFeedbackBody {
            turn_id: turn.turn.to_string(),
            ts: turn.ts.to_string(),
            feedbacks: turn.feedbacks.iter().map(FeedbackBody::from).collect(),
        };
        Self {
            conversation_id: item.conversation.to_string(),
            last_activity_at: item.last_activity_at.to_string(),
            started_at: item.started_at.map(|ts| ts.to_string()),
            feedback_counts: CountsBody::from(&item.counts),
            turns: item.turns.map(|turns| turns.iter().map(turn).collect()),
        }
    }
}

/// A page of the artifact index.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ArtifactsBody {
    items: Vec<ArtifactBody>,
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct ArtifactBody {
    rn: String,
    tags: Vec<String>,
    turn_id: String,
    ts: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<RecordBody>,
}

impl ArtifactsBody {
    pub(crate) fn new(page: ArtifactPage, with_payload: bool) -> Self {
        let items = page.items.into_iter().map(|artifact| ArtifactBody {
            rn: artifact.item.rn.clone(),
            turn_id: artifact.item.reaction.turn.to_string(),
            ts: artifact.item.reaction.ts.to_string(),
            payload: with_payload.then(|| RecordBody::from(&artifact.item)),
            tags: artifact.tags,
        });
        Self { items: items.collect(), next_cursor: page.next_cursor }
    }
}
