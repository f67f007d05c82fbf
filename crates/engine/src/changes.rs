//! What an event does to the projections: what `report` says, and the direction of a question.
//!
//! The same when an event comes in and when the projections are made again from the log.

use model::{Body, Change, Event, TurnHalf, Vector};

/// Characters of a question that its direction is made of.
const MAX_EMBEDDED_CHARS: usize = 2000;

/// The changes that follow from one event.
pub(crate) fn changes_of(event: &Event) -> Vec<Change> {
    let mut changes = report::changes_of(event);
    if let Ok(Body::Turn(TurnHalf::Opened(opening))) = Body::read(event.kind, &event.data) {
        let vector = embed_question(&opening.text);
        // Nothing is like a question that says nothing.
        changes.extend((!vector.is_zero()).then_some(Change::SetVector(vector)));
    }
    changes
}

/// The direction of a question, by the built-in model.
pub(crate) fn embed_question(text: &str) -> Vector {
    embed::built_in().embed(truncate_for_embedding(text))
}

/// The beginning of a text, where it says what it is about.
pub(crate) fn truncate_for_embedding(text: &str) -> &str {
    match text.char_indices().nth(MAX_EMBEDDED_CHARS) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
