//! Adds the scores of the reader to those of the instant models.
//!
//! `blend.txt` is fitted by `uptake-fit blend` on rows that neither had seen: a line per language
//! and score with a weight for the reader's log-odds, one for the instant log-odds and an offset,
//! and a line with the bounds beyond which the instant models are right in 98 of 100 cases.

use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

use model::{UnitInterval, Verdict};

use crate::language::{MODEL_LANGUAGES, detect_language};
use crate::utterance::Utterance;

static BLEND: &str = include_str!("../../model/blend.txt");

/// The reader's judgement of a message, as log-odds.
#[derive(Clone, Debug, PartialEq)]
pub struct ReaderScores {
    pub rejected: f64,
    pub accepted: f64,
    /// Bytes of the message that speak most for a rejection.
    pub evidence: Option<Range<usize>>,
}

/// The language that the models assume for a message.
pub fn message_language(message: &Utterance) -> &'static str {
    MODEL_LANGUAGES[detect_language(&message.text)]
}

/// True when the instant models are sure, so that the reader would not change the verdict.
pub fn is_settled(verdict: &Verdict) -> bool {
    let (low, high) = SETTLED.0;
    let p = verdict.dissatisfied.map(UnitInterval::get);
    p.is_some_and(|p| p <= low || p >= high)
}

/// Rejection probabilities between which even the reader decides little better than by chance.
const UNCERTAIN: RangeInclusive<f64> = 0.2..=0.8;

/// True when neither the instant models nor the reader know whether the answer was rejected.
pub fn is_uncertain(verdict: &Verdict) -> bool {
    verdict.dissatisfied.is_some_and(|p| UNCERTAIN.contains(&p.get()))
}

/// Rejection and acceptance probability from those of the instant models and the reader's scores.
pub(super) fn blend(
    message: &Utterance,
    (rejected, accepted): (f64, f64),
    scores: &ReaderScores,
) -> (f64, f64) {
    let language = detect_language(&message.text);
    let add = |target: usize, instant: f64, reader: f64| {
        let [reader_weight, instant_weight, offset] = WEIGHTS[target][language];
        let sum = reader_weight * reader + instant_weight * log_odds(instant) + offset;
        1.0 / (1.0 + (-sum).exp())
    };
    (add(0, rejected, scores.rejected), add(1, accepted, scores.accepted))
}

fn log_odds(p: f64) -> f64 {
    let p = p.clamp(1e-4, 1.0 - 1e-4);
    (p / (1.0 - p)).ln()
}

const TARGETS: [&str; 2] = ["rejected", "accepted"];
/// The line for languages without one of their own.
const ANY_LANGUAGE: &str = "all";

type LanguageWeights = [[f64; 3]; MODEL_LANGUAGES.len()];

static WEIGHTS: LazyLock<[LanguageWeights; 2]> = LazyLock::new(|| {
    TARGETS.map(|target| {
        let any = find_numbers(ANY_LANGUAGE, target).unwrap_or([1.0, 0.0, 0.0]);
        MODEL_LANGUAGES.map(|language| find_numbers(language, target).unwrap_or(any))
    })
});

struct Bounds((f64, f64));

static SETTLED: LazyLock<Bounds> = LazyLock::new(|| {
    let [low, high] = find_numbers(ANY_LANGUAGE, "settled").unwrap_or([0.0, 1.0]);
    Bounds((low, high))
});

/// The numbers of the line for a language and a name.
fn find_numbers<const N: usize>(language: &str, name: &str) -> Option<[f64; N]> {
    let line = BLEND.lines().find_map(|line| {
        let mut words = line.split(' ');
        (words.next() == Some(language) && words.next() == Some(name)).then_some(words)
    })?;
    let numbers: Vec<f64> = line.filter_map(|number| number.parse().ok()).collect();
    numbers.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_blend_is_read() {
        assert!(find_numbers::<3>(ANY_LANGUAGE, "rejected").is_some());
        assert!(find_numbers::<3>(ANY_LANGUAGE, "accepted").is_some());
        let (low, high) = SETTLED.0;
        assert!(0.0 <= low && low < high && high <= 1.0, "{low} {high}");
        for line in BLEND.lines() {
            let mut words = line.split(' ');
            let (language, name) = (words.next().unwrap(), words.next().unwrap());
            assert!(language == ANY_LANGUAGE || MODEL_LANGUAGES.contains(&language), "{line}");
            let read = match name {
                "settled" => find_numbers::<2>(language, name).is_some(),
                _ => TARGETS.contains(&name) && find_numbers::<3>(language, name).is_some(),
            };
            assert!(read, "{line}");
        }
    }

    #[test]
    fn reader_moves_the_probability_towards_its_score() {
        let message = Utterance::read("it is 14, not 12");
        let scores = |rejected| ReaderScores { rejected, accepted: -rejected, evidence: None };
        let (high, _) = blend(&message, (0.4, 0.4), &scores(4.0));
        let (low, _) = blend(&message, (0.4, 0.4), &scores(-4.0));
        assert!(high > low, "{high} {low}");
    }
}
