//! A reaction as reports show it: flat, or as the source system's record.

use model::{ANONYMOUS, Scope, UserId, artifact_id, resource_name};
use serde_json::{Value, json};
use store::StoredReaction;

/// One reaction, flat.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedbackItem {
    /// Its resource name.
    pub rn: String,
    /// The reaction itself.
    pub reaction: StoredReaction,
}

impl FeedbackItem {
    /// Names a stored reaction.
    pub fn of(scope: &Scope, reaction: StoredReaction) -> Self {
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

    /// As a turn log shows it.
    pub(crate) fn to_json(&self) -> Value {
        let StoredReaction { turn, ts, text, reaction, confidence, origin, .. } = &self.reaction;
        json!({"rn": self.rn, "turn_id": turn.as_str(), "ts": ts, "text": text,
            "reaction": reaction, "confidence": confidence, "origin": origin,
            "user_id": self.user()})
    }

    /// Whose it is, in words.
    pub fn user(&self) -> &str {
        self.reaction.user.as_ref().map_or(ANONYMOUS, UserId::as_str)
    }
}
