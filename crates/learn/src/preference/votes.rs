//! What people think on the whole of an answer, and of which of two is better.
//!
//! Counted before rows are made, so that the first who comes does not decide. In whole millionths, since
//! sums of those are the same in any order.

use std::collections::HashMap;

use super::pair::Pair;
use super::shape::Message;
use crate::fingerprint::Fingerprint;
use crate::question::normalised;

/// Sums by question and answer: a few bytes each.
#[derive(Clone, Debug, Default)]
pub(super) struct Votes {
    /// The sum of ratings, and how many.
    ratings: HashMap<u64, (i64, u32)>,
    /// How much one of two answers is better by all who preferred one; negative for the other.
    pairs: HashMap<u64, i64>,
}

impl Votes {
    /// Another rating of an answer.
    pub(super) fn rate(&mut self, prompt: &[Message], answer: &str, value: f64) {
        let votes = self.ratings.entry(key(prompt, &[answer])).or_default();
        *votes = (votes.0 + millionths(value), votes.1 + 1);
    }

    /// The mean of all ratings of an answer.
    pub(super) fn mean(&self, prompt: &[Message], answer: &str) -> Option<f64> {
        let (sum, count) = self.ratings.get(&key(prompt, &[answer]))?;
        Some(*sum as f64 / f64::from(*count) / 1e6)
    }

    /// Somebody prefers one answer to another.
    pub(super) fn prefer(&mut self, pair: &Pair<'_>) {
        let (key, sign) = sides(pair);
        *self.pairs.entry(key).or_default() += sign * millionths(pair.margin);
    }

    /// Whether as much speaks for the other answer as for this one, or more.
    pub(super) fn contradict(&self, pair: &Pair<'_>) -> bool {
        let (key, sign) = sides(pair);
        self.pairs.get(&key).is_some_and(|sum| sum * sign <= 0)
    }
}

fn millionths(number: f64) -> i64 {
    (number * 1e6).round() as i64
}

/// The two answers in an order that does not depend on which is better, and which it is.
fn sides(pair: &Pair<'_>) -> (u64, i64) {
    let (first, second) = (pair.chosen.min(pair.rejected), pair.chosen.max(pair.rejected));
    (key(&pair.prompt, &[first, second]), if first == pair.chosen { 1 } else { -1 })
}

fn key(prompt: &[Message], answers: &[&str]) -> u64 {
    let said = prompt.iter().fold(Fingerprint::new(), |hash, message| {
        hash.add_part(message.role.as_word().as_bytes())
            .add_part(normalised(&message.content).as_bytes())
    });
    answers
        .iter()
        .fold(said, |hash, answer| hash.add_part(b"answer").add_part(answer.as_bytes()))
        .finish()
}
