//! Feedback on a turn in one request.

use engine::{FeedbackReceipt, RawTurnFeedback};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::reaction::deserialize_present;
use super::time::TimeInput;
use super::warning::{WarningBody, warning_bodies};

/// Body of `POST /api/v1/turns/{turn_id}/feedback`: any subset of the fields.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TurnFeedbackRequest {
    /// The turn's user when absent.
    user_id: Option<String>,
    /// The turn's conversation; checked when the turn exists.
    pub(crate) conversation_id: Option<String>,
    /// `ok`, `not_ok` or `neutral`; null clears the user's reaction. Wins over `stars`.
    // Null clears the reaction, so absent and null must be distinguished.
    #[serde(default, deserialize_with = "deserialize_present")]
    #[schema(value_type = Option<String>)]
    reaction: Option<Value>,
    /// 1 to 5: 1 and 2 are `not_ok`, 3 is `neutral`, 4 and 5 are `ok`. Wins over `rating`.
    stars: Option<f64>,
    /// 0 to 1: `ok` from 0.7, `not_ok` up to 0.3.
    rating: Option<f64>,
    comment: Option<String>,
    /// The corrected answer; not with widget keys.
    correction: Option<String>,
    tags: Option<Vec<String>>,
    ts: Option<TimeInput>,
}

impl From<TurnFeedbackRequest> for RawTurnFeedback {
    fn from(request: TurnFeedbackRequest) -> Self {
        Self {
            user_id: request.user_id,
            ts: request.ts.map(TimeInput::into_text),
            reaction: request.reaction,
            stars: request.stars,
            rating: request.rating,
            comment: request.comment,
            correction: request.correction,
            tags: request.tags.unwrap_or_default(),
        }
    }
}

/// Response to feedback on a turn.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TurnFeedbackResponse {
    turn_id: String,
    /// The fields that are stored.
    #[schema(value_type = Vec<String>)]
    stored: Vec<&'static str>,
    /// True when the turn is unknown. The feedback joins it when it arrives.
    pending: bool,
    warnings: Vec<WarningBody>,
}

impl TurnFeedbackResponse {
    pub(crate) fn new(turn_id: String, receipt: FeedbackReceipt) -> Self {
        let FeedbackReceipt { stored, pending, warnings } = receipt;
        Self { turn_id, stored, pending, warnings: warning_bodies(warnings) }
    }
}
