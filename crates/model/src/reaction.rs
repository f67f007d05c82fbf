//! Reactions on turns, and their resource names.

use serde::{Deserialize, Serialize};

use crate::id::{ConversationId, EventId, Scope, TurnId, UserId};
use crate::number::UnitInterval;
use crate::time::Timestamp;
use crate::word::{Origin, Reaction};

/// The id of users without an id.
pub const ANONYMOUS: &str = "anonymous";

/// The data of (explicit, reaction) and (implicit, reaction) events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GivenReaction {
    /// `None` clears the previous reaction.
    pub reaction: Option<Reaction>,
    pub origin: Origin,
    pub confidence: UnitInterval,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The turn whose message the machine read it from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detected_in: Option<TurnId>,
}

/// The id of a reaction's artifact, derived from the event alone so that a rebuild reproduces it.
pub fn artifact_id(ts: Timestamp, event: &EventId) -> String {
    let ts = ts.to_string().replace(':', "-");
    format!("artifact-{ts}-{}", base36_suffix(event.as_str()))
}

pub fn resource_name(
    scope: &Scope,
    user: Option<&UserId>,
    conversation: Option<&ConversationId>,
    turn: &TurnId,
    artifact: &str,
) -> String {
    let user = user.map_or(ANONYMOUS, UserId::as_str);
    let conversation = conversation.map_or("-", ConversationId::as_str);
    let Scope { tenant, project } = scope;
    format!(
        "ef:{tenant}:{project}:chatbot:message:{user}:{conversation}:{turn}:artifact:{artifact}"
    )
}

/// Six digits that distinguish events of the same microsecond (FNV-1a, not secret).
fn base36_suffix(text: &str) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut hash = crate::hash::fnv1a_64(text.as_bytes());
    hash ^= hash >> 32;
    let mut digits = String::with_capacity(6);
    for _ in 0..6 {
        digits.push(DIGITS[(hash % 36) as usize] as char);
        hash /= 36;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_name_identifies_the_artifact_and_is_reproducible() {
        let ts = Timestamp::parse("2025-11-06T17:47:02.162904Z").unwrap();
        let artifact = artifact_id(ts, &EventId::new("e1").unwrap());
        assert!(artifact.starts_with("artifact-2025-11-06T17-47-02.162904Z-"), "{artifact}");
        assert_eq!(artifact, artifact_id(ts, &EventId::new("e1").unwrap()));
        assert_ne!(artifact, artifact_id(ts, &EventId::new("e2").unwrap()));
        let conversation = ConversationId::new("c1").unwrap();
        let turn = TurnId::new("t1").unwrap();
        let name = resource_name(&Scope::default(), None, Some(&conversation), &turn, "artifact-x");
        let expected = "ef:default:default:chatbot:message:anonymous:c1:t1:artifact:artifact-x";
        assert_eq!(name, expected);
    }
}
