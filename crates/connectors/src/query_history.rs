//! The recent questions of each user, for retry detection.

#[cfg(test)]
pub(crate) mod contract;
mod in_process;

use std::sync::Arc;
use std::time::Duration;

use model::{ConversationId, Event, Scope, Timestamp, TurnId, UserId, Vector};

use crate::error::ConnectorFuture;

pub use in_process::InProcessHistory;

/// The user, or the conversation when the user is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HistoryKey {
    User(Scope, UserId),
    Conversation(Scope, ConversationId),
}

impl HistoryKey {
    pub fn from_event(event: &Event) -> Option<Self> {
        let scope = event.scope.clone();
        match (&event.user, &event.conversation) {
            (Some(user), _) => Some(Self::User(scope, user.clone())),
            (None, Some(conversation)) => Some(Self::Conversation(scope, conversation.clone())),
            (None, None) => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct RecentQuestion {
    pub turn: TurnId,
    pub text: Arc<str>,
    pub ts: Timestamp,
    /// The embedding, to skip the text of distant questions. Not every implementation keeps it.
    pub vector: Option<Vector>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryHealth {
    pub away: bool,
    /// Calls that failed.
    pub missed: u64,
}

/// Recent questions per user, kept for a short window. The log remains the source of truth.
pub trait QueryHistory: Send + Sync {
    /// The questions in the window before `at` with their ages, newest first.
    fn recent(
        &self,
        asker: &HistoryKey,
        at: Timestamp,
    ) -> ConnectorFuture<'_, Vec<(RecentQuestion, Duration)>>;

    /// Adds a question and drops those beyond the maximum.
    fn add(&self, asker: &HistoryKey, asked: &RecentQuestion) -> ConnectorFuture<'_, ()>;

    /// Removes a question that was not stored, or was a repeat.
    fn take_back(&self, asker: &HistoryKey, asked: &RecentQuestion) -> ConnectorFuture<'_, ()>;

    /// Deletes a user's questions and returns their number. An unavailable store deletes them once
    /// it is back.
    fn forget(&self, asker: &HistoryKey) -> ConnectorFuture<'_, usize>;

    /// Clears a process-local history. A shared one ignores the call.
    fn clear(&self) {}

    /// True when other nodes share it. It then needs no refill at start, and may hold questions
    /// that were never stored.
    fn is_shared(&self) -> bool;

    fn health(&self) -> HistoryHealth;
}
