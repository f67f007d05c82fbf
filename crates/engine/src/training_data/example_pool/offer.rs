//! What an answered turn, or a correction by itself, offers as an example.

use learn::{ExampleOffer, ExampleSource, QuestionKey, estimate_tokens};
use model::{Position, Timestamp, TurnId, UnitInterval, VerdictStatus};
use store::{GivenCorrection, GivenRating, LabelledTurn, TurnNumber};

/// Somebody who only went on to something else did not say that the answer was good.
const SURE: f64 = 0.7;
/// As good as four stars.
const GOOD: f64 = 0.7;

/// Where the words of an example are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The answer of a turn.
    Answer(TurnNumber),
    /// A correction of a turn that is known.
    Correction(TurnNumber, Position),
    /// A correction by itself.
    Loose(Position),
}

/// An answer that may serve as an example, with its words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Offered {
    pub(crate) place: Place,
    pub(crate) source: ExampleSource,
    pub(crate) turn: Option<TurnId>,
    pub(crate) question: String,
    pub(crate) answer: String,
    pub(crate) explanation: Option<String>,
    pub(crate) rating: Option<UnitInterval>,
    pub(crate) when: Timestamp,
}

impl Offered {
    /// As the pool takes it; `None` when it answers nothing.
    pub(crate) fn put(&self, with: impl FnOnce(ExampleOffer<'_, Place>)) {
        let Some(question) = QuestionKey::from_text(&self.question) else { return };
        let texts = [Some(&self.question), Some(&self.answer), self.explanation.as_ref()];
        let tokens = texts.into_iter().flatten().map(|text| estimate_tokens(text));
        let id = match self.place {
            Place::Answer(_) => String::new(),
            Place::Correction(_, at) | Place::Loose(at) => at.to_string(),
        };
        with(ExampleOffer {
            question,
            source: self.source,
            turn: &self.owner(),
            id: &id,
            rating: self.rating,
            when: self.when,
            tokens: tokens.fold(0, u32::saturating_add),
            payload: self.place,
        });
    }

    /// By which it is found when it goes.
    fn owner(&self) -> String {
        match (self.place, &self.turn) {
            (Place::Loose(at), _) => loose_name(at),
            (Place::Answer(_) | Place::Correction(..), turn) => {
                turn.as_ref().map(ToString::to_string).unwrap_or_default()
            }
        }
    }
}

/// A correction by itself goes under a name that no turn can have.
pub(crate) fn loose_name(at: Position) -> String {
    format!("\n{at}")
}

/// What a turn offers: its answer, if that was taken well, and the latest of its corrections.
pub(crate) fn of_turn(exchange: &LabelledTurn) -> Vec<Offered> {
    answer(exchange).into_iter().chain(correction(exchange)).collect()
}

/// What a correction offers that belongs to no known turn. Without a question it is no example.
pub(crate) fn of_correction(given: &GivenCorrection) -> Option<Offered> {
    let question = given.query.clone().filter(|query| !query.trim().is_empty())?;
    Some(corrected(given, Place::Loose(given.position), given.turn.clone(), question))
}

fn answer(exchange: &LabelledTurn) -> Option<Offered> {
    let taken_well =
        exchange.status == VerdictStatus::Accepted && exchange.confidence.get() >= SURE;
    let has_words = !exchange.question.trim().is_empty() && !exchange.answer.trim().is_empty();
    if !taken_well || exchange.failed || !has_words || is_rejected_later(exchange) {
        return None;
    }
    let rating = exchange.rating.filter(|rating| rating.value.get() >= GOOD);
    Some(Offered {
        place: Place::Answer(exchange.number),
        source: if rating.is_some() { ExampleSource::Rating } else { ExampleSource::Accepted },
        turn: Some(exchange.turn.clone()),
        question: exchange.question.clone(),
        answer: exchange.answer.clone(),
        explanation: None,
        rating: rating.map(|rating| rating.value),
        when: rating.map_or(exchange.asked_at, |rating| rating.when),
    })
}

/// Somebody rated it well and said afterwards that it is wrong. A reviewer stands above that.
fn is_rejected_later(exchange: &LabelledTurn) -> bool {
    let rejected = exchange.verdict.filter(|said| said.status == VerdictStatus::Rejected);
    let later = |rating: GivenRating| rejected.is_some_and(|said| said.position > rating.position);
    exchange.review.is_none() && exchange.rating.is_some_and(later)
}

fn correction(exchange: &LabelledTurn) -> Option<Offered> {
    let latest = exchange.corrections.iter().max_by_key(|given| (given.when, given.position))?;
    let own = Some(&exchange.question).filter(|question| !question.trim().is_empty());
    let question = own.or(latest.query.as_ref()).filter(|text| !text.trim().is_empty())?.clone();
    let place = Place::Correction(exchange.number, latest.position);
    Some(corrected(latest, place, Some(exchange.turn.clone()), question))
}

fn corrected(
    given: &GivenCorrection,
    place: Place,
    turn: Option<TurnId>,
    question: String,
) -> Offered {
    Offered {
        place,
        source: ExampleSource::Correction,
        turn,
        question,
        answer: given.corrected.clone(),
        explanation: given.explanation.clone(),
        rating: None,
        when: given.when,
    }
}
