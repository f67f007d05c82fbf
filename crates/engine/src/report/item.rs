//! A reaction with its resource name.

use model::{ANONYMOUS, Scope, UserId, artifact_id, resource_name};
use serde_json::{Value, json};
use store::StoredReaction;

#[derive(Clone, Debug, PartialEq)]
pub struct FeedbackItem {
    pub rn: String,
    pub reaction: StoredReaction,
}

impl FeedbackItem {
    pub fn new(scope: &Scope, reaction: StoredReaction) -> Self {
        let artifact = artifact_id(reaction.ts, &reaction.event);
        let rn = resource_name(
            scope,
            reaction.user.as_ref(),
            reaction.conversation.as_ref(),
            &reaction.turn,
            &artifact,
        );
        Self { rn, reaction }
    }

    /// The form used in turn logs.
    pub(crate) fn to_json(&self) -> Value {
        let StoredReaction { turn, ts, text, reaction, confidence, origin, .. } = &self.reaction;
        json!({"rn": self.rn, "turn_id": turn.as_str(), "ts": ts, "text": text,
            "reaction": reaction, "confidence": confidence, "origin": origin,
            "user_id": self.user()})
    }

    /// The user's id, or `anonymous`.
    pub fn user(&self) -> &str {
        self.reaction.user.as_ref().map_or(ANONYMOUS, UserId::as_str)
    }
}
