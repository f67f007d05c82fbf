//! Example candidates from answered turns and from corrections.

use learn::{ExampleOffer, ExampleSource, QuestionKey, estimate_tokens};
use model::{Position, Timestamp, TurnId, UnitInterval, VerdictStatus};
use store::{GivenCorrection, GivenRating, LabelledTurn, TurnNumber};

/// Minimum confidence of an acceptance. Merely moving on to another question scores lower.
const MIN_ACCEPT_CONFIDENCE: f64 = 0.7;

/// Location of an example's text in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExampleLocation {
    Answer(TurnNumber),
    /// A correction of a known turn.
    Correction(TurnNumber, Position),
    /// A correction without a turn.
    Loose(Position),
}

/// An answer that may serve as an example, with its text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExampleCandidate {
    pub(crate) location: ExampleLocation,
    pub(crate) source: ExampleSource,
    pub(crate) turn: Option<TurnId>,
    pub(crate) question: String,
    pub(crate) answer: String,
    pub(crate) explanation: Option<String>,
    pub(crate) rating: Option<UnitInterval>,
    pub(crate) when: Timestamp,
}

impl ExampleCandidate {
    /// Passes the candidate to the pool, unless its question is empty.
    pub(crate) fn offer_to(&self, with: impl FnOnce(ExampleOffer<'_, ExampleLocation>)) {
        let Some(question) = QuestionKey::from_text(&self.question) else { return };
        let texts = [Some(&self.question), Some(&self.answer), self.explanation.as_ref()];
        let tokens = texts.into_iter().flatten().map(|text| estimate_tokens(text));
        let id = match self.location {
            ExampleLocation::Answer(_) => String::new(),
            ExampleLocation::Correction(_, at) | ExampleLocation::Loose(at) => at.to_string(),
        };
        with(ExampleOffer {
            question,
            source: self.source,
            turn: &self.owner_key(),
            id: &id,
            rating: self.rating,
            when: self.when,
            tokens: tokens.fold(0, u32::saturating_add),
            payload: self.location,
        });
    }

    /// The key by which the pool removes it.
    fn owner_key(&self) -> String {
        match (self.location, &self.turn) {
            (ExampleLocation::Loose(at), _) => loose_key(at),
            (ExampleLocation::Answer(_) | ExampleLocation::Correction(..), turn) => {
                turn.as_ref().map(ToString::to_string).unwrap_or_default()
            }
        }
    }
}

/// A correction without a turn has a key that no turn id can equal.
pub(crate) fn loose_key(at: Position) -> String {
    format!("\n{at}")
}

/// A turn's candidates: its answer, if accepted, and its latest correction.
pub(crate) fn turn_candidates(exchange: &LabelledTurn) -> Vec<ExampleCandidate> {
    answer_candidate(exchange).into_iter().chain(turn_correction_candidate(exchange)).collect()
}

/// The candidate of a correction without a turn. `None` without a question.
pub(crate) fn correction_candidate(given: &GivenCorrection) -> Option<ExampleCandidate> {
    let question = given.query.clone().filter(|query| !query.trim().is_empty())?;
    Some(build_candidate(
        given,
        ExampleLocation::Loose(given.position),
        given.turn.clone(),
        question,
    ))
}

fn answer_candidate(exchange: &LabelledTurn) -> Option<ExampleCandidate> {
    let taken_well = exchange.status == VerdictStatus::Accepted
        && exchange.confidence.get() >= MIN_ACCEPT_CONFIDENCE;
    let has_words = !exchange.question.trim().is_empty() && !exchange.answer.trim().is_empty();
    if !taken_well || exchange.failed || !has_words || is_rejected_later(exchange) {
        return None;
    }
    let is_good = |rating: &GivenRating| {
        VerdictStatus::from_rating(rating.value.get()) == VerdictStatus::Accepted
    };
    let rating = exchange.rating.filter(is_good);
    Some(ExampleCandidate {
        location: ExampleLocation::Answer(exchange.number),
        source: if rating.is_some() { ExampleSource::Rating } else { ExampleSource::Accepted },
        turn: Some(exchange.turn.clone()),
        question: exchange.question.clone(),
        answer: exchange.answer.clone(),
        explanation: None,
        rating: rating.map(|rating| rating.value),
        when: rating.map_or(exchange.asked_at, |rating| rating.when),
    })
}

/// True when the user rejected the answer after rating it well. A review overrides both.
fn is_rejected_later(exchange: &LabelledTurn) -> bool {
    let rejected = exchange.verdict.filter(|said| said.status == VerdictStatus::Rejected);
    let later = |rating: GivenRating| rejected.is_some_and(|said| said.position > rating.position);
    exchange.review.is_none() && exchange.rating.is_some_and(later)
}

fn turn_correction_candidate(exchange: &LabelledTurn) -> Option<ExampleCandidate> {
    let latest = exchange.corrections.iter().max_by_key(|given| (given.when, given.position))?;
    let own = Some(&exchange.question).filter(|question| !question.trim().is_empty());
    let question = own.or(latest.query.as_ref()).filter(|text| !text.trim().is_empty())?.clone();
    let location = ExampleLocation::Correction(exchange.number, latest.position);
    Some(build_candidate(latest, location, Some(exchange.turn.clone()), question))
}

fn build_candidate(
    given: &GivenCorrection,
    location: ExampleLocation,
    turn: Option<TurnId>,
    question: String,
) -> ExampleCandidate {
    ExampleCandidate {
        location,
        source: ExampleSource::Correction,
        turn,
        question,
        answer: given.corrected.clone(),
        explanation: given.explanation.clone(),
        rating: None,
        when: given.when,
    }
}
