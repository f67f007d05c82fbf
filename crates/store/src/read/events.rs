//! Reading the log.

use model::{Event, EventId, Kind, Position, Scope, Source, Timestamp, Type};

use crate::log::Task;

/// An event with its place in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvent {
    /// Where it stands.
    pub position: Position,
    /// What happened.
    pub event: Event,
}

/// A stretch of one scope's log.
#[derive(Clone, Debug)]
pub struct EventPage {
    /// Whose events.
    pub scope: Scope,
    /// Only events behind this position.
    pub after: Position,
    /// At most so many.
    pub limit: usize,
    /// Only events of one of these kinds; all when empty.
    pub any_of: Vec<KindFilter>,
}

/// Some kinds of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindFilter {
    /// Only these types; all when empty.
    pub types: Vec<Type>,
    /// Only this source.
    pub source: Option<Source>,
}

impl KindFilter {
    /// Whether an event of this kind is one of them.
    pub fn holds(&self, kind: Kind) -> bool {
        (self.types.is_empty() || self.types.contains(&kind.event_type))
            && self.source.is_none_or(|source| source == kind.source)
    }
}

/// Events as they were stored, in order.
pub trait EventReads: Send + Sync {
    /// One event by its id.
    fn event(&self, scope: &Scope, id: &EventId) -> Task<'_, Option<StoredEvent>>;

    /// The matching events of a page, by position; fewer than asked for if they are large.
    fn events(&self, page: EventPage) -> Task<'_, Vec<StoredEvent>>;

    /// The newest matching events of a scope before a position, the newest first; fewer than asked for if they
    /// are large.
    fn newest_events(
        &self,
        scope: &Scope,
        kind: KindFilter,
        before: Position,
        limit: usize,
    ) -> Task<'_, Vec<StoredEvent>>;

    /// The log of every scope behind a position, in order: for those who read along.
    fn tail(&self, after: Position, limit: usize) -> Task<'_, Vec<StoredEvent>>;

    /// The events at some positions, of whatever scope, in order. What is gone is left out.
    fn events_at(&self, positions: Vec<Position>) -> Task<'_, Vec<StoredEvent>>;

    /// Questions that were asked and came in since a moment, of every scope, and what was set about users
    /// meanwhile, in order. Looks at so many of the newest events at the most.
    fn recent_questions(&self, since: Timestamp, newest: u64) -> Task<'_, Vec<StoredEvent>>;
}
