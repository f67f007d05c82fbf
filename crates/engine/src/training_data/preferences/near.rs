//! Questions that are not the same word for word, and ask the same.

use std::collections::HashMap;
use std::sync::Arc;

use learn::{QuestionGroups, QuestionKey};
use model::Vector;
use vector_index::{Filter, Index, Labels};

/// From this cosine on, questions are taken for the same; with room for rounding, since what really
/// fits is checked pair by pair.
const SAME: f32 = 0.94;
/// Questions that are compared with each other: every one with all.
const MOST: usize = 5000;
/// And so many of the nearest are looked at.
const NEAREST: usize = 8;

/// Where the questions of rated answers point: the first that come.
#[derive(Default)]
pub(super) struct NearQuestions {
    indexes: HashMap<Arc<str>, Index>,
    questions: Vec<(QuestionKey, Arc<str>)>,
}

impl NearQuestions {
    /// Another question.
    pub(super) fn add(&mut self, question: QuestionKey, vector: &Vector) {
        if self.questions.len() >= MOST || vector.is_zero() {
            return;
        }
        let new = || Index::new(vector.values().len());
        let index = self.indexes.entry(Arc::clone(vector.model())).or_insert_with(new);
        let key = question.as_i64();
        if !index.has(key) && index.insert(key, vector.values(), Labels::default()) {
            self.questions.push((question, Arc::clone(vector.model())));
        }
    }

    /// Joins the questions that lie near each other.
    pub(super) fn join_in<T: Copy + Ord>(self, groups: &mut QuestionGroups<T>) {
        for (question, model) in &self.questions {
            let Some(index) = self.indexes.get(model) else { continue };
            let Some(vector) = index.vector(question.as_i64()) else { continue };
            let found = index.search(&vector, NEAREST, SAME, Filter::default());
            for near in found.neutral {
                groups.merge_questions(*question, QuestionKey::from_i64(near.key));
            }
        }
    }
}
