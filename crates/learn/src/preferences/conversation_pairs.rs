//! Pairs within one conversation: corrections, regenerations and rephrased questions.

use model::{CorrectionType, VerdictStatus};

use super::pair::{AnswerOrigin, PairEvidence, PairSource, PreferencePair, RatedAnswer};
use super::rows::Message;
use super::turn::{PreferenceConversation, PreferenceTurn};
use crate::question::QuestionKey;

/// A regeneration is weaker evidence than a rating and has no strength of preference.
const REGENERATION_CONFIDENCE: f64 = 0.8;
const REGENERATION_MARGIN: f64 = 0.5;
/// Below this, the user may have moved on without accepting.
const MIN_ACCEPTANCE_CONFIDENCE: f64 = 0.7;

/// Builds a prompt from the latest `max_turns` exchanges and the question. Discarded answers are
/// left out, because the model did not see them.
pub(super) fn build_prompt(
    before: &[PreferenceTurn],
    question: &str,
    max_turns: usize,
) -> Vec<Message> {
    let mut exchanges: Vec<&PreferenceTurn> =
        before.iter().rev().filter(|t| t.has_answer() && !t.regenerated).take(max_turns).collect();
    exchanges.reverse();
    let mut messages = Vec::with_capacity(exchanges.len() * 2 + 1);
    for turn in exchanges {
        messages.push(Message::user(&turn.question));
        messages.push(Message::assistant(&turn.answer));
    }
    messages.push(Message::user(question));
    messages
}

/// Reads the preferences of one conversation. Prompts hold up to `max_turns` earlier exchanges.
#[derive(Clone, Copy)]
pub(super) struct ConversationReader<'a> {
    pub(super) conversation: &'a PreferenceConversation,
    pub(super) max_turns: usize,
}

/// An answer and the index of its turn.
#[derive(Clone, Copy)]
struct AnswerAt<'a> {
    turn_index: usize,
    text: &'a str,
}

impl<'a> ConversationReader<'a> {
    /// Extracts all pairs, most reliable sources first.
    pub(super) fn extract_pairs(self) -> Vec<PreferencePair<'a>> {
        let turns = || 0..self.conversation.turns.len();
        let corrected = turns().filter_map(|at| self.pair_correction(at));
        let regenerated = turns().filter_map(|at| self.pair_regeneration(at));
        corrected.chain(regenerated).chain(self.pair_rephrased()).collect()
    }

    pub(super) fn extract_rated_answers(self) -> Vec<RatedAnswer<'a>> {
        let turns = &self.conversation.turns;
        let rated = turns.iter().enumerate().filter_map(|(at, turn)| {
            let rating = turn.rating.filter(|_| turn.has_answer())?;
            let margin = (rating.value.get() - 0.5).abs() * 2.0;
            Some(RatedAnswer {
                prompt: build_prompt(&turns[..at], &turn.question, self.max_turns),
                answer: turn.answer.trim(),
                good: rating.is_up(),
                rating: Some(rating.value.get()),
                evidence: PairEvidence::new(PairSource::Rating, margin, rating.confidence.get()),
                origin: self.find_origin(at),
            })
        });
        rated.collect()
    }

    fn answer_at(self, turn_index: usize) -> AnswerAt<'a> {
        AnswerAt { turn_index, text: &self.conversation.turns[turn_index].answer }
    }

    fn find_origin(self, at: usize) -> AnswerOrigin<'a> {
        AnswerOrigin::new(&self.conversation.id, &self.conversation.turns[at])
    }

    fn build_pair(
        self,
        question: &str,
        better: AnswerAt<'a>,
        worse: AnswerAt<'a>,
        evidence: PairEvidence<'a>,
    ) -> PreferencePair<'a> {
        let before = &self.conversation.turns[..worse.turn_index];
        PreferencePair {
            prompt: build_prompt(before, question, self.max_turns),
            chosen: better.text.trim(),
            rejected: worse.text.trim(),
            evidence,
            better: self.find_origin(better.turn_index),
            worse: self.find_origin(worse.turn_index),
        }
    }

    /// Pairs the latest correction of a turn with the corrected text.
    fn pair_correction(self, at: usize) -> Option<PreferencePair<'a>> {
        let turn = &self.conversation.turns[at];
        let corrections = turn.corrections.iter().filter(|one| !one.corrected.trim().is_empty());
        let latest = corrections.max_by_key(|correction| correction.when)?;
        let original = latest.original.as_deref().unwrap_or(&turn.answer);
        let evidence = PairEvidence::new(PairSource::Correction, 1.0, latest.confidence.get());
        let answer = |text: &'a str| AnswerAt { turn_index: at, text };
        let (better, worse) = (answer(&latest.corrected), answer(original));
        Some(self.build_pair(&turn.question, better, worse, evidence))
    }

    /// Pairs a discarded answer with the one kept in its place, unless that was rejected too.
    fn pair_regeneration(self, at: usize) -> Option<PreferencePair<'a>> {
        let turns = &self.conversation.turns;
        let is_discarded = |t: &&PreferenceTurn| t.regenerated && t.has_answer() && !t.context_only;
        let discarded = Some(&turns[at]).filter(is_discarded)?;
        let question = QuestionKey::from_text(&discarded.question)?;
        let is_repeat =
            |turn: &PreferenceTurn| QuestionKey::from_text(&turn.question) == Some(question);
        let mut repeats = turns.iter().enumerate().skip(at + 1).take_while(|(_, t)| is_repeat(t));
        let (kept_at, kept) = repeats.find(|(_, turn)| !turn.regenerated)?;
        let rejected =
            kept.effective_verdict().is_some_and(|judged| judged.status == VerdictStatus::Rejected);
        let rated_down = kept.rating.is_some_and(|rating| rating.is_down());
        let (better, worse) = (self.answer_at(kept_at), self.answer_at(at));
        let source = PairSource::Regeneration;
        let evidence = PairEvidence::new(source, REGENERATION_MARGIN, REGENERATION_CONFIDENCE);
        (kept.has_answer() && !rejected && !rated_down)
            .then(|| self.build_pair(&discarded.question, better, worse, evidence))
    }

    fn pair_rephrased(self) -> impl Iterator<Item = PreferencePair<'a>> {
        let turns = &self.conversation.turns;
        find_chain_pairs(turns).into_iter().filter(|pair| !turns[pair.worse].failed).map(
            move |ChainPair { worse, better, prompt }| {
                let confidence = [worse, better].map(|at| verdict_confidence(&turns[at]));
                let margin = f64::midpoint(confidence[0], confidence[1]);
                let weaker = confidence[0].min(confidence[1]);
                let evidence = PairEvidence::new(PairSource::Rephrase, margin, weaker);
                let (better, worse) = (self.answer_at(better), self.answer_at(worse));
                self.build_pair(&prompt, better, worse, evidence)
            },
        )
    }
}

