//! Derives projection changes from an event: those of `report`, and a question's embedding.
//!
//! Commits and rebuilds use the same function, so both produce the same projections.

use model::{Body, Change, Event, Rule, Source, TurnHalf, Type, Vector};

/// Characters of a question that are embedded.
const MAX_EMBEDDED_CHARS: usize = 2000;

pub(crate) fn changes_of(event: &Event) -> Vec<Change> {
    let mut changes = report::changes_of(event);
    if let Ok(Body::Turn(TurnHalf::Opened(opening))) = Body::read(event.kind, &event.data) {
        let vector = embed_question(&opening.text);
        // A zero vector is similar to nothing, so it is not indexed.
        changes.extend((!vector.is_zero()).then_some(Change::SetVector(vector)));
    }
    changes
}

/// Embeds a question with the built-in model.
pub(crate) fn embed_question(text: &str) -> Vector {
    embed::built_in().embed(truncate_for_embedding(text))
}

/// The beginning of a text, up to the embedding limit.
pub(crate) fn truncate_for_embedding(text: &str) -> &str {
    match text.char_indices().nth(MAX_EMBEDDED_CHARS) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// True when a router can learn from events of this kind.
pub(crate) fn is_learnable(event: &Event) -> bool {
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
