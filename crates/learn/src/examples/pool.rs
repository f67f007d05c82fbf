//! What may serve as an example, question by question, kept small.
//!
//! An offer is one answer with the reason why it is good. Of the offers for one question the best is
//! the example; when it goes, the next best steps in. Which one that is never depends on the
//! order in which they came.

use std::collections::BTreeMap;

use model::{Timestamp, UnitInterval};

use super::source::ExampleSource;
use crate::fingerprint::fingerprint_text;
use crate::question::QuestionKey;

/// An answer that may serve as an example.
#[derive(Clone, Debug)]
pub struct Offer<'a, T> {
    /// What it answers.
    pub question: QuestionKey,
    /// Why it is good.
    pub source: ExampleSource,
    /// The turn it belongs to; for a correction without one, the id of its event.
    pub turn: &'a str,
    /// What makes it one of its kind: the id of a correction's event, otherwise the turn's again.
    pub id: &'a str,
    /// How it was rated, if it was.
    pub rating: Option<UnitInterval>,
    /// When it was given.
    pub when: Timestamp,
    /// How long question, answer and explanation are together: `estimated_tokens`.
    pub tokens: u32,
    /// Where its words are, or the words themselves.
    pub words: T,
}

/// What a change does to the questions that have an example: the index of vectors must follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Its vector goes in.
    pub entered: Option<QuestionKey>,
    /// Their vectors go out.
    pub left: Vec<QuestionKey>,
}

/// The examples of one project.
#[derive(Clone, Debug)]
pub struct ExamplePool<T> {
    /// By question; for each question the best last.
    offers: BTreeMap<Rank, Kept<T>>,
    /// The same by turn: what is needed to find them there.
    turns: BTreeMap<Name, Rank>,
    questions: usize,
}

/// An offer that is the example for its question.
#[derive(Debug)]
pub struct Best<'a, T> {
    /// Why it is good.
    pub source: ExampleSource,
    /// How it was rated, if it was.
    pub rating: Option<UnitInterval>,
    /// When it was given.
    pub when: Timestamp,
    /// How long it is.
    pub tokens: u32,
    /// Where its words are, or the words themselves.
    pub words: &'a T,
    turn: u64,
}

/// Which offer is better: by the reason, then how well it was rated, then how new it is. The name
/// decides between two of one moment, so that the order of arrival never does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    question: QuestionKey,
    source: ExampleSource,
    /// The bits of a number that is not negative are in the order of the numbers.
    rating: u64,
    when: Timestamp,
    name: Name,
}

/// Turn, reason and id: no two offers share all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    turn: u64,
    source: ExampleSource,
    id: u64,
}

#[derive(Clone, Debug)]
struct Kept<T> {
    rating: Option<UnitInterval>,
    tokens: u32,
    words: T,
}

impl<T> Default for ExamplePool<T> {
    fn default() -> Self {
        Self { offers: BTreeMap::new(), turns: BTreeMap::new(), questions: 0 }
    }
}

impl<T> ExamplePool<T> {
    /// How many questions have an example.
    pub fn len(&self) -> usize {
        self.questions
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.questions == 0
    }

    /// The example for a question.
    pub fn best(&self, question: QuestionKey) -> Option<Best<'_, T>> {
        let (rank, kept) = self.offers.range(Rank::all_of(question)).next_back()?;
        Some(Best {
            source: rank.source,
            rating: kept.rating,
            when: rank.when,
            tokens: kept.tokens,
            words: &kept.words,
            turn: rank.name.turn,
        })
    }

    /// Takes an offer in. One with the same turn, source and id takes the place of the earlier.
    pub fn put(&mut self, offer: Offer<'_, T>) -> Effect {
        let Offer { question, source, rating, when, tokens, words, .. } = offer;
        let name =
            Name { turn: fingerprint_text(offer.turn), source, id: fingerprint_text(offer.id) };
        let mut effect = self.take_out(name.turn, |held| *held == name);
        // Of corrections the latest counts, whatever else was said about it.
        let counted = rating.filter(|_| source == ExampleSource::Rating);
        let rating_bits = counted.map_or(0.0, UnitInterval::get).to_bits();
        let rank = Rank { question, source, rating: rating_bits, when, name };
        if self.best(question).is_none() {
            self.questions += 1;
            if effect.left.contains(&question) {
                effect.left.clear();
            } else {
                effect.entered = Some(question);
            }
        }
        self.offers.insert(rank, Kept { rating, tokens, words });
        self.turns.insert(name, rank);
        effect
    }

    /// Drops the offers of a turn: it was erased, or is about to be put in as it is now.
    pub fn forget(&mut self, turn: &str) -> Effect {
        self.take_out(fingerprint_text(turn), |_| true)
    }

    /// Drops the offers of a turn that `goes` names.
    fn take_out(&mut self, turn: u64, goes: impl Fn(&Name) -> bool) -> Effect {
        let of_turn = self.turns.range(Name::all_of(turn)).filter(|(name, _)| goes(name));
        let gone: Vec<Rank> = of_turn.map(|(_, rank)| *rank).collect();
        let mut left = Vec::new();
        for rank in gone {
            self.turns.remove(&rank.name);
            self.offers.remove(&rank);
            if self.best(rank.question).is_none() {
                self.questions -= 1;
                left.push(rank.question);
            }
        }
        Effect { entered: None, left }
    }
}

impl<T> Best<'_, T> {
    /// Whether it belongs to this turn.
    pub fn is_of(&self, turn: &str) -> bool {
        self.turn == fingerprint_text(turn)
    }
}

impl Rank {
    fn all_of(question: QuestionKey) -> std::ops::RangeInclusive<Self> {
        let (low, high) = (ExampleSource::Accepted, ExampleSource::Correction);
        let lowest = Name { turn: 0, source: low, id: 0 };
        let highest = Name { turn: u64::MAX, source: high, id: u64::MAX };
        let (first, last) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
        Self { question, source: low, rating: 0, when: first, name: lowest }..=Self {
            question,
            source: high,
            rating: u64::MAX,
            when: last,
            name: highest,
        }
    }
}

impl Name {
    fn all_of(turn: u64) -> std::ops::RangeInclusive<Self> {
        let (low, high) = (ExampleSource::Accepted, ExampleSource::Correction);
        Self { turn, source: low, id: 0 }..=Self { turn, source: high, id: u64::MAX }
    }
}
