//! Builds the event that records a finding.

use model::{
    Category, ConversationId, Event, EventId, Finding, Kind, Scope, Severity, Source, Timestamp,
    TurnId, Type, UserId,
};

/// The subject of a finding.
#[derive(Clone, Debug)]
pub struct FindingPlace {
    pub scope: Scope,
    pub turn: Option<TurnId>,
    pub conversation: Option<ConversationId>,
    /// The user whose text it was found in.
    pub user: Option<UserId>,
}

/// Builds a finding's event. Its text comes from stored events and is already redacted.
pub fn finding_event(
    place: FindingPlace,
    finding: &Finding,
    event: EventId,
    ts: Timestamp,
    now: Timestamp,
) -> Event {
    Event {
        id: event,
        scope: place.scope,
        kind: Kind { event_type: Type::Quality, source: Source::Engine },
        severity: Severity::Info,
        category: Category::Quality,
        user: place.user,
        conversation: place.conversation,
        turn: place.turn,
        ts,
        received_at: now,
        tags: Vec::new(),
        data: Event::data_of(finding),
    }
}
