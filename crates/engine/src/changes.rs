//! What an event does to the projections: what `report` says, and the direction of a question.
//!
//! The same when an event comes in and when the projections are made again from the log.

use model::{Body, Change, Event, Rule, Source, TurnHalf, Type, Vector};

/// Characters of a question that its direction is made of.
const MOST_CHARS: usize = 2000;

/// The changes that follow from one event.
pub(crate) fn changes_of(event: &Event) -> Vec<Change> {
    let mut changes = report::changes_of(event);
    if let Ok(Body::Turn(TurnHalf::Opened(opening))) = Body::read(event.kind, &event.data) {
        let vector = question_vector(&opening.text);
        // Nothing is like a question that says nothing.
        changes.extend((!vector.is_zero()).then_some(Change::SetVector(vector)));
    }
    changes
}

/// The direction of a question, by the built-in model.
pub(crate) fn question_vector(text: &str) -> Vector {
    embed::built_in().embed(opening_of(text))
}

/// The beginning of a text, where it says what it is about.
pub(crate) fn opening_of(text: &str) -> &str {
    match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// True when a router can learn from events of this kind.
pub(crate) fn concerns_routers(event: &Event) -> bool {
    let by_source = matches!(
        event.kind.source,
        Source::Engine
            | Source::Reaction
            | Source::UserRating
            | Source::UserCorrection
            | Source::UserInteraction
    );
    by_source || event.kind.event_type == Type::Interaction
}

/// True for the event that records the erasure of a user.
pub(crate) fn is_erasure(event: &Event) -> bool {
    let body = Body::read(event.kind, &event.data);
    matches!(body, Ok(Body::Rule(Rule::Erasure { .. })))
}
