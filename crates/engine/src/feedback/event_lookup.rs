//! Events out: one by its id, or the log in order.

use model::{EventId, Position, Scope};
use store::{EventPage, KindFilter, StoredEvent};

use crate::error::EngineError;
use crate::feedback::Feedback;

/// A stretch of the log and where to go on.
#[derive(Clone, Debug)]
pub struct EventBatch {
    /// The events, by position.
    pub items: Vec<StoredEvent>,
    /// The `after` of the next call; unchanged at the end.
    pub next: Position,
}

impl Feedback {
    /// One event as it was stored.
    pub async fn event(
        &self,
        scope: &Scope,
        id: &EventId,
    ) -> Result<Option<StoredEvent>, EngineError> {
        Ok(self.core.store.event(scope, id).await?)
    }

    /// The matching events behind a position.
    pub async fn events(&self, page: EventPage) -> Result<EventBatch, EngineError> {
        let after = page.after;
        let items = self.core.store.events(page).await?;
        let next = items.last().map_or(after, |last| last.position);
        Ok(EventBatch { items, next })
    }

    /// The newest events of a kind before a position, the newest first.
    pub async fn newest_events(
        &self,
        scope: &Scope,
        kind: KindFilter,
        before: Position,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, EngineError> {
        Ok(self.core.store.newest_events(scope, kind, before, limit).await?)
    }
}
