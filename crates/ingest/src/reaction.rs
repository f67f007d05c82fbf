//! Validates reactions to turns.

use model::{
    Body, Category, Event, EventId, GivenReaction, Kind, Origin, Reaction, Source, Timestamp, Type,
    UnitInterval, UserId,
};
use serde_json::Value;

use crate::check::{
    CaptureError, accept_text, accept_unit, parse_id, parse_timestamp, parse_word, shorten,
};
use crate::turn::TurnPlace;

const MAX_CHARS: usize = 1000;
/// Minimum confidence of a machine's reaction.
pub const MIN_MACHINE_CONFIDENCE: f64 = 0.70;

#[derive(Clone, Debug, Default)]
pub struct RawReaction {
    /// A reaction, or null to clear. Absent is an error.
    pub reaction: Option<Value>,
    pub text: Option<String>,
    /// The current time when absent.
    pub ts: Option<String>,
    /// The turn's user when absent.
    pub user_id: Option<String>,
    /// `user` unless a trusted backend sends `machine`.
    pub origin: Option<String>,
    /// The machine's confidence.
    pub confidence: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AcceptedReaction {
    /// Set only if the client named a user.
    pub user: Option<UserId>,
    pub ts: Timestamp,
    pub given: GivenReaction,
}

impl AcceptedReaction {
    /// True when the machine's confidence is below the minimum.
    pub fn is_below_threshold(&self) -> bool {
        match self.given.origin {
            Origin::User => false,
            Origin::Machine => self.given.confidence.get() < MIN_MACHINE_CONFIDENCE,
        }
    }
}

pub fn accept_reaction(raw: RawReaction, now: Timestamp) -> Result<AcceptedReaction, CaptureError> {
    let reaction = match &raw.reaction {
        None => return Err(CaptureError::BadReaction("missing".to_owned())),
        Some(Value::Null) => None,
        Some(Value::String(word)) => match Reaction::from_word(word) {
            Some(reaction) => Some(reaction),
            None => return Err(CaptureError::BadReaction(shorten(word))),
        },
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            return Err(CaptureError::BadReaction("not a word".to_owned()));
        }
    };
    let origin = match &raw.origin {
        None => Origin::User,
        Some(text) => parse_word("origin", text, Origin::from_word, Origin::WORDS)?,
    };
    let confidence = accept_confidence(origin, accept_unit("confidence", raw.confidence)?)?;
    if origin == Origin::Machine && reaction.is_none() {
        return Err(CaptureError::NothingToClear);
    }
    let said = accept_text("text", raw.text)?.filter(|text| !text.trim().is_empty());
    if let Some(chars) = said.as_ref().map(|text| text.chars().count()).filter(|n| *n > MAX_CHARS) {
        let (got, expected) = (format!("{chars} characters long"), format!("at most {MAX_CHARS}"));
        return Err(CaptureError::new("text", got, expected));
    }
    Ok(AcceptedReaction {
        user: parse_id("user_id", raw.user_id, UserId::new)?,
        ts: parse_timestamp("ts", raw.ts.as_deref(), now)?,
        // Clearing a reaction carries no text.
        given: GivenReaction {
            text: said.filter(|_| reaction.is_some()),
            reaction,
            origin,
            confidence,
            detected_in: None,
        },
    })
}

/// A user's confidence is 1; a machine must state its own.
fn accept_confidence(
    origin: Origin,
    given: Option<UnitInterval>,
) -> Result<UnitInterval, CaptureError> {
    match (origin, given) {
        (Origin::User, None) => Ok(UnitInterval::ONE),
        (Origin::User, Some(one)) if one == UnitInterval::ONE => Ok(one),
        (Origin::User, Some(other)) => {
            let expected = "1, or absent, when the user reacts";
            Err(CaptureError::new("confidence", other.get().to_string(), expected))
        }
        (Origin::Machine, Some(sure)) => Ok(sure),
        (Origin::Machine, None) => {
            Err(CaptureError::new("confidence", "missing", "a number from 0 to 1"))
        }
    }
}

/// Builds the event of a reaction or its clearing.
pub fn reaction_event(
    place: TurnPlace,
    accepted: &AcceptedReaction,
    event: EventId,
    now: Timestamp,
) -> Event {
    let event_type = match accepted.given.origin {
        Origin::User => Type::Explicit,
        Origin::Machine => Type::Implicit,
    };
    let TurnPlace { scope, turn, conversation, user } = place;
    let kind = (Kind { event_type, source: Source::Reaction }, Category::UserSatisfaction);
    let body = Body::Reaction(accepted.given.clone());
    Event {
        user,
        conversation,
        turn: Some(turn),
        ts: accepted.ts,
        ..Event::new(scope, event, kind, now, body)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn raw(reaction: Value) -> RawReaction {
        RawReaction { reaction: Some(reaction), ..RawReaction::default() }
    }

    fn machine(reaction: Value, confidence: Option<f64>) -> RawReaction {
        RawReaction { origin: Some("machine".into()), confidence, ..raw(reaction) }
    }

    #[test]
    fn reaction_is_one_of_three_words_or_null() {
        for word in Reaction::WORDS {
            assert!(accept_reaction(raw(json!(word)), NOW).is_ok());
        }
        assert_eq!(accept_reaction(raw(Value::Null), NOW).unwrap().given.reaction, None);
        for bad in [json!("great"), json!(1), json!(["ok"]), json!("OK")] {
            let error = accept_reaction(raw(bad), NOW).unwrap_err();
            assert!(matches!(error, CaptureError::BadReaction(_)), "{error}");
            assert!(error.to_string().contains("ok, not_ok or neutral"), "{error}");
        }
        let missing = accept_reaction(RawReaction::default(), NOW).unwrap_err();
        assert!(matches!(missing, CaptureError::BadReaction(_)), "{missing}");
    }

    #[test]
    fn machine_states_confidence_and_cannot_clear() {
        let sure = accept_reaction(machine(json!("ok"), Some(0.7)), NOW).unwrap();
        assert!(!sure.is_below_threshold());
        let unsure = accept_reaction(machine(json!("ok"), Some(0.69)), NOW).unwrap();
        assert!(unsure.is_below_threshold());
        assert!(accept_reaction(machine(json!("ok"), None), NOW).is_err());
        let clear = accept_reaction(machine(Value::Null, Some(0.9)), NOW);
        assert_eq!(clear, Err(CaptureError::NothingToClear));
    }

    #[test]
    fn text_has_at_most_a_thousand_characters() {
        let long = |n| RawReaction { text: Some("é".repeat(n)), ..raw(json!("ok")) };
        assert!(accept_reaction(long(1000), NOW).is_ok());
        assert!(accept_reaction(long(1001), NOW).is_err());
    }
}
