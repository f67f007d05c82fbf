//! Converts stored turns to the input of pair building.

use std::collections::HashMap;

use learn::{
    PreferenceConversation, PreferenceTurn, ServedVariant, TurnCorrection, TurnRating, TurnReward,
    TurnVerdict,
};
use model::{ConversationId, Reaction, Timestamp, TurnId, UnitInterval};
use store::{GivenCorrection, LabelledConversation, LabelledTurn, ServedBy};

/// Rewards of turns; turns that are missing have no signals.
pub(super) type TurnRewards = HashMap<TurnId, TurnReward>;

/// Time window of the turns that produce rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AskedWindow {
    pub(super) since: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
}

impl AskedWindow {
    pub(super) fn contains(self, moment: Timestamp) -> bool {
        !self.is_before(moment) && !self.is_after(moment)
    }

    fn is_before(self, moment: Timestamp) -> bool {
        self.since.is_some_and(|since| moment < since)
    }

    fn is_after(self, moment: Timestamp) -> bool {
        self.until.is_some_and(|until| moment >= until)
    }
}

/// A conversation up to the end of the window. Turns before the window are context only.
pub(super) fn to_conversation(
    stored: LabelledConversation,
    window: AskedWindow,
    rewards: &TurnRewards,
) -> PreferenceConversation {
    let inside = stored.turns.into_iter().filter(|turn| !window.is_after(turn.asked_at));
    PreferenceConversation {
        id: stored.id,
        turns: inside.map(|turn| to_turn(turn, window, rewards)).collect(),
    }
}

/// A turn, without its feedback if it precedes the window.
pub(super) fn to_turn(
    exchange: LabelledTurn,
    window: AskedWindow,
    rewards: &TurnRewards,
) -> PreferenceTurn {
    let reward = rewards.get(&exchange.turn).copied().unwrap_or_default();
    let bare = PreferenceTurn {
        id: exchange.turn,
        question: exchange.question,
        answer: exchange.answer,
        failed: exchange.failed,
        asked_at: exchange.asked_at,
        verdict: None,
        rating: None,
        corrections: Vec::new(),
        // A discarded answer is never context, regardless of the window.
        regenerated: exchange.regenerated,
        context_only: window.is_before(exchange.asked_at),
        arms: exchange.arms.into_iter().map(to_variant).collect(),
        reward,
    };
    if bare.context_only {
        return bare;
    }
    let by_message = exchange.verdict.map(|said| TurnVerdict {
        status: said.status,
        correction_type: said.correction_type,
        confidence: said.confidence,
    });
    // A review overrides the detected verdict, but only the message has a correction type.
    let reviewed = exchange.review.map(|status| TurnVerdict {
        status,
        correction_type: by_message
            .filter(|said| said.status == status)
            .and_then(|said| said.correction_type),
        confidence: UnitInterval::ONE,
    });
    // A reviewer decides instead of the users.
    let by_reviewer = exchange.review.map(|status| TurnRating {
        value: Reaction::from(status).value(),
        confidence: UnitInterval::ONE,
    });
    let by_users = exchange
        .rating
        .map(|given| TurnRating { value: given.value, confidence: given.confidence });
    PreferenceTurn {
        verdict: reviewed.or(by_message),
        rating: by_reviewer.or(by_users),
        corrections: exchange.corrections.into_iter().map(to_correction).collect(),
        ..bare
    }
}

/// A correction without a turn becomes a conversation of one turn. Its conversation id, if any,
/// decides the split.
pub(super) fn correction_conversation(given: GivenCorrection) -> Option<PreferenceConversation> {
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
            corrections: vec![to_correction(given)],
            regenerated: false,
            context_only: false,
            arms: Vec::new(),
            reward: TurnReward::default(),
        }],
    })
}

fn to_variant(served: ServedBy) -> ServedVariant {
    let ServedBy { experiment, name, variant } = served;
    ServedVariant { experiment: experiment.to_string(), name, variant }
}

fn to_correction(given: GivenCorrection) -> TurnCorrection {
    TurnCorrection {
        corrected: given.corrected,
        original: given.original,
        when: given.when,
        confidence: UnitInterval::ONE,
    }
}
