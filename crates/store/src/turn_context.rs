//! The context of a turn that an event names.

use model::{ConversationId, Fields, UserId};

/// The context of an open turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnContext {
    pub conversation: Option<ConversationId>,
    /// `None` when unknown or erased.
    pub user: Option<UserId>,
    /// True when the question is only quoted in feedback. Its user and conversation may change.
    pub derived: bool,
    /// False when feedback names the turn without quoting its question.
    pub has_question: bool,
    pub answered: bool,
    pub model: Option<String>,
    /// Written as `id@version`.
    pub prompt: Option<String>,
    /// Attributes of the turn's user.
    pub profile: Fields,
}
