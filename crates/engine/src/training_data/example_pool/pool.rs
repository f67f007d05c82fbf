//! The examples of one project: which they are, and where their questions point.

use std::collections::HashMap;
use std::sync::Arc;

use learn::{
    ExamplePool, ExampleQuery, IndexChange, MAX_NEAR_QUESTIONS, NearQuestion, QuestionKey,
    SIMILARITY_FLOOR, SelectedExample, select_examples,
};
use model::{Position, TurnId, Vector};
use vector_index::{Filter, Index, Labels};

use crate::training_data::example_pool::offer::{Offered, Place, loose_name};

/// Kept without words: a few hundred bytes for each question.
#[derive(Default)]
pub(crate) struct Pool {
    examples: ExamplePool<Place>,
    /// By model: vectors of two never compare.
    indexes: HashMap<Arc<str>, Index>,
}

impl Pool {
    /// How many questions have an example.
    pub(crate) fn len(&self) -> usize {
        self.examples.len()
    }

    /// Takes an offer in.
    pub(crate) fn put(&mut self, offered: &Offered, vector: &Vector) {
        let Some(question) = QuestionKey::from_text(&offered.question) else { return };
        offered.put(|offer| {
            let effect = self.examples.insert(offer);
            self.follow(effect);
        });
        if vector.is_zero() {
            return;
        }
        let new = || Index::new(vector.values().len());
        let index = self.indexes.entry(Arc::clone(vector.model())).or_insert_with(new);
        let key = question.as_i64();
        if !index.has(key) && !index.insert(key, vector.values(), Labels::default()) {
            tracing::warn!("a vector of another length than its model's others");
        }
    }

    /// What belongs to a turn goes.
    pub(crate) fn forget(&mut self, turn: &TurnId) {
        let effect = self.examples.remove_turn(turn.as_str());
        self.follow(effect);
    }

    /// A correction no longer stands by itself.
    pub(crate) fn forget_loose(&mut self, at: Position) {
        let effect = self.examples.remove_turn(&loose_name(at));
        self.follow(effect);
    }

    fn follow(&mut self, effect: IndexChange) {
        for gone in effect.removed {
            for index in self.indexes.values_mut() {
                index.remove(gone.as_i64());
            }
        }
    }

    /// The few that are shown for a query.
    pub(crate) fn pick(
        &self,
        asked: &ExampleQuery<'_>,
        model: &str,
    ) -> Vec<SelectedExample<Place>> {
        let Some(index) = self.indexes.get(model) else {
            return select_examples(&self.examples, asked, Vec::new());
        };
        let found =
            index.search(asked.vector, MAX_NEAR_QUESTIONS, SIMILARITY_FLOOR, Filter::default());
        let near = found.neutral.into_iter().filter_map(|near| {
            let question = QuestionKey::from_i64(near.key);
            let vector = index.vector(near.key)?;
            Some(NearQuestion { question, similarity: near.similarity, vector })
        });
        select_examples(&self.examples, asked, near.collect())
    }
}
