//! The latest questions of each user: what a new one is compared with to see a retry.

#[cfg(test)]
pub(crate) mod contract;
mod in_process;

use std::sync::Arc;
use std::time::Duration;

use model::{ConversationId, Event, Scope, Timestamp, TurnId, UserId, Vector};

use crate::error::ConnectorFuture;

pub use in_process::InProcessHistory;

/// Who asks: the user, or whoever is in the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HistoryKey {
    User(Scope, UserId),
    Conversation(Scope, ConversationId),
}

impl HistoryKey {
    /// Of an event, if it says.
    pub fn from_event(event: &Event) -> Option<Self> {
        let scope = event.scope.clone();
        match (&event.user, &event.conversation) {
            (Some(user), _) => Some(Self::User(scope, user.clone())),
            (None, Some(conversation)) => Some(Self::Conversation(scope, conversation.clone())),
            (None, None) => None,
        }
    }
}

/// A question that was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct RecentQuestion {
    pub turn: TurnId,
    pub text: Arc<str>,
    pub ts: Timestamp,
    /// Where it points, so that the words of far ones need not be read. Not every place keeps it.
    pub vector: Option<Vector>,
}

/// How a place that keeps questions is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryHealth {
    pub away: bool,
    /// What it was asked for and could not do.
    pub missed: u64,
}

/// A place that keeps the latest questions of each for a short while. No truth: whatever is lost here is
/// still in the log.
pub trait QueryHistory: Send + Sync {
    /// The latest questions inside the window before a moment with their ages, the newest first.
    fn recent(
        &self,
        asker: &HistoryKey,
        at: Timestamp,
    ) -> ConnectorFuture<'_, Vec<(RecentQuestion, Duration)>>;

    /// Remembers a question, and forgets those beyond the most that are kept.
    fn add(&self, asker: &HistoryKey, asked: &RecentQuestion) -> ConnectorFuture<'_, ()>;

    /// Forgets one question that was added: it was not stored after all, or had been before.
    fn take_back(&self, asker: &HistoryKey, asked: &RecentQuestion) -> ConnectorFuture<'_, ()>;

    /// Forgets what somebody asked, and says how much that was. A place that cannot do it now does it when
    /// it can.
    fn forget(&self, asker: &HistoryKey) -> ConnectorFuture<'_, usize>;

    /// Forgets everything, where nobody else adds to it; a place that is shared is left as it is.
    fn clear(&self) {}

    /// Whether it outlives this process and others add to it too: then it needs no filling at start, and
    /// may know questions that were never stored.
    fn is_shared(&self) -> bool;

    /// How it is doing.
    fn health(&self) -> HistoryHealth;
}
