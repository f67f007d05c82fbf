//! Reads events by id or in log order.

use model::{EventId, Position, Scope};
use store::{EventPage, KindFilter, StoredEvent};

use crate::error::EngineError;
use crate::feedback::Feedback;

/// Events of the log and the cursor after them.
#[derive(Clone, Debug)]
pub struct EventBatch {
    pub items: Vec<StoredEvent>,
    /// The next `after`; unchanged at the end.
    pub next: Position,
}

impl Feedback {
    pub async fn event(
        &self,
        scope: &Scope,
        id: &EventId,
    ) -> Result<Option<StoredEvent>, EngineError> {
        let found = self.core.store.event(scope, id).await?;
        let found = self.core.store.attach_contexts(found.into_iter().collect()).await?;
        Ok(found.into_iter().next())
    }

    /// Matching events after a position.
    pub async fn events(&self, page: EventPage) -> Result<EventBatch, EngineError> {
        let after = page.after;
        let items = self.core.store.events(page).await?;
        let items = self.core.store.attach_contexts(items).await?;
        let next = items.last().map_or(after, |last| last.position);
        Ok(EventBatch { items, next })
    }

    /// The newest events of a kind before a position, newest first.
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
