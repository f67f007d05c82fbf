//! The pool of few-shot examples of one project.
//!
//! An offer is an answer with the reason it is good. The best offer of a question is its example;
//! when it is removed, the next best replaces it. The result does not depend on insertion order.

use std::collections::BTreeMap;

use model::{Timestamp, UnitInterval};

use crate::question::QuestionKey;
use crate::question::fingerprint_text;

/// The reason an answer may serve as an example, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExampleSource {
    /// The next message accepted the answer.
    Accepted,
    Rating,
    /// A person wrote the correct answer.
    Correction,
}

impl ExampleSource {
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rating => "rating",
            Self::Correction => "correction",
        }
    }
}

#[derive(Clone, Debug)]
pub struct ExampleOffer<'a, T> {
    pub question: QuestionKey,
    pub source: ExampleSource,
    /// Turn id; for a correction without a turn, the id of its event.
    pub turn: &'a str,
    /// Unique id: the event id for a correction, otherwise the turn id.
    pub id: &'a str,
    pub rating: Option<UnitInterval>,
    pub when: Timestamp,
    /// Estimated tokens of question, answer and explanation together, by `estimate_tokens`.
    pub tokens: u32,
    /// The texts, or a reference to them.
    pub payload: T,
}

/// Questions that gained or lost their example. The caller must update the vector index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexChange {
    pub added: Option<QuestionKey>,
    pub removed: Vec<QuestionKey>,
}

#[derive(Clone, Debug)]
pub struct ExamplePool<T> {
    /// Ordered by question, and within a question by merit: the best is last.
    offers: BTreeMap<OfferRank, StoredOffer<T>>,
    /// The same offers by turn, for removal.
    turns: BTreeMap<OfferKey, OfferRank>,
    questions: usize,
}

/// Sort key: source, rating, then time. The offer key breaks ties, so insertion order is
/// irrelevant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OfferRank {
    pub(super) question: QuestionKey,
    pub(super) source: ExampleSource,
    /// Bits of a non-negative float, which sort like the float.
    rating: u64,
    pub(super) when: Timestamp,
    pub(super) key: OfferKey,
}

/// Hashed turn, source and hashed id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OfferKey {
    pub(super) turn: u64,
    source: ExampleSource,
    id: u64,
}

#[derive(Clone, Debug)]
pub(super) struct StoredOffer<T> {
    pub(super) rating: Option<UnitInterval>,
    pub(super) tokens: u32,
    pub(super) payload: T,
}

impl<T> Default for ExamplePool<T> {
    fn default() -> Self {
        Self { offers: BTreeMap::new(), turns: BTreeMap::new(), questions: 0 }
    }
}

impl<T> ExamplePool<T> {
    /// Number of questions with an example.
    pub fn len(&self) -> usize {
        self.questions
    }

    pub fn is_empty(&self) -> bool {
        self.questions == 0
    }

    pub(super) fn find_best(&self, question: QuestionKey) -> Option<(&OfferRank, &StoredOffer<T>)> {
        let best = self.offers.range(..=OfferRank::highest(question)).next_back();
        best.filter(|(rank, _)| rank.question == question)
    }

    /// Adds an offer. It replaces an earlier offer with the same turn, source and id.
    pub fn insert(&mut self, offer: ExampleOffer<'_, T>) -> IndexChange {
        let ExampleOffer { question, source, rating, when, tokens, payload, .. } = offer;
        let key =
            OfferKey { turn: fingerprint_text(offer.turn), source, id: fingerprint_text(offer.id) };
        let mut change = self.remove_offers(key.turn, |existing| *existing == key);
        // Ratings do not rank corrections: the latest correction wins.
        let counted = rating.filter(|_| source == ExampleSource::Rating);
        let rating_bits = counted.map_or(0.0, UnitInterval::get).to_bits();
        let rank = OfferRank { question, source, rating: rating_bits, when, key };
        if self.find_best(question).is_none() {
            self.questions += 1;
            if change.removed.contains(&question) {
                change.removed.clear();
            } else {
                change.added = Some(question);
            }
        }
        self.offers.insert(rank, StoredOffer { rating, tokens, payload });
        self.turns.insert(key, rank);
        change
    }

    /// Removes all offers of a turn, for an erasure or before a re-insert.
    pub fn remove_turn(&mut self, turn: &str) -> IndexChange {
        self.remove_offers(fingerprint_text(turn), |_| true)
    }

    fn remove_offers(&mut self, turn: u64, matches: impl Fn(&OfferKey) -> bool) -> IndexChange {
        let first = OfferKey { turn, source: ExampleSource::Accepted, id: 0 };
        let offers = self.turns.range(first..).take_while(|(key, _)| key.turn == turn);
        let ranks: Vec<OfferRank> =
            offers.filter(|(key, _)| matches(key)).map(|(_, rank)| *rank).collect();
        let mut removed = Vec::new();
        for rank in ranks {
            self.turns.remove(&rank.key);
            self.offers.remove(&rank);
            if self.find_best(rank.question).is_none() {
                self.questions -= 1;
                removed.push(rank.question);
            }
        }
        IndexChange { added: None, removed }
    }
}

impl OfferRank {
    /// Upper bound of the offers of a question.
    fn highest(question: QuestionKey) -> Self {
        let source = ExampleSource::Correction;
        let key = OfferKey { turn: u64::MAX, source, id: u64::MAX };
        Self { question, source, rating: u64::MAX, when: Timestamp::from_micros(i64::MAX), key }
    }
}