fn verdict_confidence(turn: &PreferenceTurn) -> f64 {
    turn.effective_verdict().map_or(0.0, |judged| judged.confidence.get())
}

/// Indexes of a rejected turn and the accepted one that ended its chain, with their prompt.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChainPair {
    pub(super) worse: usize,
    pub(super) better: usize,
    pub(super) prompt: String,
}

/// Pairs each rejected answer of a chain with the accepted one. An explicit complaint is added to
/// the prompt, because without it nothing favours the better answer.
pub(super) fn find_chain_pairs(turns: &[PreferenceTurn]) -> Vec<ChainPair> {
    let mut pairs = Vec::new();
    let mut chain = 0..0;
    for (at, turn) in turns.iter().enumerate() {
        match turn.effective_verdict().map(|judged| judged.status) {
            Some(VerdictStatus::Rejected)
                if correction_type(turn) != Some(CorrectionType::Abandonment) =>
            {
                chain = if chain.is_empty() { at..at + 1 } else { chain.start..at + 1 };
            }
            Some(VerdictStatus::Accepted)
                if !turn.failed && verdict_confidence(turn) >= MIN_ACCEPTANCE_CONFIDENCE =>
            {
                pairs.extend(chain.filter_map(|worse| build_chain_pair(turns, worse, at)));
                chain = 0..0;
            }
            Some(_) | None => chain = 0..0,
        }
    }
    pairs
}

fn correction_type(turn: &PreferenceTurn) -> Option<CorrectionType> {
    turn.effective_verdict()?.correction_type
}

fn build_chain_pair(turns: &[PreferenceTurn], worse: usize, better: usize) -> Option<ChainPair> {
    let (chosen, rejected) = (turns[better].answer.trim(), turns[worse].answer.trim());
    if chosen.is_empty() || rejected.is_empty() || chosen == rejected {
        return None;
    }
    let mut prompt = turns[worse].question.clone();
    for at in worse..better {
        if correction_type(&turns[at]) != Some(CorrectionType::Rephrased) {
            prompt.push_str("\n\n");
            prompt.push_str(&turns[at + 1].question);
        }
    }
    Some(ChainPair { worse, better, prompt })
}
