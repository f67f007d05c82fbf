//! An event as stored in the log.

use std::ops::Deref;

use crate::body::Body;
use crate::id::{ConversationId, EventId, Scope, TurnId, UserId};
use crate::time::Timestamp;
use crate::word::{Category, Kind, Severity};

/// An event: its envelope and its typed body.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Unique in its scope.
    pub id: EventId,
    pub scope: Scope,
    pub kind: Kind,
    pub severity: Severity,
    pub category: Category,
    pub user: Option<UserId>,
    pub conversation: Option<ConversationId>,
    /// The turn, when known. The event may arrive before it.
    pub turn: Option<TurnId>,
    /// Time of the event according to the client.
    pub ts: Timestamp,
    /// Time of arrival by our clock.
    pub received_at: Timestamp,
    pub tags: Vec<String>,
    pub body: Body,
}

impl Event {
    /// An event of `now` with default severity, without a user, a conversation, a turn or tags.
    pub fn new(
        scope: Scope,
        id: EventId,
        (kind, category): (Kind, Category),
        now: Timestamp,
        body: Body,
    ) -> Self {
        Self {
            id,
            scope,
            kind,
            severity: Severity::Info,
            category,
            user: None,
            conversation: None,
            turn: None,
            ts: now,
            received_at: now,
            tags: Vec::new(),
            body,
        }
    }
}

/// A value whose texts contain no personal data that the tenant has redacted. Only such events can
/// be committed.
#[derive(Clone, Debug, PartialEq)]
pub struct Redacted<T>(T);

impl<T> Redacted<T> {
    /// Marks a value as redacted without redacting it. The files that may call it are listed in
    /// `tests/it/layers.rs`.
    pub fn assert_redacted(value: T) -> Self {
        Self(value)
    }

    pub fn into_inner(self) -> T {
        self.0
    }
}

impl Redacted<Event> {
    /// Computes an event from this one. The closure must add no other text.
    #[must_use]
    pub fn derive(&self, compute: impl FnOnce(&Event) -> Event) -> Self {
        Self(compute(&self.0))
    }

    /// The event under another id.
    #[must_use]
    pub fn with_id(self, id: EventId) -> Self {
        Self(Event { id, ..self.0 })
    }

    /// Marks an event of ids, numbers and application settings as redacted. It must hold no user
    /// text.
    pub fn assert_no_user_text(event: Event) -> Self {
        Self(event)
    }
}

impl<T> Deref for Redacted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
