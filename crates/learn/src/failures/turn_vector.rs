//! One direction for a turn: what was asked and what was said of the answer.
//!
//! A pattern is a kind of question that goes wrong or a kind of complaint about many questions. So
//! both count: the question with weight 1, what was said with 1.5·c/(c+2), where c is how many of
//! its words carry meaning. "No, that's wrong" has none and leaves the question alone; otherwise
//! all who complain in the same words would fall together, whatever they asked. "Completed orders
//! only" has two and weighs three quarters, so that ten who say it about ten questions on orders
//! fall together; a long explanation weighs more than the question, at most one and a half times.

use super::turn::FailedTurn;
use super::words::content_words;

const MOST: f32 = 1.5;
const HALF: f32 = 2.0;

/// The direction of a turn, of length 1; `None` when nothing in it has one.
pub(super) fn direction(turn: &FailedTurn<'_>, dims: usize) -> Option<Vec<f32>> {
    let fits =
        |vector: Option<&[f32]>| unit(vector.filter(|vector| vector.len() == dims)?.to_vec());
    let (asked, said) = (fits(turn.question_vector), fits(turn.said_vector));
    match (asked, said) {
        (Some(asked), Some(said)) => {
            let weight = weight_of(turn.said.unwrap_or_default());
            unit(asked.iter().zip(&said).map(|(a, s)| a + weight * s).collect())
        }
        (Some(only), None) | (None, Some(only)) => Some(only),
        (None, None) => None,
    }
}

fn weight_of(said: &str) -> f32 {
    let telling = content_words(said).len() as f32;
    MOST * telling / (telling + HALF)
}

/// Scaled to length 1; `None` for what has no direction.
pub(super) fn unit(mut values: Vec<f32>) -> Option<Vec<f32>> {
    let length = values.iter().map(|v| v * v).sum::<f32>().sqrt();
    if !length.is_finite() || length <= f32::EPSILON {
        return None;
    }
    values.iter_mut().for_each(|v| *v /= length);
    Some(values)
}
