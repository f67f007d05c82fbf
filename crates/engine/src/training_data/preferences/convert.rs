//! From what is stored to what pairs are made of.

use learn::{
    PreferenceConversation, PreferenceTurn, ServedVariant, TurnCorrection, TurnRating, TurnVerdict,
};
use model::{ConversationId, Timestamp, TurnId, UnitInterval};
use store::{GivenCorrection, LabelledConversation, LabelledTurn, ServedBy};

/// When turns were asked that make rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) since: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
}

impl Asked {
    pub(super) fn has(self, moment: Timestamp) -> bool {
        !self.is_before(moment) && !self.is_after(moment)
    }

    fn is_before(self, moment: Timestamp) -> bool {
        self.since.is_some_and(|since| moment < since)
    }

    fn is_after(self, moment: Timestamp) -> bool {
        self.until.is_some_and(|until| moment >= until)
    }
}

/// A conversation up to the end of the window. What was said before the window is context only.
pub(super) fn conversation(talk: LabelledConversation, window: Asked) -> PreferenceConversation {
    let inside = talk.turns.into_iter().filter(|turn| !window.is_after(turn.asked_at));
    PreferenceConversation {
        id: talk.id,
        turns: inside.map(|turn| of_turn(turn, window)).collect(),
    }
}

/// A turn; without what was thought of it when it was asked before the window.
pub(super) fn of_turn(exchange: LabelledTurn, window: Asked) -> PreferenceTurn {
    let bare = PreferenceTurn {
        id: exchange.turn,
        question: exchange.question,
        answer: exchange.answer,
        failed: exchange.failed,
        asked_at: exchange.asked_at,
        verdict: None,
        rating: None,
        corrections: Vec::new(),
        // The model never saw what was thrown away, whenever that was.
        regenerated: exchange.regenerated,
        context_only: window.is_before(exchange.asked_at),
        arms: exchange.arms.into_iter().map(arm).collect(),
    };
    if bare.context_only {
        return bare;
    }
    let by_message = exchange.verdict.map(|said| TurnVerdict {
        status: said.status,
        correction_type: said.correction_type,
        confidence: said.confidence,
    });
    // A reviewer stands above the machine; how it was rejected only the message says.
    let reviewed = exchange.review.map(|status| TurnVerdict {
        status,
        correction_type: by_message
            .filter(|said| said.status == status)
            .and_then(|said| said.correction_type),
        confidence: UnitInterval::ONE,
    });
    let rating = exchange
        .rating
        .map(|given| TurnRating { value: given.value, confidence: given.confidence });
    PreferenceTurn {
        verdict: reviewed.or(by_message),
        rating,
        corrections: exchange.corrections.into_iter().map(correction).collect(),
        ..bare
    }
}

/// A correction that belongs to no known turn is a conversation of one. It stays in its
/// conversation's part of the data if it names one.
pub(super) fn of_correction(given: GivenCorrection) -> Option<PreferenceConversation> {
    let question = given.query.clone().filter(|query| !query.trim().is_empty())?;
    let by_event = ConversationId::new(given.event.as_str()).ok();
    let named = given.turn.clone().or_else(|| TurnId::new(given.event.as_str()).ok());
    Some(PreferenceConversation {
        id: given.conversation.clone().or(by_event)?,
        turns: vec![PreferenceTurn {
            id: named?,
            question,
            answer: given.original.clone().unwrap_or_default(),
            failed: false,
            asked_at: given.when,
            verdict: None,
            rating: None,
            corrections: vec![correction(given)],
            regenerated: false,
            context_only: false,
            arms: Vec::new(),
        }],
    })
}

fn arm(served: ServedBy) -> ServedVariant {
    let ServedBy { experiment, name, variant } = served;
    ServedVariant { experiment: experiment.to_string(), name, variant }
}

fn correction(given: GivenCorrection) -> TurnCorrection {
    TurnCorrection {
        corrected: given.corrected,
        original: given.original,
        when: given.when,
        confidence: UnitInterval::ONE,
    }
}
