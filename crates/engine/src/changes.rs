//! Derives projection changes from an event, with the embedding and the language of a question.
//!
//! Commits and rebuilds use the same function, so both produce the same projections.

use model::{Body, Change, Entry, Event, Redacted, Rule, Source, TurnChange, Type, Vector};

/// Characters of a question that are embedded.
const MAX_EMBEDDED_CHARS: usize = 2000;

/// The entry of an event.
pub(crate) fn build_entry(event: Redacted<Event>) -> Entry {
    Entry { changes: changes_of(&event), event }
}

/// Sources of events that routers learn from, besides interactions of any source.
pub(crate) const LEARNABLE_SOURCES: [Source; 5] = [
    Source::Engine,
    Source::Reaction,
    Source::UserRating,
    Source::UserCorrection,
    Source::UserInteraction,
];

pub(crate) fn changes_of(event: &Event) -> Vec<Change> {
    let mut changes = event.changes();
    if let Some(opening) = event.body.opening() {
        let vector = embed_question(&opening.text);
        // A zero vector is similar to nothing, so it is not indexed.
        let vector = (!vector.is_zero()).then_some(vector);
        let found = detect::classify_language(&opening.text);
        if opening.derived {
            let (is_quoted, language) = (!opening.unquoted, found);
            return vec![Change::Turn(TurnChange::OpenDerived { is_quoted, vector, language })];
        }
        for change in &mut changes {
            if let Change::Turn(TurnChange::Open { language, .. }) = change {
                *language = found;
            }
        }
        changes.extend(vector.map(|vector| Change::Turn(TurnChange::SetVector(vector))));
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
    LEARNABLE_SOURCES.contains(&event.kind.source) || event.kind.event_type == Type::Interaction
}

/// True for the event that records the erasure of a user.
pub(crate) fn is_erasure(event: &Event) -> bool {
    matches!(event.body, Body::Rule(Rule::Erasure { .. }))
}
