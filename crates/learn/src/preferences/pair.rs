//! Preference pairs and rated answers before export.

use model::{ConversationId, TurnId};

use super::rows::Message;
use super::turn::PreferenceTurn;
use crate::reward::TurnReward;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PairSource {
    Correction,
    /// Two answers to the same question were rated up and down.
    Rating,
    /// The user rejected an answer, asked again and accepted the next one.
    Rephrase,
    /// The user regenerated the answer and kept the new one.
    Regeneration,
    /// Two variants of an experiment answered the same question, one judged good and one bad.
    Experiment,
}

impl PairSource {
    pub const ALL_SOURCES: [Self; 5] =
        [Self::Correction, Self::Rating, Self::Rephrase, Self::Regeneration, Self::Experiment];

    pub const fn as_word(self) -> &'static str {
        match self {
            Self::Correction => "correction",
            Self::Rating => "rating",
            Self::Rephrase => "rephrase",
            Self::Regeneration => "regeneration",
            Self::Experiment => "experiment",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL_SOURCES.into_iter().find(|source| source.as_word() == word)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerOrigin<'a> {
    pub(super) conversation: &'a ConversationId,
    pub(super) turn: &'a TurnId,
    pub(super) reward: TurnReward,
}

impl<'a> AnswerOrigin<'a> {
    pub(super) fn new(conversation: &'a ConversationId, turn: &'a PreferenceTurn) -> Self {
        Self { conversation, turn: &turn.id, reward: turn.reward }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PairEvidence<'a> {
    pub(super) source: PairSource,
    /// Name of the experiment; empty for other sources.
    pub(super) experiment: &'a str,
    /// Strength of the preference, from 0 to 1.
    pub(super) margin: f64,
    pub(super) confidence: f64,
}

impl PairEvidence<'_> {
    pub(super) fn new(source: PairSource, margin: f64, confidence: f64) -> Self {
        Self { source, experiment: "", margin, confidence }
    }
}

#[derive(Clone, Debug)]
pub(super) struct PreferencePair<'a> {
    pub(super) prompt: Vec<Message>,
    pub(super) chosen: &'a str,
    pub(super) rejected: &'a str,
    pub(super) evidence: PairEvidence<'a>,
    pub(super) better: AnswerOrigin<'a>,
    pub(super) worse: AnswerOrigin<'a>,
}

#[derive(Clone, Debug)]
pub(super) struct RatedAnswer<'a> {
    pub(super) prompt: Vec<Message>,
    pub(super) answer: &'a str,
    pub(super) good: bool,
    pub(super) rating: Option<f64>,
    pub(super) evidence: PairEvidence<'a>,
    pub(super) origin: AnswerOrigin<'a>,
}

impl<'a> PreferencePair<'a> {
    pub(super) fn into_rated_answers(self) -> [RatedAnswer<'a>; 2] {
        let (prompt, evidence) = (self.prompt, self.evidence);
        let answers = [(self.chosen, true, self.better), (self.rejected, false, self.worse)];
        answers.map(|(answer, good, origin)| RatedAnswer {
            prompt: prompt.clone(),
            answer,
            good,
            rating: None,
            evidence,
            origin,
        })
    }
}
