//! Groups turns by question, for callers that read conversations one by one.
//!
//! Only rated turns and judged turns of experiments are kept, in a few bytes each.

use std::collections::{BTreeMap, BTreeSet};

use super::turn::PreferenceTurn;
use crate::question::QuestionKey;

/// Collects turns by question. `T` is the caller's reference to a turn.
#[derive(Clone, Debug)]
pub struct QuestionGroups<T> {
    turns: BTreeSet<(QuestionKey, T)>,
    /// Union-find parents of merged questions.
    same_as: BTreeMap<QuestionKey, QuestionKey>,
}

impl<T> Default for QuestionGroups<T> {
    fn default() -> Self {
        Self { turns: BTreeSet::new(), same_as: BTreeMap::new() }
    }
}

impl<T: Copy + Ord> QuestionGroups<T> {
    /// Adds a turn that can be paired, and returns its question.
    pub fn add_turn(&mut self, turn: &PreferenceTurn, place: T) -> Option<QuestionKey> {
        let rated = turn.rating.is_some_and(|rating| rating.is_up() || rating.is_down());
        let judged = || !turn.arms.is_empty() && turn.effective_rating().is_some();
        let pairable = turn.has_answer() && (rated || judged());
        let question = QuestionKey::from_text(&turn.question).filter(|_| pairable)?;
        self.turns.insert((question, place));
        Some(question)
    }

    /// Merges two similar questions. Each pair is checked later, so a false merge is harmless.
    pub fn merge_questions(&mut self, one: QuestionKey, other: QuestionKey) {
        let (one, other) = (self.find_root(one), self.find_root(other));
        if one != other {
            // The smaller key is the root, whatever the order of calls.
            self.same_as.insert(one.max(other), one.min(other));
        }
    }

    /// Returns the turns of each question with more than one turn, ordered by question.
    pub fn into_groups(self) -> impl Iterator<Item = Vec<T>> {
        let mut by_question: BTreeMap<QuestionKey, Vec<T>> = BTreeMap::new();
        for (question, place) in &self.turns {
            by_question.entry(self.find_root(*question)).or_default().push(*place);
        }
        by_question.into_values().filter(|places| places.len() > 1).map(|mut places| {
            places.sort_unstable();
            places
        })
    }

    fn find_root(&self, question: QuestionKey) -> QuestionKey {
        let mut here = question;
        while let Some(next) = self.same_as.get(&here) {
            here = *next;
        }
        here
    }
}
