//! Validates all feedback on a turn that comes in one request, and builds its events.

use model::{Event, EventId, Reaction, Timestamp, UserId};
use serde_json::{Map, Value, json};

use crate::accept::{RawEvent, accept_event};
use crate::check::{CaptureError, accept_unit, check_tags, parse_id};
use crate::reaction::{RawReaction, accept_reaction, reaction_event};
use crate::turn::TurnPlace;

/// Feedback as sent by a client, not validated. Every field is optional.
#[derive(Clone, Debug, Default)]
pub struct RawTurnFeedback {
    /// The turn's user when absent.
    pub user_id: Option<String>,
    /// The current time when absent.
    pub ts: Option<String>,
    /// A reaction, or null to clear. It wins over stars.
    pub reaction: Option<Value>,
    /// 1 to 5. They win over the rating.
    pub stars: Option<f64>,
    /// 0 to 1.
    pub rating: Option<f64>,
    pub comment: Option<String>,
    /// The corrected answer.
    pub correction: Option<String>,
    /// Stored with every other part, or alone.
    pub tags: Vec<String>,
}

/// The events of one request, in the order of their storage.
#[derive(Clone, Debug)]
pub struct AcceptedFeedback {
    /// At least one.
    pub events: Vec<Event>,
    /// Names of the fields that are stored.
    pub stored: Vec<&'static str>,
    /// Names of the fields that another one overrides.
    pub overridden: Vec<&'static str>,
}

/// Validates the feedback on the turn at `place`. `fresh_id` supplies an id per event.
pub fn accept_turn_feedback(
    mut place: TurnPlace,
    raw: &RawTurnFeedback,
    now: Timestamp,
    fresh_id: impl Fn() -> EventId,
) -> Result<AcceptedFeedback, CaptureError> {
    check_tags(&raw.tags)?;
    place.user = parse_id("user_id", raw.user_id.clone(), UserId::new)?.or(place.user);
    let opinion = read_opinion(raw)?;
    let builder = Builder { place: &place, raw, now };
    let (mut events, mut stored) = (Vec::new(), Vec::new());
    if let Some((name, opinion)) = &opinion {
        events.push(builder.opinion_event(name, opinion, fresh_id())?);
        stored.push(*name);
    }
    let rating = opinion.as_ref().and_then(|(_, opinion)| opinion.as_rating());
    if let Some(comment) = present(raw.comment.as_ref()) {
        let mut data = fields("comment", comment);
        data.extend(rating);
        events.push(builder.event(
            "comment",
            "user_comment",
            "user_satisfaction",
            data,
            fresh_id(),
        )?);
        stored.push("comment");
    }
    if let Some(correction) = present(raw.correction.as_ref()) {
        let data = fields("corrected", correction);
        events.push(builder.event(
            "correction",
            "user_correction",
            "accuracy",
            data,
            fresh_id(),
        )?);
        stored.push("correction");
    }
    if !raw.tags.is_empty() {
        if events.is_empty() {
            events.push(builder.event(
                "tags",
                "trace",
                "user_satisfaction",
                Map::new(),
                fresh_id(),
            )?);
        }
        stored.push("tags");
    }
    if events.is_empty() {
        let expected = "reaction, stars, rating, comment, correction or tags";
        return Err(CaptureError::new("body", "without feedback", expected));
    }
    let overridden = list_overridden(raw);
    for event in &mut events {
        event.tags.clone_from(&raw.tags);
    }
    Ok(AcceptedFeedback { events, stored, overridden })
}

/// The one opinion of a request.
enum Opinion {
    /// `None` clears the reaction.
    Reaction(Option<Reaction>),
    Stars(u8),
    Score(f64),
}

impl Opinion {
    /// The opinion as a field of a comment, which then has the sentiment of the opinion.
    fn as_rating(&self) -> Option<(String, Value)> {
        let (name, value) = match self {
            Self::Reaction(Some(Reaction::Ok)) => ("rating", json!("positive")),
            Self::Reaction(Some(Reaction::NotOk)) => ("rating", json!("negative")),
            Self::Reaction(Some(Reaction::Neutral) | None) => return None,
            Self::Stars(stars) => ("rating", json!(stars)),
            Self::Score(score) => ("score", json!(score)),
        };
        Some((name.to_owned(), value))
    }
}

fn read_opinion(raw: &RawTurnFeedback) -> Result<Option<(&'static str, Opinion)>, CaptureError> {
    // All three are validated, also when one overrides the others.
    let stars = match raw.stars {
        None => None,
        Some(stars) if stars.fract() == 0.0 && (1.0..=5.0).contains(&stars) => Some(stars as u8),
        Some(other) => {
            let expected = "a whole number from 1 to 5";
            return Err(CaptureError::new("stars", other.to_string(), expected));
        }
    };
    let score = accept_unit("rating", raw.rating)?;
    if let Some(reaction) = &raw.reaction {
        let word = reaction.as_str().map(Reaction::from_word);
        return match (reaction, word) {
            (Value::Null, _) => Ok(Some(("reaction", Opinion::Reaction(None)))),
            (_, Some(Some(word))) => Ok(Some(("reaction", Opinion::Reaction(Some(word))))),
            (other, _) => {
                let got: String = other.to_string().chars().take(40).collect();
                Err(CaptureError::BadReaction(got))
            }
        };
    }
    let stars = stars.map(|stars| ("stars", Opinion::Stars(stars)));
    Ok(stars.or_else(|| score.map(|score| ("rating", Opinion::Score(score.get())))))
}

