//! The event that records a finding.

use model::{
    Category, ConversationId, Event, EventId, Finding, Kind, Scope, Severity, Source, Timestamp,
    TurnId, Type, UserId,
};

/// Whom and what a finding is about.
#[derive(Clone, Debug)]
pub struct FindingPlace {
    /// Whose.
    pub scope: Scope,
    /// The turn, if any is meant.
    pub turn: Option<TurnId>,
    /// The conversation.
    pub conversation: Option<ConversationId>,
    /// Whose words it was found in.
    pub user: Option<UserId>,
}

/// The event of a finding. Its words come from what is stored already, so they are redacted.
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
