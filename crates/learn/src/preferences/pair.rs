//! One answer is better than another.

use model::{ConversationId, TurnId};

use super::rows::Message;

/// How we know that one answer is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PairSource {
    /// Somebody wrote what the answer should have been.
    Correction,
    /// The same question was answered twice, and rated up here and down there.
    Rating,
    /// The user rejected an answer, asked again, and took the next one.
    Rephrase,
    /// The user had it answered again, and kept the new answer.
    Regeneration,
    /// Two variants of an experiment answered the same question, and one was found good, the other bad.
    Experiment,
}

impl PairSource {
    /// Every source.
    pub const ALL: [Self; 5] =
        [Self::Correction, Self::Rating, Self::Rephrase, Self::Regeneration, Self::Experiment];

    /// The word in a file.
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Correction => "correction",
            Self::Rating => "rating",
            Self::Rephrase => "rephrase",
            Self::Regeneration => "regeneration",
            Self::Experiment => "experiment",
        }
    }

    /// The source that a word names.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_word() == word)
    }
}

/// Where an answer was given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'a> {
    pub(super) conversation: &'a ConversationId,
    pub(super) turn: &'a TurnId,
}

/// A pair before it is checked and given a shape.
#[derive(Clone, Debug)]
pub(super) struct Pair<'a> {
    pub(super) prompt: Vec<Message>,
    pub(super) chosen: &'a str,
    pub(super) rejected: &'a str,
    pub(super) source: PairSource,
    /// What people call the experiment that tried both; empty for other sources.
    pub(super) experiment: &'a str,
    /// How much better, from 0 to 1.
    pub(super) margin: f64,
    pub(super) confidence: f64,
    /// Where the better and the worse were given.
    pub(super) better: Origin<'a>,
    pub(super) worse: Origin<'a>,
}

/// One answer by itself, known to be good or bad.
#[derive(Clone, Debug)]
pub(super) struct Single<'a> {
    pub(super) prompt: Vec<Message>,
    pub(super) answer: &'a str,
    pub(super) good: bool,
    /// From 0 to 1, if it was rated.
    pub(super) rating: Option<f64>,
    pub(super) source: PairSource,
    pub(super) experiment: &'a str,
    pub(super) margin: f64,
    pub(super) confidence: f64,
    pub(super) given: Origin<'a>,
}

impl<'a> Pair<'a> {
    /// Its two answers, each by itself.
    pub(super) fn singles(self) -> [Single<'a>; 2] {
        let Self { source, experiment, margin, confidence, .. } = self;
        let (given, prompt) = (self.better, self.prompt.clone());
        let better = Single {
            prompt,
            answer: self.chosen,
            good: true,
            rating: None,
            source,
            experiment,
            margin,
            confidence,
            given,
        };
        let (given, prompt) = (self.worse, self.prompt);
        let worse = Single {
            prompt,
            answer: self.rejected,
            good: false,
            rating: None,
            source,
            experiment,
            margin,
            confidence,
            given,
        };
        [better, worse]
    }
}
