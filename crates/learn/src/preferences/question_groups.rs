//! Which turns ask the same question, for callers that go through conversations one by one: only
//! turns with a rating, or of an experiment and judged, are noted, in a few bytes each.

use std::collections::{BTreeMap, BTreeSet};

use super::turn::PreferenceTurn;
use crate::question::QuestionKey;

/// Collects turns by question. `T` says where to find a turn again.
#[derive(Clone, Debug)]
pub struct QuestionGroups<T> {
    noted: BTreeSet<(QuestionKey, T)>,
    /// Questions that are the same as another one, nearer to the one that stands for all.
    same_as: BTreeMap<QuestionKey, QuestionKey>,
}

impl<T> Default for QuestionGroups<T> {
    fn default() -> Self {
        Self { noted: BTreeSet::new(), same_as: BTreeMap::new() }
    }
}

impl<T: Copy + Ord> QuestionGroups<T> {
    /// Notes a turn if it can make a pair with others: the question by which it was noted.
    pub fn note(&mut self, turn: &PreferenceTurn, place: T) -> Option<QuestionKey> {
        let rated = turn.rating.is_some_and(|rating| rating.is_up() || rating.is_down());
        let tried = || !turn.arms.is_empty() && turn.worth().is_some();
        let worth = turn.has_answer() && (rated || tried());
        let question = QuestionKey::of(&turn.question).filter(|_| worth)?;
        self.noted.insert((question, place));
        Some(question)
    }

    /// Two questions lie so near that answers to one may answer the other. What really fits is
    /// checked pair by pair later, so a question too many does no harm.
    pub fn join(&mut self, one: QuestionKey, other: QuestionKey) {
        let (one, other) = (self.stands_for(one), self.stands_for(other));
        if one != other {
            // The smaller stands for both, whichever came first.
            self.same_as.insert(one.max(other), one.min(other));
        }
    }

    /// The turns of each question that was asked more than once, in an order that hangs on the
    /// questions alone.
    pub fn groups(self) -> impl Iterator<Item = Vec<T>> {
        let mut by_question: BTreeMap<QuestionKey, Vec<T>> = BTreeMap::new();
        for (question, place) in &self.noted {
            by_question.entry(self.stands_for(*question)).or_default().push(*place);
        }
        by_question.into_values().filter(|places| places.len() > 1).map(|mut places| {
            places.sort_unstable();
            places
        })
    }

    fn stands_for(&self, question: QuestionKey) -> QuestionKey {
        let mut here = question;
        while let Some(next) = self.same_as.get(&here) {
            here = *next;
        }
        here
    }
}
