//! Votes on answers and pairs, counted before any row is exported.
//!
//! Counting first makes the result independent of order. Sums are in whole millionths for the same
//! reason.

use std::collections::HashMap;

use super::pair::PreferencePair;
use super::rows::Message;
use crate::fingerprint::Fingerprint;
use crate::question::normalise_question;

#[derive(Clone, Debug, Default)]
pub(super) struct Votes {
    ratings: HashMap<u64, (i64, u32)>,
    /// Total margin for the alphabetically first answer; negative when the second is preferred.
    pairs: HashMap<u64, i64>,
}

impl Votes {
    pub(super) fn add_rating(&mut self, prompt: &[Message], answer: &str, value: f64) {
        let votes = self.ratings.entry(hash_answers(prompt, &[answer])).or_default();
        *votes = (votes.0 + to_millionths(value), votes.1 + 1);
    }

    pub(super) fn mean_rating(&self, prompt: &[Message], answer: &str) -> Option<f64> {
        let (sum, count) = self.ratings.get(&hash_answers(prompt, &[answer]))?;
        Some(*sum as f64 / f64::from(*count) / 1e6)
    }

    pub(super) fn add_preference(&mut self, pair: &PreferencePair<'_>) {
        let (key, sign) = order_answers(pair);
        *self.pairs.entry(key).or_default() += sign * to_millionths(pair.evidence.margin);
    }

    /// True when the votes for the other answer are at least as strong.
    pub(super) fn is_contradicted(&self, pair: &PreferencePair<'_>) -> bool {
        let (key, sign) = order_answers(pair);
        self.pairs.get(&key).is_some_and(|sum| sum * sign <= 0)
    }
}

fn to_millionths(number: f64) -> i64 {
    (number * 1e6).round() as i64
}

/// Hash of the pair independent of its direction, and the direction as a sign.
fn order_answers(pair: &PreferencePair<'_>) -> (u64, i64) {
    let (first, second) = (pair.chosen.min(pair.rejected), pair.chosen.max(pair.rejected));
    (hash_answers(&pair.prompt, &[first, second]), if first == pair.chosen { 1 } else { -1 })
}

fn hash_answers(prompt: &[Message], answers: &[&str]) -> u64 {
    let prompt_hash = prompt.iter().fold(Fingerprint::new(), |hash, message| {
        hash.add_part(message.role.as_word().as_bytes())
            .add_part(normalise_question(&message.content).as_bytes())
    });
    answers
        .iter()
        .fold(prompt_hash, |hash, answer| hash.add_part(b"answer").add_part(answer.as_bytes()))
        .finish()
}
