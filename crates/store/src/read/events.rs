//! Reading the log.

use model::{Event, Kind, Position, Scope, Source, Type};

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