fn list_overridden(raw: &RawTurnFeedback) -> Vec<&'static str> {
    let given = [
        (raw.reaction.is_some(), "reaction"),
        (raw.stars.is_some(), "stars"),
        (raw.rating.is_some(), "rating"),
    ];
    given.into_iter().filter_map(|(given, name)| given.then_some(name)).skip(1).collect()
}

fn present(text: Option<&String>) -> Option<&String> {
    text.filter(|text| !text.trim().is_empty())
}

fn fields(name: &str, text: &str) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), text.into())])
}

struct Builder<'a> {
    place: &'a TurnPlace,
    raw: &'a RawTurnFeedback,
    now: Timestamp,
}

impl Builder<'_> {
    fn opinion_event(
        &self,
        name: &str,
        opinion: &Opinion,
        id: EventId,
    ) -> Result<Event, CaptureError> {
        match opinion {
            Opinion::Reaction(_) => {
                let raw = RawReaction {
                    reaction: self.raw.reaction.clone(),
                    ts: self.raw.ts.clone(),
                    ..RawReaction::default()
                };
                let accepted = accept_reaction(raw, self.now)?;
                Ok(reaction_event(self.place.clone(), &accepted, id, self.now))
            }
            Opinion::Stars(_) | Opinion::Score(_) => {
                let data = Map::from_iter(opinion.as_rating());
                self.event(name, "user_rating", "user_satisfaction", data, id)
            }
        }
    }

    /// `field` is the client's name of the data.
    fn event(
        &self,
        field: &str,
        source: &str,
        category: &str,
        data: Map<String, Value>,
        id: EventId,
    ) -> Result<Event, CaptureError> {
        let TurnPlace { scope, turn, conversation, user } = self.place;
        let raw = RawEvent {
            event_type: "explicit".to_owned(),
            source: source.to_owned(),
            category: category.to_owned(),
            user_id: user.as_ref().map(ToString::to_string),
            session_id: conversation.as_ref().map(ToString::to_string),
            message_id: Some(turn.to_string()),
            timestamp: self.raw.ts.clone(),
            data,
            ..RawEvent::default()
        };
        accept_event(scope, raw, self.now, || id).map_err(|error| error.rename_event_field(field))
    }
}

#[cfg(test)]
mod tests {
    use model::{Body, Scope, TurnId};

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn accept(raw: &RawTurnFeedback) -> Result<AcceptedFeedback, CaptureError> {
        let turn = TurnId::new("t1").unwrap();
        let user = Some(UserId::new("ann").unwrap());
        let place = TurnPlace { scope: Scope::default(), turn, conversation: None, user };
        accept_turn_feedback(place, raw, NOW, || EventId::new("e1").unwrap())
    }

    #[test]
    fn reaction_wins_over_stars_and_stars_over_rating() {
        let raw = |reaction: Option<Value>, stars, rating| RawTurnFeedback {
            reaction,
            stars,
            rating,
            ..RawTurnFeedback::default()
        };
        let rows = [
            (raw(Some(json!("ok")), Some(1.0), Some(0.0)), "reaction", vec!["stars", "rating"]),
            (raw(None, Some(4.0), Some(0.0)), "stars", vec!["rating"]),
            (raw(None, None, Some(0.75)), "rating", Vec::new()),
            (raw(Some(Value::Null), None, None), "reaction", Vec::new()),
        ];
        for (raw, expected, overridden) in rows {
            let accepted = accept(&raw).unwrap();
            assert_eq!((accepted.stored, accepted.overridden), (vec![expected], overridden));
            assert_eq!(accepted.events.len(), 1);
        }
    }

    #[test]
    fn every_part_is_an_event_of_the_same_user_with_the_tags() {
        let raw = RawTurnFeedback {
            stars: Some(2.0),
            comment: Some("too slow".into()),
            correction: Some("42".into()),
            tags: vec!["slow".into()],
            user_id: Some("bob".into()),
            ..RawTurnFeedback::default()
        };
        let accepted = accept(&raw).unwrap();
        assert_eq!(accepted.stored, ["stars", "comment", "correction", "tags"]);
        let [rating, comment, correction] = &accepted.events[..] else { panic!("{accepted:?}") };
        assert!(matches!(rating.body, Body::Rating(_)));
        assert!(matches!(&comment.body, Body::Comment(sent) if sent.rating.is_some()));
        assert!(matches!(&correction.body, Body::Correction(sent) if sent.corrected == "42"));
        for event in &accepted.events {
            assert_eq!((event.tags.len(), event.user.as_ref().unwrap().as_str()), (1, "bob"));
        }
    }

    #[test]
    fn invalid_parts_are_named() {
        let field = |raw: RawTurnFeedback| match accept(&raw).unwrap_err() {
            CaptureError::BadField { field, .. } => field,
            CaptureError::BadReaction(_) | CaptureError::NothingToClear => "reaction".to_owned(),
        };
        let raw = RawTurnFeedback::default;
        assert_eq!(field(raw()), "body");
        assert_eq!(field(RawTurnFeedback { comment: Some(" ".into()), ..raw() }), "body");
        assert_eq!(field(RawTurnFeedback { stars: Some(4.5), ..raw() }), "stars");
        assert_eq!(field(RawTurnFeedback { rating: Some(4.0), ..raw() }), "rating");
        assert_eq!(field(RawTurnFeedback { reaction: Some(json!("great")), ..raw() }), "reaction");
        assert_eq!(field(RawTurnFeedback { comment: Some("a\0".into()), ..raw() }), "comment");
        assert_eq!(field(RawTurnFeedback { tags: vec![String::new()], ..raw() }), "tags[0]");
    }
}
