//! Groups questions that differ in wording but ask the same.

use std::collections::HashMap;
use std::sync::Arc;

use learn::{QuestionGroups, QuestionKey};
use model::Vector;
use vector_index::{Filter, Index, Labels};

/// Cosine from which questions count as the same. It leaves room for rounding, since each pair is
/// checked exactly later.
const MIN_SAME_COSINE: f32 = 0.94;
/// Every question is compared with every other.
const MAX_QUESTIONS: usize = 5000;
const MAX_NEIGHBOURS: usize = 8;

/// Vectors of the first questions with rated answers.
#[derive(Default)]
pub(super) struct SimilarQuestions {
    indexes: HashMap<Arc<str>, Index>,
    questions: Vec<(QuestionKey, Arc<str>)>,
}

impl SimilarQuestions {
    pub(super) fn add(&mut self, question: QuestionKey, vector: &Vector) {
        if self.questions.len() >= MAX_QUESTIONS || vector.is_zero() {
            return;
        }
        let new = || Index::new(vector.values().len());
        let index = self.indexes.entry(Arc::clone(vector.model())).or_insert_with(new);
        let key = question.as_i64();
        if !index.has(key) && index.insert(key, vector.values(), Labels::default()) {
            self.questions.push((question, Arc::clone(vector.model())));
        }
    }

    /// Merges the groups of similar questions.
    pub(super) fn merge_into<T: Copy + Ord>(self, groups: &mut QuestionGroups<T>) {
        for (question, model) in &self.questions {
            let Some(index) = self.indexes.get(model) else { continue };
            let Some(vector) = index.vector(question.as_i64()) else { continue };
            let found = index.search(&vector, MAX_NEIGHBOURS, MIN_SAME_COSINE, Filter::default());
            for near in found.neutral {
                groups.merge_questions(*question, QuestionKey::from_i64(near.key));
            }
        }
    }
}
