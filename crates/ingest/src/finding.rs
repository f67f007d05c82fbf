//! Builds the event that records a finding.

use model::{
    Body, Category, ConversationId, Event, EventId, Finding, Kind, Scope, Source, Timestamp,
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
    finding: Finding,
    event: EventId,
    ts: Timestamp,
    now: Timestamp,
) -> Event {
    let FindingPlace { scope, turn, conversation, user } = place;
    let kind = (Kind { event_type: Type::Quality, source: Source::Engine }, Category::Quality);
    let body = Body::Finding(finding);
    Event { user, conversation, turn, ts, ..Event::new(scope, event, kind, now, body) }
}
