//! The examples of one project and the index of their question vectors.

use std::collections::HashMap;
use std::sync::Arc;

use learn::{
    ExamplePool, ExampleQuery, IndexChange, MAX_NEAR_QUESTIONS, NearQuestion, QuestionKey,
    SIMILARITY_FLOOR, SelectedExample, select_examples,
};
use model::{Position, TurnId, Vector};
use vector_index::{Filter, Index, Labels};

use crate::training_data::example_pool::candidate::{ExampleCandidate, ExampleLocation, loose_key};

/// Holds no text: a few hundred bytes per question.
#[derive(Default)]
pub(crate) struct IndexedPool {
    examples: ExamplePool<ExampleLocation>,
    /// One index per embedding model, since vectors of two models do not compare.
    indexes: HashMap<Arc<str>, Index>,
}

impl IndexedPool {
    /// Number of questions with an example.
    pub(crate) fn len(&self) -> usize {
        self.examples.len()
    }

    pub(crate) fn insert(&mut self, candidate: &ExampleCandidate, vector: &Vector) {
        let Some(question) = QuestionKey::from_text(&candidate.question) else { return };
        candidate.offer_to(|offer| {
            let effect = self.examples.insert(offer);
            self.remove_vectors(effect);
        });
        if vector.is_zero() {
            return;
        }
        let new = || Index::new(vector.values().len());
        let index = self.indexes.entry(Arc::clone(vector.model())).or_insert_with(new);
        let key = question.as_i64();
        if !index.has(key) && !index.insert(key, vector.values(), Labels::default()) {
            tracing::warn!("vector skipped: its length differs from its model's other vectors");
        }
    }

    /// Removes everything that belongs to a turn.
    pub(crate) fn remove_turn(&mut self, turn: &TurnId) {
        let effect = self.examples.remove_turn(turn.as_str());
        self.remove_vectors(effect);
    }

    /// Removes a correction without a turn.
    pub(crate) fn remove_loose(&mut self, at: Position) {
        let effect = self.examples.remove_turn(&loose_key(at));
        self.remove_vectors(effect);
    }

    fn remove_vectors(&mut self, effect: IndexChange) {
        for gone in effect.removed {
            for index in self.indexes.values_mut() {
                index.remove(gone.as_i64());
            }
        }
    }

    /// Selects examples for a query.
    pub(crate) fn select(
        &self,
        asked: &ExampleQuery<'_>,
        model: &str,
    ) -> Vec<SelectedExample<ExampleLocation>> {
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
