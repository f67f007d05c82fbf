//! One vector per turn, from its question and the remark about its answer.
//!
//! A pattern is either a kind of question or a kind of complaint, so both count. The question has
//! weight 1 and the remark 1.5·c/(c+2), where c is its number of content words.
//!
//! - "No, that's wrong" has no content words and weight 0. Otherwise such remarks would form one
//!   cluster.
//! - "Completed orders only" has two and weight 0.75: ten such remarks on different questions form
//!   a cluster.
//! - A long explanation weighs at most 1.5 times the question.

use super::turn::FailedTurn;
use super::words::extract_content_words;

const MAX_REMARK_WEIGHT: f32 = 1.5;
const HALF_WEIGHT_WORDS: f32 = 2.0;

/// Returns a unit vector, or `None` when neither text has a usable vector.
pub(super) fn compute_turn_vector(turn: &FailedTurn<'_>, dims: usize) -> Option<Vec<f32>> {
    let fits = |vector: Option<&[f32]>| {
        to_unit_length(vector.filter(|vector| vector.len() == dims)?.to_vec())
    };
    let (question, remark) = (fits(turn.question_vector), fits(turn.remark_vector));
    match (question, remark) {
        (Some(question), Some(remark)) => {
            let weight = weigh_remark(turn.remark.unwrap_or_default());
            to_unit_length(question.iter().zip(&remark).map(|(a, s)| a + weight * s).collect())
        }
        (Some(only), None) | (None, Some(only)) => Some(only),
        (None, None) => None,
    }
}

fn weigh_remark(remark: &str) -> f32 {
    let words = extract_content_words(remark).len() as f32;
    MAX_REMARK_WEIGHT * words / (words + HALF_WEIGHT_WORDS)
}

/// Scales to length 1; `None` for a zero or non-finite vector.
pub(super) fn to_unit_length(mut values: Vec<f32>) -> Option<Vec<f32>> {
    let length = values.iter().map(|v| v * v).sum::<f32>().sqrt();
    if !length.is_finite() || length <= f32::EPSILON {
        return None;
    }
    values.iter_mut().for_each(|v| *v /= length);
    Some(values)
}

/// Adds a vector to a sum, which may be empty at first.
pub(super) fn add_vector(sum: &mut Vec<f32>, vector: &[f32]) {
    sum.resize(vector.len(), 0.0);
    sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
}
