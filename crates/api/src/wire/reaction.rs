//! Bodies of reaction requests and responses.

use engine::report::{FeedbackItem, Satisfaction};
use engine::{RawReaction, ReactionCounts};
use model::{Origin, Reaction};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::time::TimeInput;

/// Body of `POST /conversations/{tenant}/{project}/{conversation_id}/turns/{turn_id}/feedback`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReactionRequest {
    // Null clears the reaction, so absent and null must be distinguished.
    #[serde(default, deserialize_with = "deserialize_present")]
    #[schema(value_type = Option<Object>)]
    reaction: Option<Value>,
    text: Option<String>,
    ts: Option<TimeInput>,
    user_id: Option<String>,
    origin: Option<String>,
    confidence: Option<f64>,
}

/// Distinguishes null from an absent field.
pub(super) fn deserialize_present<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl From<ReactionRequest> for RawReaction {
    fn from(request: ReactionRequest) -> Self {
        let ReactionRequest { reaction, text, ts, user_id, origin, confidence } = request;
        let ts = ts.map(TimeInput::into_text);
        Self { reaction, text, ts, user_id, origin, confidence }
    }
}

/// Response to a reaction.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ReactionResponse {
    Given {
        success: bool,
        turn_id: String,
        reaction: Option<&'static str>,
        message: &'static str,
        cleared: bool,
        rn: Option<String>,
    },
    Skipped {
        success: bool,
        skipped: &'static str,
    },
}

/// A reaction in the flat format.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FeedbackBody {
    rn: String,
    turn_id: String,
    ts: String,
    text: Option<String>,
    reaction: &'static str,
    confidence: f64,
    origin: &'static str,
    user_id: String,
}

impl From<&FeedbackItem> for FeedbackBody {
    fn from(item: &FeedbackItem) -> Self {
        let reaction = &item.reaction;
        Self {
            rn: item.rn.clone(),
            turn_id: reaction.turn.to_string(),
            ts: reaction.ts.to_string(),
            text: reaction.text.clone(),
            reaction: reaction.reaction.as_word(),
            confidence: reaction.confidence.get(),
            origin: reaction.origin.as_word(),
            user_id: item.user().to_owned(),
        }
    }
}

/// A reaction in the record format.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordBody {
    reaction: RecordReaction,
    meta: RecordMeta,
    conversation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle_id: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct RecordReaction {
    turn_id: String,
    text: Option<String>,
    confidence: f64,
    ts: String,
    reaction: &'static str,
    origin: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
struct RecordMeta {
    rn: String,
    turn_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    track_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_type: Option<String>,
    kind: &'static str,
}

impl From<&FeedbackItem> for RecordBody {
    fn from(item: &FeedbackItem) -> Self {
        let reaction = &item.reaction;
        Self {
            reaction: RecordReaction {
                turn_id: reaction.turn.to_string(),
                text: reaction.text.clone(),
                confidence: reaction.confidence.get(),
                ts: reaction.ts.to_string(),
                reaction: reaction.reaction.as_word(),
                origin: reaction.origin.as_word(),
            },
            meta: RecordMeta {
                rn: item.rn.clone(),
                turn_id: reaction.turn.to_string(),
                track_id: reaction.track.clone(),
                user_type: reaction.user_type.clone(),
                kind: "turn.log.reaction",
            },
            conversation_id: reaction.conversation.as_ref().map(|id| id.to_string()),
            bundle_id: reaction.bundle.clone(),
        }
    }
}

/// Reaction counts: total = user + machine = ok + not_ok + neutral.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CountsBody {
    total: u64,
    user: u64,
    machine: u64,
    ok: u64,
    not_ok: u64,
    neutral: u64,
}

impl From<&ReactionCounts> for CountsBody {
    fn from(counts: &ReactionCounts) -> Self {
        Self {
            total: counts.total(),
            user: counts.of_origin(Origin::User),
            machine: counts.of_origin(Origin::Machine),
            ok: counts.of_reaction(Reaction::Ok),
            not_ok: counts.of_reaction(Reaction::NotOk),
            neutral: counts.of_reaction(Reaction::Neutral),
        }
    }
}

/// Satisfaction rate of users with its confidence interval.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SatisfactionBody {
    rate: Option<f64>,
    count: u64,
    interval: Option<[f64; 2]>,
}

impl From<&ReactionCounts> for SatisfactionBody {
    fn from(counts: &ReactionCounts) -> Self {
        let Satisfaction { rate, count, interval } =
            Satisfaction::from_counts(counts, Origin::User);
        Self { rate, count, interval: interval.map(|(low, high)| [low, high]) }
    }
}
